// SPDX-License-Identifier: Apache-2.0
// Element values as doubles, converted by arithmetic alone: nothing is shared with the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl_base.h"

namespace openaclnn::test {

/// A binary floating-point format: sign, exponent field, `fraction_bits`.
struct BinaryFormat {
  int fraction_bits;
  int min_exponent;  // of normal numbers
  int max_exponent;
};

inline constexpr BinaryFormat kHalf = {10, -14, 15};
inline constexpr BinaryFormat kBFloat16 = {7, -126, 127};
inline constexpr BinaryFormat kSingle = {23, -126, 127};

/// Nearest value of the format, ties to even; infinite past its range.
double Round(const BinaryFormat& format, double value);
/// The bits of Round(format, value); every NaN is the quiet one.
uint32_t Encode(const BinaryFormat& format, double value);
double Decode(const BinaryFormat& format, uint32_t bits);

/// One element of FLOAT, FLOAT16, BFLOAT16, DOUBLE, BOOL or an integer type. Stores round.
double LoadElement(aclDataType dtype, const void* from);
void StoreElement(aclDataType dtype, double value, void* to);

std::vector<std::byte> ToBytes(aclDataType dtype, const std::vector<double>& values);
std::vector<double> ToDoubles(aclDataType dtype, const std::vector<std::byte>& bytes);

}  // namespace openaclnn::test
