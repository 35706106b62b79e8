// SPDX-License-Identifier: Apache-2.0
// DivMod and DivMods: the mode of the rounding chooses the function.
#include "generated/elementwise.h"
#include "generated/expressions.h"
#include "supporting/elementwise.h"
#include "supporting/elementwise/expressions.h"

namespace openaclnn::supporting {
namespace {

/// For each mode: by a tensor, by a scalar.
constexpr std::array<std::array<const Expression*, 2>, 3> kModes = {{
    {&expressions::kDiv, &expressions::kDivScalar},
    {&expressions::kTruncatedDivide, &expressions::kTruncatedDivideScalar},
    {&expressions::kFloorDivide, &expressions::kFloorDivideScalar},
}};

Application DivisionOf(const DivisionParams& p) {
  const bool by_tensor = p.other.present();
  Application one = {kModes[static_cast<size_t>(p.mode)][by_tensor ? 0 : 1],
                     {p.self.place.number},
                     p.out.place.number,
                     {}};
  if (by_tensor) {
    one.inputs.push_back(p.other.place.number);
  } else {
    one.values.push_back(p.divisor);
  }
  return one;
}

}  // namespace

void CheckDivision(const DivisionParams& p, Checker& checker) {
  checker.That(p.mode >= 0 && p.mode <= 2,
               [&] { return Concat("mode value is ", p.mode, ", expected 0, 1 or 2"); });
  if (checker.ok()) CheckApplication(p, DivisionOf(p), checker);
}

Plan PlanDivision(const DivisionParams& p, const Product&) {
  return PlanApplication(p, DivisionOf(p));
}

}  // namespace openaclnn::supporting
