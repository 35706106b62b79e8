// SPDX-License-Identifier: Apache-2.0
// Views of elements of 4 bits, of which a byte holds two: the first in its low half.
#pragma once

#include <cstdint>
#include <optional>

#include "acl/acl_base.h"
#include "ascendcl/data_type.h"
#include "common/tensor.h"

namespace openaclnn {

/// How many elements a byte holds, of the types that operators take.
constexpr int64_t ElementsOfByte(int type) { return type == ACL_INT4 ? 2 : 1; }

/// The bytes of the unit that has an address: an element, or the byte that holds several.
inline int64_t UnitBytes(int type) {
  return ElementsOfByte(type) > 1 ? 1 : static_cast<int64_t>(FindDataType(type)->bytes);
}

/// The dimension along which each byte holds two neighbours of such a view; nothing where some byte
/// would hold but one of its elements.
inline std::optional<uint32_t> PairedDim(const OpenaclnnTensor& tensor) {
  if (tensor.offset % 2 != 0) return std::nullopt;
  std::optional<uint32_t> found;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (!found && tensor.strides[i] == 1 && tensor.dims[i] % 2 == 0) {
      found = i;
    } else if (tensor.dims[i] > 1 && tensor.strides[i] % 2 != 0) {
      return std::nullopt;
    }
  }
  return found;
}

}  // namespace openaclnn
