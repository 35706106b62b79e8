// SPDX-License-Identifier: Apache-2.0
// ClampTensor: between tensors, each of which may be left out.
#include "generated/elementwise.h"
#include "generated/expressions.h"
#include "supporting/elementwise.h"
#include "supporting/elementwise/expressions.h"

namespace openaclnn::supporting {
namespace {

/// By the bounds that are given.
Application ClampOf(const ClampParams& p) {
  const bool low = p.clipValueMin.present(), high = p.clipValueMax.present();
  Application one = {low && high ? OPENACLNN_TARGET_SELECT(expressions::kClampTensor)
                     : low       ? OPENACLNN_TARGET_SELECT(expressions::kMax)
                     : high      ? OPENACLNN_TARGET_SELECT(expressions::kMin)
                                 : OPENACLNN_TARGET_SELECT(expressions::kCopy),
                     {p.self.place.number},
                     p.out.place.number,
                     {}};
  if (low) one.inputs.push_back(p.clipValueMin.place.number);
  if (high) one.inputs.push_back(p.clipValueMax.place.number);
  return one;
}

}  // namespace

void CheckClamp(const ClampParams& p, Checker& checker) {
  CheckApplication(p, ClampOf(p), checker);
}

Plan PlanClamp(const ClampParams& p, const Product&) { return PlanApplication(p, ClampOf(p)); }

}  // namespace openaclnn::supporting
