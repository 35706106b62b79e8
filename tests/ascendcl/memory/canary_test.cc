// SPDX-License-Identifier: Apache-2.0
// Canaries: every byte of them is written, none beside them, and the first that differs is found.
#include "ascendcl/memory/canary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace openaclnn {
namespace {

constexpr std::byte kOther{0x5A};
constexpr size_t kMost = 100;  // more than kLeastCanary, and no whole words

/// Memory with a canary, which begins at a word or behind one, with other bytes on either side.
struct Canary {
  Canary(size_t at, size_t bytes) : memory(8 + kMost + 16, kOther), bytes(bytes) {
    const auto past = reinterpret_cast<uintptr_t>(memory.data()) % 8;
    begin = memory.data() + (8 - past) + at;
    WriteCanary(begin, bytes);
  }
  std::vector<std::byte> memory;
  std::byte* begin;
  size_t bytes;
};

TEST(CanaryTest, EveryByteIsWrittenAndNoOther) {
  for (const size_t at : {0, 1, 6, 7}) {
    for (size_t bytes = 0; bytes <= kMost; ++bytes) {
      const Canary canary(at, bytes);
      for (size_t i = 0; i < bytes; ++i) {
        // Halves of 16 bits, by the address.
        const bool odd = (reinterpret_cast<uintptr_t>(canary.begin + i) & 1) != 0;
        ASSERT_EQ(canary.begin[i], std::byte(odd ? 0xFF : 0xC5)) << at << ", " << i;
      }
      const auto others = std::count(canary.memory.begin(), canary.memory.end(), kOther);
      ASSERT_EQ(static_cast<size_t>(others), canary.memory.size() - bytes) << at;
    }
  }
}

TEST(CanaryTest, IntactUntilTheFirstByteThatDiffers) {
  for (const size_t at : {0, 1, 6, 7}) {
    for (size_t bytes = 0; bytes <= kMost; ++bytes) {
      Canary canary(at, bytes);
      ASSERT_EQ(IntactBytes(canary.begin, bytes), bytes) << at;
      for (size_t i = bytes; i-- > 0;) {  // what lies behind the first has changed too
        canary.begin[i] ^= std::byte{0x10};
        ASSERT_EQ(IntactBytes(canary.begin, bytes), i) << at << ", " << bytes;
      }
    }
  }
}

TEST(CanaryTest, NothingBehindIsLookedAt) {
  for (const size_t at : {0, 1, 6, 7}) {
    const Canary canary(at, kMost);
    for (size_t bytes = 0; bytes <= kMost; ++bytes) {
      ASSERT_EQ(IntactBytes(canary.begin, bytes), bytes) << at;
    }
  }
}

TEST(CanaryTest, ItBeginsIntactUnlessOneOf16BytesDiffers) {
  for (const size_t at : {0, 7}) {
    for (size_t i = 0; i < kLeastCanary; ++i) {
      Canary canary(at, kLeastCanary);
      ASSERT_TRUE(BeginsIntact(canary.begin));
      canary.begin[i] ^= std::byte{1};
      ASSERT_EQ(BeginsIntact(canary.begin), i >= 16) << at << ", " << i;
    }
  }
}

}  // namespace
}  // namespace openaclnn
