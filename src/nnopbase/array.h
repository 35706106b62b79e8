// SPDX-License-Identifier: Apache-2.0
// Arrays and scalars: host values that operators take as attributes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl_base.h"
#include "common/handle_table.h"

namespace openaclnn {

struct IntArray {
  static constexpr Kind kKind = Kind::kIntArray;
  static constexpr const char* kNoun = "array of int64_t";
  std::vector<int64_t> values;
};

struct FloatArray {
  static constexpr Kind kKind = Kind::kFloatArray;
  static constexpr const char* kNoun = "array of float";
  std::vector<float> values;
};

struct BoolArray {
  static constexpr Kind kKind = Kind::kBoolArray;
  static constexpr const char* kNoun = "array of bool";
  std::vector<uint8_t> values;
};

struct Scalar {
  static constexpr Kind kKind = Kind::kScalar;
  static constexpr const char* kNoun = "scalar";
  aclDataType dtype = ACL_DT_UNDEFINED;
  std::array<std::byte, 16> value{};  // the widest type is COMPLEX128
};

}  // namespace openaclnn
