// SPDX-License-Identifier: Apache-2.0
// Norms of the tensors of a list.
#include "generated/reduce.h"
#include "supporting/in_turn.h"
#include "supporting/reduce/norm_fold.h"

namespace openaclnn::supporting {

void CheckForeachNorm(const ForeachNormParams& p, Checker& checker) {
  const size_t count = p.x.size;
  checker.That(p.out.size == count,
               [&] { return Concat("out size is ", p.out.size, ", expected that of x, ", count); });
  for (size_t i = 0; checker.ok() && i < count; ++i) {
    checker.That(p.out[i].count() == 1, [&] {
      return Concat("out shape is ", ShapeText(p.out[i]), ", expected one element");
    });
  }
}

Plan PlanForeachNorm(const ForeachNormParams& p, const Product&) {
  std::vector<Plan> plans;
  for (size_t i = 0; i < p.x.size; ++i) {
    const size_t out = p.out[i].place.number;
    plans.push_back(
        MakeNorm(p, {p.x[i].place.number, out, out + 1}, *LayoutOf(p.x[i], {}), p.scalar.number));
  }
  return InTurn(std::move(plans));
}

}  // namespace openaclnn::supporting
