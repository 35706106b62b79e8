// SPDX-License-Identifier: Apache-2.0
// Shapes of elementwise operators: what operands are broadcast to, and places that are one.
#include <algorithm>
#include <utility>

#include "kernels/move/broadcast.h"
#include "supporting/elementwise.h"

namespace openaclnn::supporting {

void MeetShape(const Operand& tensor, Shape* shape, Checker* checker) {
  if (std::ranges::equal(*shape, std::span(tensor.tensor().dims, tensor.rank()))) return;
  Shape common = *shape;
  const bool fits = BroadcastShape(tensor, &common);
  if (checker != nullptr) {
    checker->That(fits, [&] {
      return Concat(tensor.name(), " shape is ", ShapeText(tensor),
                    ", expected one that can be broadcast with ",
                    ShapeText(shape->data(), static_cast<uint32_t>(shape->size())));
    });
  }
  if (fits) *shape = std::move(common);
}

Walk WalkOfOneValue(const Operand& out, bool* apart) {
  Shape shape = ShapeOf(out);
  Steps steps(shape, out);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 1 && steps.bytes[d] == 0) shape[d] = 1;
  }
  *apart = out.empty() || !OverlapsItself(out.tensor());
  return Walk(shape, {std::move(steps)});
}

}  // namespace openaclnn::supporting
