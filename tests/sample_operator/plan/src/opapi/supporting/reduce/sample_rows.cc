// SPDX-License-Identifier: Apache-2.0
// SampleRows: how many rows a matrix has, by a check and a plan that no engine serves.
#include "supporting/reduce/fold.h"

namespace openaclnn::supporting {

void CheckSampleRows(const SampleRowsParams& p, Checker& checker) {
  checker.Rank(p.self, 2);
  CheckShape(p.out, {}, checker);
}

Plan PlanSampleRows(const SampleRowsParams& p, const Product&) {
  const auto rows = static_cast<double>(p.self.dim(0));
  const auto store = StorerOf<double>(p.out.dtype());
  const Place out = p.out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            store(&rows, 1, out(buffers), 0);
            return {};
          }};
}

}  // namespace openaclnn::supporting
