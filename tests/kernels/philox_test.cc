// SPDX-License-Identifier: Apache-2.0
// Random numbers of many places against one place at a time, and against the bits they have on
// every instruction set.
#include "kernels/number/philox.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "opapi/supporting/philox.h"

namespace openaclnn::test {
namespace {

using supporting::Philox;

// Around the lengths of registers, the end of the first 32 bits of a place, and the last places.
const int64_t kLengths[] = {1, 2, 3, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 256, 300};
const uint64_t kBegins[] = {0, 5, 0xFFFFFFF0, uint64_t{1} << 40, ~uint64_t{0} - 300};
const RandomKey kKey = {0x123456789ABCDEF0, 0xFEDCBA9876543210};

TEST(Philox, GivesTheAnswersOfItsAuthors) {
  const uint32_t zeros[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  const uint32_t ones[] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Philox(0, 0, 0).word[i], zeros[i]) << i;
    EXPECT_EQ(Philox(~0ull, ~0ull, ~0ull).word[i], ones[i]) << i;
  }
}

TEST(Philox, ManyPlacesAreOneAfterTheOther) {
  for (const uint64_t begin : kBegins) {
    for (const int64_t n : kLengths) {
      const auto size = static_cast<size_t>(n);
      std::vector<uint64_t> bits(size + 1, 99);
      std::vector<double> unit(size + 1, 99), coarse(size + 1, 99);
      RandomNumbers()->bits(kKey, begin, n, bits.data());
      RandomNumbers()->uniform(kKey, begin, n, 53, 0, 1, unit.data());
      RandomNumbers()->uniform(kKey, begin, n, 11, -2.5, 7, coarse.data());
      for (size_t i = 0; i < size; ++i) {
        const supporting::Bits wanted = Philox(kKey.seed, kKey.offset, begin + i);
        const double u = 1 - wanted.Open(0);
        ASSERT_EQ(bits[i], wanted.Long()) << begin << " + " << i << " of " << n;
        ASSERT_EQ(unit[i], u);
        ASSERT_EQ(coarse[i], -2.5 + 7 * (std::floor(u * 0x1p11) / 0x1p11));
      }
      EXPECT_EQ(bits[size], 99u);
      EXPECT_EQ(unit[size], 99);
    }
  }
}

TEST(Philox, KeepsTheBitsThatAreNotBelow) {
  for (const double probability : {0.0, 0x1p-60, 0.1, 0.5, 1 - 0x1p-53, 1.0}) {
    for (const int64_t n : kLengths) {
      std::vector<uint8_t> kept(static_cast<size_t>(n + 7) / 8 + 1, 0xA5);
      RandomNumbers()->at_least(kKey, 77, n, probability, kept.data());
      for (int64_t i = 0; i < n; ++i) {
        const double u = 1 - Philox(kKey.seed, kKey.offset, 77 + static_cast<uint64_t>(i)).Open(0);
        ASSERT_EQ(kept[static_cast<size_t>(i / 8)] >> (i % 8) & 1, u >= probability ? 1 : 0)
            << i << " of " << n << ", " << probability;
      }
      EXPECT_EQ(kept.back(), 0xA5);
    }
  }
}

TEST(Philox, NormalNumbersAreThoseOfTheFormula) {
  std::vector<double> normal(300000), moved(normal.size());
  const auto n = static_cast<int64_t>(normal.size());
  RandomNumbers()->normal(kKey, 3, n, 0, 1, normal.data());
  RandomNumbers()->normal(kKey, 3, n, 10, 0.25, moved.data());
  for (size_t i = 0; i < normal.size(); ++i) {
    const supporting::Bits bits = Philox(kKey.seed, kKey.offset, (3 + i) / 2);
    // The cosine of an argument that is rounded is known to 2^-51 of 1, not of itself.
    const double radius = std::sqrt(-2 * std::log(bits.Open(0))), angle = 2 * M_PI * bits.Open(1);
    const double wanted = radius * ((3 + i) % 2 == 0 ? std::cos(angle) : std::sin(angle));
    ASSERT_NEAR(normal[i], wanted, radius * 0x1p-50) << i;
    ASSERT_EQ(moved[i], 10 + 0.25 * normal[i]) << i;
  }
}

TEST(Philox, NormalNumbersDependOnTheirPlaceAlone) {
  for (const uint64_t begin : kBegins) {
    for (const int64_t n : kLengths) {
      const auto size = static_cast<size_t>(n);
      std::vector<double> many(size + 1, 99);
      RandomNumbers()->normal(kKey, begin, n, 0, 1, many.data());
      for (size_t i = 0; i < size; ++i) {
        double one[] = {0, 99};
        RandomNumbers()->normal(kKey, begin + i, 1, 0, 1, one);
        ASSERT_EQ(many[i], one[0]) << begin << " + " << i << " of " << n;
        ASSERT_EQ(one[1], 99);
      }
      EXPECT_EQ(many[size], 99);
    }
  }
}

TEST(Philox, NormalNumbersHaveTheseBits) {
  const RandomKey key = {12345, 678};
  double values[4];
  RandomNumbers()->normal(key, 1023744, 4, 0, 1, values);
  EXPECT_EQ(values[0], 0x1.8035bdff87ef4p-2);
  EXPECT_EQ(values[1], 0x1.05aad9a237fbcp+0);
  EXPECT_EQ(values[2], 0x1.ed3b8382b3785p-1);
  EXPECT_EQ(values[3], -0x1.8cbd9d7f995cdp-1);
  uint64_t all = 0;  // of many: a change of one bit shows
  std::vector<double> many(1024000);
  RandomNumbers()->normal(key, 0, static_cast<int64_t>(many.size()), 0, 1, many.data());
  for (const double value : many) all = all * 31 + std::bit_cast<uint64_t>(value);
  EXPECT_EQ(all, 0xd5eb9b8dc7a804a2u);
}

}  // namespace
}  // namespace openaclnn::test
