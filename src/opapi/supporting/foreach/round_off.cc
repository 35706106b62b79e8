// SPDX-License-Identifier: Apache-2.0
// The engine of ForeachRoundOffNumber: modes are checked, then the engines of lists round.
#include <cmath>

#include "generated/foreach.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

constexpr double kModes = 7;

std::string ModeText(double mode) {
  return Concat("roundMode value is ", mode, ", expected an integer of 1 to ", kModes);
}

bool IsMode(double mode) { return 1 <= mode && mode <= kModes && std::trunc(mode) == mode; }

}  // namespace

// The mode is a scalar, or a tensor of one element, which the task reads.
void CheckForeachRoundOff(const Params& p, Checker& checker) {
  if (p.values.empty()) return CheckForeachShared(p, checker);
  const double mode = p.values.front().number;
  checker.That(IsMode(mode), [&] { return ModeText(mode); });
  CheckForeach(p, checker);
}

Plan PlanForeachRoundOff(const Params& p, const Product& product) {
  if (!p.values.empty()) return PlanForeach(p, product);
  for (const Tensor& tensor : p.tensors) {
    if (tensor.in_list()) continue;
    Plan check = {0, [mode = Elements(tensor, 1)](const Buffers& buffers) -> Status {
                    const double value = mode.Get(buffers, 0);
                    return IsMode(value) ? Status() : Status(507035, ModeText(value));
                  }};
    return InTurn({std::move(check), PlanForeachShared(p, product)});
  }
  return Nothing();
}

}  // namespace openaclnn::supporting
