// SPDX-License-Identifier: Apache-2.0
// Conversions by scaling with powers of two and rounding to whole numbers.
#include "tests/support/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace openaclnn::test {
namespace {

// By DOUBLE's own bits, since most of the tests' time is spent here: std::ilogb and std::ldexp are
// calls that look for errors first.
int Exponent(const BinaryFormat& format, double value) {
  const auto field = static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7ff);
  return std::max(field - 1023, format.min_exponent);  // a subnormal's is less
}

/// value * 2^power, for a power of -1022 to 1023.
double Scale(double value, int power) {
  return value * std::bit_cast<double>(static_cast<uint64_t>(power + 1023) << 52);
}

uint32_t InfinityBits(const BinaryFormat& format) {
  return static_cast<uint32_t>(format.max_exponent - format.min_exponent + 2)
         << format.fraction_bits;
}

uint32_t SignBit(const BinaryFormat& format) {
  return (InfinityBits(format) << 1) & ~InfinityBits(format);
}

template <class T>
double Load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return static_cast<double>(value);
}

template <class T>
void Store(T value, void* to) {
  std::memcpy(to, &value, sizeof(value));
}

}  // namespace

double Round(const BinaryFormat& format, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int last_place = Exponent(format, value) - format.fraction_bits;
  const double rounded = Scale(std::nearbyint(Scale(value, -last_place)), last_place);
  const double limit = Scale(1.0, format.max_exponent + 1);
  return std::abs(rounded) < limit ? rounded : std::copysign(INFINITY, value);
}

uint32_t Encode(const BinaryFormat& format, double value) {
  const uint32_t sign = std::signbit(value) ? SignBit(format) : 0;
  if (std::isnan(value)) return InfinityBits(format) | 1u << (format.fraction_bits - 1);
  const double rounded = std::abs(Round(format, value));
  if (std::isinf(rounded)) return sign | InfinityBits(format);
  if (rounded == 0) return sign;
  const int exponent = Exponent(format, rounded);
  const auto whole = static_cast<uint32_t>(Scale(rounded, format.fraction_bits - exponent));
  // The leading bit of a normal number's whole adds one to the exponent field.
  const auto field = static_cast<uint32_t>(exponent - format.min_exponent);
  return sign | ((field << format.fraction_bits) + whole);
}

double Decode(const BinaryFormat& format, uint32_t bits) {
  const bool negative = (bits & SignBit(format)) != 0;
  const uint32_t magnitude = bits & (SignBit(format) - 1);
  const uint32_t fraction = magnitude & ((1u << format.fraction_bits) - 1);
  const auto field = static_cast<int>(magnitude >> format.fraction_bits);
  double value = 0;
  if (magnitude >= InfinityBits(format)) {
    value = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : INFINITY;
  } else if (field == 0) {
    value = Scale(fraction, format.min_exponent - format.fraction_bits);
  } else {
    value = Scale(fraction + (1u << format.fraction_bits),
                  field - 1 + format.min_exponent - format.fraction_bits);
  }
  return negative ? -value : value;
}

double LoadElement(aclDataType dtype, const void* from) {
  switch (dtype) {
    case ACL_FLOAT:
      return Load<float>(from);
    case ACL_DOUBLE:
      return Load<double>(from);
    case ACL_FLOAT16:
      return Decode(kHalf, static_cast<uint32_t>(Load<uint16_t>(from)));
    case ACL_BF16:
      return Decode(kBFloat16, static_cast<uint32_t>(Load<uint16_t>(from)));
    case ACL_INT64:
      return Load<int64_t>(from);
    case ACL_INT32:
      return Load<int32_t>(from);
    case ACL_INT16:
      return Load<int16_t>(from);
    case ACL_INT8:
      return Load<int8_t>(from);
    case ACL_UINT32:
      return Load<uint32_t>(from);
    case ACL_UINT16:
      return Load<uint16_t>(from);
    case ACL_UINT8:
      return Load<uint8_t>(from);
    case ACL_BOOL:
      return Load<uint8_t>(from) != 0 ? 1 : 0;
    default:
      throw std::invalid_argument("LoadElement: no numbers of this type");
  }
}

void StoreElement(aclDataType dtype, double value, void* to) {
  switch (dtype) {
    case ACL_FLOAT:
      return Store(static_cast<float>(value), to);
    case ACL_DOUBLE:
      return Store(value, to);
    case ACL_FLOAT16:
      return Store(static_cast<uint16_t>(Encode(kHalf, value)), to);
    case ACL_BF16:
      return Store(static_cast<uint16_t>(Encode(kBFloat16, value)), to);
    case ACL_INT64:
      return Store(static_cast<int64_t>(value), to);
    case ACL_INT32:
      return Store(static_cast<int32_t>(value), to);
    case ACL_INT16:
      return Store(static_cast<int16_t>(value), to);
    case ACL_INT8:
      return Store(static_cast<int8_t>(value), to);
    case ACL_UINT32:
      return Store(static_cast<uint32_t>(value), to);
    case ACL_UINT16:
      return Store(static_cast<uint16_t>(value), to);
    case ACL_UINT8:
      return Store(static_cast<uint8_t>(value), to);
    case ACL_BOOL:
      return Store(static_cast<uint8_t>(value != 0 ? 1 : 0), to);
    default:
      throw std::invalid_argument("StoreElement: no numbers of this type");
  }
}

std::vector<std::byte> ToBytes(aclDataType dtype, const std::vector<double>& values) {
  const size_t size = aclDataTypeSize(dtype);
  std::vector<std::byte> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) StoreElement(dtype, values[i], &bytes[i * size]);
  return bytes;
}

std::vector<double> ToDoubles(aclDataType dtype, const std::vector<std::byte>& bytes) {
  const size_t size = aclDataTypeSize(dtype);
  std::vector<double> values(bytes.size() / size);
  for (size_t i = 0; i < values.size(); ++i) values[i] = LoadElement(dtype, &bytes[i * size]);
  return values;
}

}  // namespace openaclnn::test
