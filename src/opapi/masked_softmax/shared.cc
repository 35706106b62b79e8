// SPDX-License-Identifier: Apache-2.0
// The checks of the scaled, masked softmax and of its gradient.
#include "masked_softmax/shared.h"

#include <algorithm>

namespace openaclnn::masked_softmax {
namespace {

/// The mask has the last two dimensions of `data`, after two that are 1 or those of `data`.
bool MaskFits(const Operand& mask, const Operand& data) {
  for (uint32_t i = 0; i < 4; ++i) {
    if (mask.dim(i) != data.dim(i) && (i >= 2 || mask.dim(i) != 1)) return false;
  }
  return true;
}

}  // namespace

Status CheckArguments(const Operator& op, const Product& product, const Arguments& arguments) {
  const Operand &data = *arguments.operands.front(), &mask = arguments.mask;
  const int64_t width = data.last_dim();
  const int64_t widest = std::min(kMaxWidth, product.rules->max_softmax_width);
  Checker checker(op, product);
  checker.Required(arguments.operands)
      .Supported()
      .Dtype(arguments.operands)
      .PlainFormat(arguments.operands)
      .Rank(data, 4)
      .That(arguments.least_width <= width && width <= widest, [&] {
        return Concat(data.name(), " last dimension is ", width, ", expected ",
                      arguments.least_width, " to ", widest, " on ", product.name);
      });
  for (const Operand* operand : arguments.like) checker.SameShapeAndDtype(*operand, data);
  return checker.Rank(mask, 4)
      .That(MaskFits(mask, data),
            [&] {
              return Concat("mask shape is ", ShapeText(mask), ", expected ", data.name(),
                            "'s last two dimensions after two that are 1 or ", data.name(), "'s (",
                            data.name(), " shape ", ShapeText(data), ")");
            })
      .That(!arguments.fixTriuMask,
            [&] { return Concat("fixTriuMask value is true, expected false"); })
      .status();
}

}  // namespace openaclnn::masked_softmax
