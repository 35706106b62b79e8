// SPDX-License-Identifier: Apache-2.0
// SampleTrace: the sum of a diagonal, by a check and a plan that no engine serves.
#include "supporting/reduce/fold.h"

namespace openaclnn::supporting {

void CheckSampleTrace(const SampleTraceParams& p, Checker& checker) {
  checker.Rank(p.self, 2);
  CheckShape(p.out, {}, checker);
  checker.That(Integral(p) || Contains(kRealTypes, p.out.dtype()),
               [&] { return DtypeIs(p.out, "a float type, which the result is of"); });
}

namespace {

template <class T>
Plan MakeSampleTrace(const SampleTraceParams& p) {
  const int64_t count = std::min(p.self.dim(0), p.self.dim(1)), bytes = BytesOf(p.self);
  const int64_t step = (p.self.tensor().strides[0] + p.self.tensor().strides[1]) * bytes;
  const auto load = LoaderOf<T>(p.self.dtype());
  const auto store = StorerOf<T>(p.out.dtype());
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

Plan PlanSampleTrace(const SampleTraceParams& p, const Product&) {
  return Integral(p) ? MakeSampleTrace<int64_t>(p) : MakeSampleTrace<double>(p);
}

}  // namespace openaclnn::supporting
