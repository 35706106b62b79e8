// SPDX-License-Identifier: Apache-2.0
// Softshrink: an expression whose scalar has a bound.
#include "generated/activation.h"
#include "supporting/activation/activations.h"
#include "supporting/elementwise.h"

namespace openaclnn::supporting {
namespace {

Application SoftshrinkOf(const SoftshrinkParams& p) {
  return {OPENACLNN_TARGET_SELECT(expressions::kSoftshrink),
          {p.self.place.number},
          p.out.place.number,
          {p.lambd}};
}

}  // namespace

void CheckSoftshrink(const SoftshrinkParams& p, Checker& checker) {
  checker.That(!(p.lambd.number < 0), [&] {
    return Concat("lambd value is ", p.lambd.number, ", expected one that is not negative");
  });
  CheckApplication(p, SoftshrinkOf(p), checker);
}

Plan PlanSoftshrink(const SoftshrinkParams& p, const Product&) {
  return PlanApplication(p, SoftshrinkOf(p));
}

}  // namespace openaclnn::supporting
