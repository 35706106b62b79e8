// SPDX-License-Identifier: Apache-2.0
// aclDataTypeSize, and numbers as FLOAT16: by integers, whatever the thread's rounding is.
#include "ascendcl/data_type.h"

#include <bit>
#include <cstdint>

#include "acl/acl.h"

namespace openaclnn {
namespace {

/// value / 2^shift to nearest, ties to even; 0 < shift < 32.
uint32_t Rounded(uint32_t value, uint32_t shift) {
  const uint32_t result = value >> shift, rest = value & ((1u << shift) - 1);
  const uint32_t half = 1u << (shift - 1);
  return result + (rest > half || (rest == half && (result & 1) != 0) ? 1 : 0);
}

/// Without its sign; what is too large becomes infinity by itself.
uint32_t HalfOf(uint32_t magnitude) {
  constexpr uint32_t kInfinity = 0x7F800000, kLargest = 0x47800000, kNormal = 0x38800000;
  if (magnitude > kInfinity) return 0x7E00;
  if (magnitude >= kLargest) return 0x7C00;  // 2^16
  if (magnitude >= kNormal) return Rounded(magnitude - 0x38000000, 13);
  const uint32_t shift = 126 - (magnitude >> 23);  // units of 2^-24
  return shift > 25 ? 0 : Rounded((magnitude & 0x7FFFFF) | 0x800000, shift);
}

}  // namespace
}  // namespace openaclnn

size_t aclDataTypeSize(aclDataType dataType) {
  const openaclnn::DataTypeInfo* info = openaclnn::FindDataType(dataType);
  return info != nullptr ? info->bytes : 0;
}

aclFloat16 aclFloatToFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<aclFloat16>((bits >> 16 & 0x8000) | openaclnn::HalfOf(bits & 0x7FFFFFFF));
}

float aclFloat16ToFloat(aclFloat16 value) {
  const uint32_t sign = (value & 0x8000u) << 16, exponent = value >> 10 & 0x1F;
  const uint32_t fraction = value & 0x3FF;
  if (exponent == 0) {  // units of 2^-24, which a float has all of
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  const uint32_t wide = exponent == 0x1F ? 0xFF : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}
