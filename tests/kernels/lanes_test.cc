// SPDX-License-Identifier: Apache-2.0
// Lanes of every instruction set: all 16-bit values, every boundary of rounding, tails.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/kernels/lanes_target.h"
#include "tests/support/layout.h"
#include "tests/support/numbers.h"

namespace openaclnn {

// Those that the build has, as its definitions say.
namespace baseline {
extern const test::LaneFunctions kLaneFunctions;
}
namespace avx2 {
extern const test::LaneFunctions kLaneFunctions;
}
namespace avx512 {
extern const test::LaneFunctions kLaneFunctions;
}

namespace test {

/// For GoogleTest, which looks it up by the argument.
void PrintTo(const LaneFunctions& functions, std::ostream* out) { *out << functions.name; }

namespace {

constexpr int kLanes = 16;

std::vector<LaneFunctions> MachineTargets() {
  std::vector<LaneFunctions> targets;
#if defined(LANES_BASELINE)
  targets.push_back(baseline::kLaneFunctions);
#endif
#if defined(LANES_AVX2)
  if (__builtin_cpu_supports("x86-64-v3")) targets.push_back(avx2::kLaneFunctions);
#endif
#if defined(LANES_AVX512)
  if (__builtin_cpu_supports("x86-64-v4")) targets.push_back(avx512::kLaneFunctions);
#endif
  return targets;
}

class Lanes : public testing::TestWithParam<LaneFunctions> {};

/// Equal bits, or both NaN.
bool Same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

/// Loads every 16-bit pattern in every lane's turn.
void ExpectLoads(const BinaryFormat& format, void (*load)(const uint16_t*, int64_t, float*)) {
  for (uint32_t first = 0; first < 65536; first += kLanes) {
    uint16_t from[kLanes];
    float to[kLanes];
    for (int i = 0; i < kLanes; ++i) from[i] = static_cast<uint16_t>(first + i);
    load(from, kLanes, to);
    for (int i = 0; i < kLanes; ++i) {
      ASSERT_TRUE(Same(to[i], static_cast<float>(Decode(format, from[i])))) << from[i];
    }
  }
}

TEST_P(Lanes, LoadEveryHalf) { ExpectLoads(kHalf, GetParam().load_half); }
TEST_P(Lanes, LoadEveryBFloat16) { ExpectLoads(kBFloat16, GetParam().load_bfloat16); }

void ExpectStores(const BinaryFormat& format, const std::vector<float>& values,
                  void (*store)(const float*, int64_t, uint16_t*)) {
  for (size_t first = 0; first + kLanes <= values.size(); first += kLanes) {
    uint16_t to[kLanes];
    store(&values[first], kLanes, to);
    for (size_t i = 0; i < kLanes; ++i) {
      const float value = values[first + i];
      ASSERT_EQ(to[i], Encode(format, value)) << std::bit_cast<uint32_t>(value);
    }
  }
}

/// Each value of the format, the middle between it and the next, and their neighbours on both
/// sides; infinities, NaNs of several payloads, and random bits.
std::vector<float> Boundaries(const BinaryFormat& format) {
  std::vector<float> values;
  const auto around = [&](float value) {
    values.push_back(value);
    values.push_back(std::nextafter(value, INFINITY));
    values.push_back(std::nextafter(value, -INFINITY));
  };
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const double value = Decode(format, bits);
    if (!std::isfinite(value)) continue;
    around(static_cast<float>(value));
    const double next = Decode(format, bits + 1);
    // Above the largest number the next would be 2^(max_exponent + 1).
    const double above =
        std::isfinite(next) ? next : std::copysign(std::ldexp(1.0, format.max_exponent + 1), value);
    around(static_cast<float>((value + above) / 2));
  }
  for (const uint32_t bits : {0x7F800000u, 0xFF800000u, 0x7FC00000u, 0x7F800001u, 0x7FFFFFFFu,
                              0xFF800001u, 0x7F80FFFFu, 0x7F7FFFFFu, 0x00000001u, 0x80000001u}) {
    values.push_back(std::bit_cast<float>(bits));
  }
  Random random(1);
  while (values.size() % kLanes != 0 || values.size() < 1'000'000) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random() >> 32)));
  }
  return values;
}

TEST_P(Lanes, StoreHalfRoundsToNearestEven) {
  ExpectStores(kHalf, Boundaries(kHalf), GetParam().store_half);
}
TEST_P(Lanes, StoreBFloat16RoundsToNearestEven) {
  ExpectStores(kBFloat16, Boundaries(kBFloat16), GetParam().store_bfloat16);
}

