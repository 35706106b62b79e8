// SPDX-License-Identifier: Apache-2.0
// DivMod and DivMods: the mode of the rounding chooses the function.
#include "generated/elementwise.h"
#include "generated/expressions.h"
#include "supporting/elementwise.h"
#include "supporting/elementwise/expressions.h"

namespace openaclnn::supporting {
namespace {

/// For each mode: by a tensor, by a scalar.
const Expression* FunctionOf(int64_t mode, bool by_tensor) {
  switch (mode) {
    case 0:
      return by_tensor ? OPENACLNN_TARGET_SELECT(expressions::kDiv)
                       : OPENACLNN_TARGET_SELECT(expressions::kDivScalar);
    case 1:
      return by_tensor ? OPENACLNN_TARGET_SELECT(expressions::kTruncatedDivide)
                       : OPENACLNN_TARGET_SELECT(expressions::kTruncatedDivideScalar);
    default:
      return by_tensor ? OPENACLNN_TARGET_SELECT(expressions::kFloorDivide)
                       : OPENACLNN_TARGET_SELECT(expressions::kFloorDivideScalar);
  }
}

Application DivisionOf(const DivisionParams& p) {
  const bool by_tensor = p.other.present();
  Application one = {FunctionOf(p.mode, by_tensor), {p.self.place.number}, p.out.place.number, {}};
  if (by_tensor) {
    one.inputs.push_back(p.other.place.number);
  } else {
    one.values.push_back(p.divisor);
  }
  return one;
}

}  // namespace

void CheckDivision(const DivisionParams& p, Checker& checker) {
  CheckApplication(p, DivisionOf(p), checker);
}

Plan PlanDivision(const DivisionParams& p, const Product&) {
  return PlanApplication(p, DivisionOf(p));
}

}  // namespace openaclnn::supporting
