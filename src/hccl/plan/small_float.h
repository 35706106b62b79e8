// SPDX-License-Identifier: Apache-2.0
// The 16-bit floats to and from float, without branches, so that the compiler makes vectors of it.
#pragma once

#include <bit>
#include <cstdint>

namespace openaclnn {

/// IEEE binary16. Rounding is to nearest even; every NaN that is written is the canonical one.
struct Half {
  uint16_t bits;

  float Wide() const {
    const uint32_t magnitude = (bits & 0x7FFFu) << 13;
    const uint32_t sign = (bits & 0x8000u) << 16;
    // Moves the exponent's bias from 15 to 127; subnormals become normal by it.
    const uint32_t scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
    const uint32_t wide = magnitude >= 0x0F800000u ? magnitude | 0x7F800000u : scaled;
    return std::bit_cast<float>(wide | sign);
  }

  static Half Of(float value) {
    const uint32_t all = std::bit_cast<uint32_t>(value);
    const uint32_t sign = all >> 16 & 0x8000u;
    const uint32_t x = all & 0x7FFFFFFFu;
    // Adding 0.5 leaves a subnormal's bits, rounded, at the end of the significand.
    const uint32_t subnormal =
        std::bit_cast<uint32_t>(std::bit_cast<float>(x) + 0.5f) - 0x3F000000u;
    const uint32_t normal = (x - 0x38000000u + 0x0FFFu + (x >> 13 & 1u)) >> 13;
    const uint32_t large = x > 0x7F800000u ? 0x7E00u : 0x7C00u;
    uint32_t result = x < 0x38800000u ? subnormal : normal;
    result = x >= 0x47800000u ? large : result;
    const uint32_t kept = x > 0x7F800000u ? 0u : sign;
    return {static_cast<uint16_t>(result | kept)};
  }
};

/// The upper half of a float. As above.
struct Brain {
  uint16_t bits;

  float Wide() const { return std::bit_cast<float>(uint32_t{bits} << 16); }

  static Brain Of(float value) {
    const uint32_t x = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (x + 0x7FFFu + (x >> 16 & 1u)) >> 16;
    return {static_cast<uint16_t>((x & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC0u : rounded)};
  }
};

}  // namespace openaclnn
