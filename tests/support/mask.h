// SPDX-License-Identifier: Apache-2.0
// Masks of rank 4 whose first two dimensions may be 1 and then stand for all of the data's.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/support/layout.h"

namespace openaclnn::test {

enum MaskMode { kMaskOfEach, kMaskOfBatch, kMaskOfHead, kMaskOfAll };

inline constexpr std::array kMaskModes = {kMaskOfEach, kMaskOfBatch, kMaskOfHead, kMaskOfAll};

inline Dims MaskDims(Dims data, MaskMode mode) {
  if (mode == kMaskOfHead || mode == kMaskOfAll) data[0] = 1;
  if (mode == kMaskOfBatch || mode == kMaskOfAll) data[1] = 1;
  return data;
}

/// `percent` of the bytes are true: any byte but 0.
inline std::vector<std::byte> RandomMask(Random& random, int64_t count, int64_t percent) {
  std::vector<std::byte> mask(static_cast<size_t>(count));
  for (std::byte& byte : mask) {
    if (Uniform(random, 1, 100) <= percent) byte = static_cast<std::byte>(Uniform(random, 1, 255));
  }
  return mask;
}

/// The byte of each element of the data.
inline std::vector<uint8_t> BroadcastMask(const Dims& data, const Dims& mask,
                                          const std::vector<std::byte>& bytes) {
  Layout layout = DenseLayout(mask);
  layout.dims = data;
  for (size_t axis = 0; axis < 2; ++axis) {
    if (mask[axis] == 1) layout.strides[axis] = 0;
  }
  std::vector<uint8_t> result(static_cast<size_t>(layout.count()));
  ForEachElement(layout, [&](int64_t at, int64_t i) {
    result[static_cast<size_t>(i)] = static_cast<uint8_t>(bytes[static_cast<size_t>(at)]);
  });
  return result;
}

}  // namespace openaclnn::test