// Of a NaN only that it is one; of everything else each bit.
TEST_P(Lanes, ResultsHaveTheCanonicalNan) {
  const std::vector<float> values = Boundaries(kBFloat16);
  for (size_t first = 0; first + kLanes <= values.size(); first += kLanes) {
    float to[kLanes];
    GetParam().result(&values[first], to);
    for (size_t i = 0; i < kLanes; ++i) {
      const auto given = std::bit_cast<uint32_t>(values[first + i]);
      const uint32_t wanted = std::isnan(values[first + i]) ? 0x7FC00000u : given;
      ASSERT_EQ(std::bit_cast<uint32_t>(to[i]), wanted) << given;
    }
  }
}

/// Tails read and write exactly n elements: what follows is on neither side's account.
template <class T>
void ExpectTails(void (*load)(const T*, int64_t, float*), void (*store)(const float*, int64_t, T*),
                 T one) {
  for (int64_t n = 1; n <= kLanes; ++n) {
    std::vector<T> from(static_cast<size_t>(n), one);
    from.shrink_to_fit();  // AddressSanitizer watches the end
    float lanes[kLanes];
    load(from.data(), n, lanes);
    for (int64_t i = 0; i < kLanes; ++i) EXPECT_EQ(lanes[i], i < n ? 1.0f : 0.0f) << n;
    const float ones[kLanes] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    std::vector<T> to(2 * kLanes, T{7});
    store(ones, n, to.data());
    for (int64_t i = 0; i < 2 * kLanes; ++i) {
      EXPECT_EQ(to[static_cast<size_t>(i)], i < n ? one : T{7}) << n;
    }
  }
}

TEST_P(Lanes, TailsStopAtTheirEnd) {
  ExpectTails<float>(GetParam().load_float, GetParam().store_float, 1.0f);
  ExpectTails<uint16_t>(GetParam().load_half, GetParam().store_half, 0x3C00);
  ExpectTails<uint16_t>(GetParam().load_bfloat16, GetParam().store_bfloat16, 0x3F80);
}

TEST_P(Lanes, WhatLiesBeyondATailIsNamed) {
  const float rest = -INFINITY;
  for (int64_t n = 1; n < kLanes; ++n) {
    const std::vector<float> few(static_cast<size_t>(n), 3);
    const float all[kLanes] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    std::vector<uint8_t> bytes(static_cast<size_t>(n), 0x80);
    bytes[static_cast<size_t>(n) / 2] = 0;
    float loaded[kLanes], kept[kLanes], selected[kLanes];
    GetParam().load_rest(few.data(), n, rest, loaded);
    GetParam().until(all, n, rest, kept);
    GetParam().select_tail(bytes.data(), n, selected);
    for (int64_t i = 0; i < kLanes; ++i) {
      EXPECT_EQ(loaded[i], i < n ? 3 : rest) << n;
      EXPECT_EQ(kept[i], i < n ? 3 : rest) << n;
      EXPECT_EQ(selected[i], i < n && i != n / 2 ? 2 : 1) << n;
    }
  }
}

TEST_P(Lanes, LargestOfAnyLane) {
  for (int place = 0; place < kLanes; ++place) {
    float values[kLanes];
    for (int i = 0; i < kLanes; ++i) values[i] = static_cast<float>(-2 - i);
    values[place] = -1;
    EXPECT_EQ(GetParam().largest(values), -1) << place;
  }
}

// As the language's own operators do it, denormals, infinities and NaNs included.
TEST_P(Lanes, ArithmeticIsIeee) {
  Random random(2);
  for (int round = 0; round < 50000; ++round) {
    float a[kLanes], b[kLanes], sum[kLanes], quotient[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      a[i] = std::bit_cast<float>(static_cast<uint32_t>(random() >> 32));
      b[i] = round % 2 == 0 ? std::bit_cast<float>(static_cast<uint32_t>(random() >> 32))
                            : a[i] * static_cast<float>(Uniform(random, -3, 3));
    }
    GetParam().add(a, b, sum);
    GetParam().divide(a, b, quotient);
    for (int i = 0; i < kLanes; ++i) {
      ASSERT_TRUE(Same(sum[i], a[i] + b[i])) << a[i] << " + " << b[i];
      ASSERT_TRUE(Same(quotient[i], a[i] / b[i])) << a[i] << " / " << b[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Lanes, testing::ValuesIn(MachineTargets()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace test
}  // namespace openaclnn
