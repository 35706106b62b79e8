// SPDX-License-Identifier: Apache-2.0
// Hardtanh: an expression whose bounds take the type of integers, as PyTorch hands them on as
// doubles.
#include "generated/activation.h"
#include "generated/expressions.h"
#include "supporting/elementwise.h"

namespace openaclnn::supporting {
namespace {

Application HardtanhOf(const HardtanhParams& p) {
  const bool integers = Contains(kIntegerTypes, p.self.dtype());
  const auto bound = [&](const Value& value) { return integers ? Value(value.integer) : value; };
  return {OPENACLNN_TARGET_SELECT(expressions::kClamp),
          {p.self.place.number},
          p.out.place.number,
          {bound(p.clipValueMin), bound(p.clipValueMax)}};
}

}  // namespace

void CheckHardtanh(const HardtanhParams& p, Checker& checker) {
  CheckApplication(p, HardtanhOf(p), checker);
}

Plan PlanHardtanh(const HardtanhParams& p, const Product&) {
  return PlanApplication(p, HardtanhOf(p));
}

}  // namespace openaclnn::supporting
