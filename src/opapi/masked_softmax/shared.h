// SPDX-License-Identifier: Apache-2.0
// What the scaled, masked softmax and its gradient both demand of their arguments.
#pragma once

#include <algorithm>

#include "frame/checker.h"

namespace openaclnn::masked_softmax {

/// Longest row of any product: the kernel keeps one on its stack.
inline constexpr int64_t kMaxWidth = 8192;

/// Longest row of a product.
inline int64_t MaxWidth(const Product& product) {
  return std::min(kMaxWidth, product.rules->max_softmax_width);
}

/// The mask has the last two dimensions of `data`, after two that are 1 or those of `data`.
inline bool MaskFits(const Operand& mask, const Operand& data) {
  for (uint32_t i = 0; i < 4; ++i) {
    if (mask.dim(i) != data.dim(i) && (i >= 2 || mask.dim(i) != 1)) return false;
  }
  return true;
}

inline std::string MaskText(const Operand& mask, const Operand& data) {
  return Concat("mask shape is ", ShapeText(mask), ", expected ", data.name(),
                "'s last two dimensions after two that are 1 or ", data.name(), "'s (", data.name(),
                " shape ", ShapeText(data), ")");
}

inline std::string WidthText(const Operand& data, int64_t least, const Product& product) {
  return Concat(data.name(), " last dimension is ", data.last_dim(), ", expected ", least, " to ",
                MaxWidth(product), " on ", product.name);
}

}  // namespace openaclnn::masked_softmax
