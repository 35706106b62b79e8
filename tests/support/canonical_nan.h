// SPDX-License-Identifier: Apache-2.0
// Every NaN that an operator computes is its type's canonical one, on every instruction set and
// layout: calls with NaNs of all kinds, and what is asked of their outputs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <span>

#include "tests/support/bits.h"
#include "tests/support/call.h"
#include "tests/support/numbers.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {

using Bytes = std::vector<std::byte>;

/// A float type: its infinity, whose exponent a NaN has, and its canonical NaN.
struct FloatType {
  aclDataType dtype;
  int bits, fraction_bits;
  uint64_t infinity, nan;
};

inline constexpr FloatType kFloat = {ACL_FLOAT, 32, 23, 0x7F800000, 0x7FC00000};
inline constexpr FloatType kFloat16 = {ACL_FLOAT16, 16, 10, 0x7C00, 0x7E00};
inline constexpr FloatType kBFloat = {ACL_BF16, 16, 7, 0x7F80, 0x7FC0};
inline constexpr FloatType kDouble = {ACL_DOUBLE, 64, 52, 0x7FF0000000000000, 0x7FF8000000000000};

/// NaNs of both signs and any payload, signalling ones too, and infinities among numbers.
inline Bytes SpecialBytes(Random& random, const FloatType& type, int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  for (double& value : values) value = std::normal_distribution<double>()(random);
  Bytes bytes = ToBytes(type.dtype, values);
  const auto size = static_cast<size_t>(type.bits / 8);
  for (int64_t i = 0; i < count; ++i) {
    if (Uniform(random, 0, 39) > 0) continue;
    uint64_t bits = type.infinity | static_cast<uint64_t>(Uniform(random, 0, 1)) << (type.bits - 1);
    if (Uniform(random, 0, 2) > 0) {
      bits |= static_cast<uint64_t>(Uniform(random, 1, (int64_t{1} << type.fraction_bits) - 1));
    }
    std::memcpy(&bytes[static_cast<size_t>(i) * size], &bits, size);
  }
  return bytes;
}

/// The operands of a call: the same elements whether dense or strided.
class Operands {
 public:
  Operands(const FloatType& type, bool strided) : type_(type), strided_(strided) {}

  DeviceTensor In(const Dims& dims) {
    DeviceTensor tensor(type_.dtype, Place(dims));
    tensor.Write(SpecialBytes(values_, type_, CountOf(dims)));
    return tensor;
  }
  DeviceTensor Out(const Dims& dims) { return DeviceTensor(type_.dtype, Place(dims)); }
  DeviceTensor Whole(aclDataType dtype, const Dims& dims, int64_t high) {
    DeviceTensor tensor(dtype, Place(dims));
    std::vector<double> values(static_cast<size_t>(CountOf(dims)));
    for (double& value : values) value = static_cast<double>(Uniform(values_, 0, high));
    tensor.Write(ToBytes(dtype, values));
    return tensor;
  }
  aclDataType dtype() const { return type_.dtype; }

 private:
  Layout Place(const Dims& dims) {
    return strided_ ? RandomLayout(layouts_, dims, false) : DenseLayout(dims);
  }

  FloatType type_;
  bool strided_;
  Random values_{1}, layouts_{2};
};

inline aclTensor* Handle(const DeviceTensor& tensor) {
  return const_cast<aclTensor*>(tensor.handle());
}

template <class Plan>
void Launch(const Device& device, Phase2 phase2, const Plan& plan) {
  const Planned planned = Planned::Plan(plan);
  EXPECT_EQ(planned.outcome().message, "");
  EXPECT_EQ(Execute(device, planned, phase2).message, "");
}

/// A call; what it wrote.
using Outputs = std::vector<Bytes>;
using NanCall = Outputs (*)(const Device&, Operands&);

inline constexpr FloatType kRoomTypes[] = {kFloat, kFloat16, kBFloat};
inline constexpr FloatType kAllTypes[] = {kFloat, kFloat16, kBFloat, kDouble};

/// How many NaNs there are; each other one than the canonical is a failure.
inline int64_t CountNans(const FloatType& type, const Bytes& bytes) {
  const auto size = static_cast<size_t>(type.bits / 8);
  int64_t count = 0, others = 0;
  for (size_t at = 0; at < bytes.size(); at += size) {
    if (!std::isnan(LoadElement(type.dtype, &bytes[at]))) continue;
    uint64_t bits = 0;
    std::memcpy(&bits, &bytes[at], size);
    ++count;
    if (bits != type.nan && others++ == 0) {
      ADD_FAILURE() << "element " << at / size << " is 0x" << std::hex << bits;
    }
  }
  EXPECT_EQ(others, 0);
  return count;
}

/// Dense and strided, under each setting: canonical NaNs, some in each output, and the same bits.
inline void ExpectCanonicalNans(std::span<const FloatType> types, NanCall call) {
  std::map<std::pair<aclDataType, bool>, Outputs> first;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    for (const FloatType& type : types) {
      for (const bool strided : {false, true}) {
        SCOPED_TRACE(testing::Message() << "type " << type.dtype
                                        << (strided ? ", strided, " : ", dense, ") << setting);
        Operands operands(type, strided);
        const Outputs outputs = call(device, operands);
        for (const Bytes& output : outputs) EXPECT_GT(CountNans(type, output), 0);
        // Without fused products sums may differ; with them no bit does.
        const auto [entry, added] = first.emplace(std::pair(type.dtype, IsFused(setting)), outputs);
        EXPECT_TRUE(added || entry->second == outputs);
      }
    }
  });
}

}  // namespace openaclnn::test
