// SPDX-License-Identifier: Apache-2.0
// BFLOAT16 operands of products, small and large ones, on which every instruction set must agree:
// processors' dot products take subnormals for zeros.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <utility>
#include <vector>

#include "tests/support/bits.h"
#include "tests/support/cases.h"
#include "tests/support/conv.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {

/// Magnitudes as they are stored, one in `rarity` of them from the other range.
struct PairValues {
  const char* name;
  int64_t least, most, rarity, rare_least, rare_most;
};

inline constexpr PairValues kPairValues[] = {
    {"of any sum", 100 << 7, 150 << 7, 8, 0, 0},
    {"all numbers", 0, 0x7F7F, 8, 0, 0},
    {"about the least of a product", 68 << 7, 74 << 7, 8, 0, 0},
    {"whose products are subnormal", 40 << 7, 66 << 7, 8, 0, 0},
    {"whose products are zeros of a sign", 16 << 7, 32 << 7, 2, 0, 0},
    {"a few subnormal", 120 << 7, 150 << 7, 700, 1, 0x7F},
    {"a few not finite", 100 << 7, 150 << 7, 700, 0x7F80, 0x7FFF},
};

inline std::vector<std::byte> RandomPairs(Random& random, int64_t count, const PairValues& of) {
  std::vector<std::byte> bytes;
  for (int64_t i = 0; i < count; ++i) {
    const bool rare = Uniform(random, 1, of.rarity) == 1;
    const int64_t magnitude =
        rare ? Uniform(random, of.rare_least, of.rare_most) : Uniform(random, of.least, of.most);
    const auto bits = static_cast<uint16_t>(magnitude | Uniform(random, 0, 1) << 15);
    bytes.resize(bytes.size() + sizeof bits);
    std::memcpy(&bytes.back() - 1, &bits, sizeof bits);
  }
  return bytes;
}

/// run(device, fill) makes a call whose inputs are filled by fill(&tensor) and returns what it
/// wrote, under each setting but the baseline, which has no FMA.
template <class Run>
void ExpectSameBitsOfPairs(Run&& run) {
  for (const PairValues& values : kPairValues) {
    decltype(run(std::declval<const Device&>(), [](DeviceTensor*) {})) first;
    UnderEachSetting([&](const std::string& setting, const Device& device) {
      if (!IsFused(setting)) return;
      Random random(1);
      auto outputs = run(device, [&](DeviceTensor* tensor) {
        tensor->Write(RandomPairs(random, tensor->layout().count(), values));
      });
      if (first.empty()) first = outputs;
      EXPECT_TRUE(first == outputs) << values.name << ", " << setting;
    });
  }
}

/// Convolutions of even and odd numbers of channels and batches, of more than a unit of terms;
/// their Problem's inputs.
template <class Problem>
void ExpectSameBitsOfConvPairs(std::initializer_list<DeviceTensor Problem::*> inputs) {
  const ConvCase shapes[] = {{"", kEdge, 40, 4, 34, 66, 3, 1},
                             {"", kEdge, 21, 3, 21, 35, 4, 2},
                             {"", kEdge, 30, 2, 700, 20, 2, 0},
                             {"", kEdge, 300, 4, 20, 70, 2, 1}};
  for (const ConvCase& shape : shapes) {
    ExpectSameBitsOfPairs([&](const Device& device, auto&& fill) {
      Problem problem(shape, ACL_BF16);
      for (const auto input : inputs) fill(&(problem.*input));
      EXPECT_EQ(problem.Run(device).message, "");
      return problem.Outputs();
    });
  }
}

}  // namespace openaclnn::test
