// SPDX-License-Identifier: Apache-2.0
// Trace: the sum of a diagonal.
#include "supporting/reduce/fold.h"

namespace openaclnn::supporting {

void CheckTrace(const TraceParams& p, Checker& checker) {
  checker.Rank(p.self, 2);
  CheckShape(p.out, {}, checker);
  CheckHolds(p.self, p.out, checker);
}

namespace {

template <class T>
Plan MakeTrace(const TraceParams& p) {
  const int64_t count = std::min(p.self.dim(0), p.self.dim(1)), bytes = BytesOf(p.self);
  const int64_t step = (p.self.tensor().strides[0] + p.self.tensor().strides[1]) * bytes;
  const auto load = LoaderOf<T>(PartOf(p.self.dtype()));
  const auto store = StorerOf<T>(PartOf(p.out.dtype()));
  const Place self = p.self.place, out = p.out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<T> diagonal(static_cast<size_t>(count));
            load(self(buffers), step, count, diagonal.data());
            TreeSum<T> sum;
            for (const T term : diagonal) sum.Add(term);
            const T total = sum.Total();
            store(&total, 1, out(buffers), 0);
            return {};
          }};
}

}  // namespace

Plan PlanTrace(const TraceParams& p, const Product&) {
  return Integral(p) ? MakeTrace<int64_t>(p) : ForParts(p, p.self, p.out, MakeTrace<double>(p));
}

}  // namespace openaclnn::supporting
