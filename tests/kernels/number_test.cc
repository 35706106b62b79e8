// SPDX-License-Identifier: Apache-2.0
// Elements of every type as numbers and back: each 16-bit float, and the ends of every integer.
#include "kernels/number/number.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/layout.h"
#include "tests/support/numbers.h"

namespace openaclnn::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr aclDataType kIntegers[] = {ACL_INT8,  ACL_UINT8,  ACL_INT16, ACL_UINT16,
                                     ACL_INT32, ACL_UINT32, ACL_INT64, ACL_BOOL};

template <class T>
T LoadOne(aclDataType dtype, const void* from) {
  T value{};
  LoaderOf<T>(dtype)(static_cast<const std::byte*>(from), 0, 1, &value);
  return value;
}

template <class T>
uint16_t StoreOne(aclDataType dtype, T value) {
  uint16_t bits = 0;
  StorerOf<T>(dtype)(&value, 1, reinterpret_cast<std::byte*>(&bits), 0);
  return bits;
}

float HalfToFloat(uint16_t bits) { return LoadOne<float>(ACL_FLOAT16, &bits); }
float BFloatToFloat(uint16_t bits) { return LoadOne<float>(ACL_BF16, &bits); }
uint16_t FloatToHalf(float value) { return StoreOne(ACL_FLOAT16, value); }
uint16_t FloatToBFloat(float value) { return StoreOne(ACL_BF16, value); }

TEST(Number, OfEverySixteenBits) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto narrow = static_cast<uint16_t>(bits);
    const double half = Decode(kHalf, bits), bfloat = Decode(kBFloat16, bits);
    if (std::isnan(half)) {
      EXPECT_TRUE(std::isnan(HalfToFloat(narrow)) &&
                  std::isnan(HalfToFloat(FloatToHalf(HalfToFloat(narrow)))));
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(HalfToFloat(narrow)),
                std::bit_cast<uint32_t>(static_cast<float>(half)));
      ASSERT_EQ(FloatToHalf(HalfToFloat(narrow)), narrow);
    }
    if (std::isnan(bfloat)) {
      EXPECT_TRUE(std::isnan(BFloatToFloat(narrow)) &&
                  std::isnan(BFloatToFloat(FloatToBFloat(BFloatToFloat(narrow)))));
    } else {
      ASSERT_EQ(BFloatToFloat(narrow), static_cast<float>(bfloat));
      ASSERT_EQ(FloatToBFloat(BFloatToFloat(narrow)), narrow);
    }
  }
}

// Around every boundary of either format, and anywhere.
TEST(Number, RoundsToNearestTiesToEven) {
  const auto expect = [](float value) {
    ASSERT_EQ(FloatToHalf(value), Encode(kHalf, value)) << value;
    ASSERT_EQ(FloatToBFloat(value), Encode(kBFloat16, value)) << value;
  };
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    for (const BinaryFormat& format : {kHalf, kBFloat16}) {
      const double low = Decode(format, bits), high = Decode(format, (bits + 1) & 0xFFFF);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const auto middle = static_cast<float>((low + high) / 2);
      expect(middle);
      expect(std::nextafterf(middle, INFINITY));
      expect(std::nextafterf(middle, -INFINITY));
    }
  }
  for (const float value : {65519.99f, 65520.0f, 0x1.fffffep127f, 0x1p-149f, INFINITY}) {
    expect(value);
    expect(-value);
  }
  Random random(1);
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(value)) expect(value);
  }
}

// Beside the middle of two neighbours by less than a float can tell, in wider types.
TEST(Number, RoundsWiderTypesOnce) {
  const auto expect = [](aclDataType dtype, const BinaryFormat& format, auto value) {
    ASSERT_EQ(StoreOne(dtype, value), Encode(format, static_cast<double>(value)))
        << dtype << " " << value;
  };
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    for (const auto& [dtype, format] : {std::pair{ACL_FLOAT16, kHalf}, {ACL_BF16, kBFloat16}}) {
      const double low = Decode(format, bits), high = Decode(format, (bits + 1) & 0xFFFF);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = (low + high) / 2;
      for (const double value : {middle, middle * (1 + 0x1p-40), middle * (1 - 0x1p-40)}) {
        expect(dtype, format, value);
        // Integers that double holds.
        if (std::abs(value) < 0x1p62) expect(dtype, format, static_cast<int64_t>(value));
      }
    }
  }
  for (const double value : {65519.99999999, 65520.0, 0x1.fffffffp127, 1e300, 1e-300}) {
    expect(ACL_FLOAT16, kHalf, value);
    expect(ACL_BF16, kBFloat16, -value);
  }
  const auto stored = [](int64_t value) { return StoreOne(ACL_BF16, value); };
  constexpr int64_t kMiddle = (int64_t{1} << 61) + (int64_t{1} << 53);  // of 2^61 and the next
  for (const int64_t sign : {1, -1}) {
    EXPECT_EQ(stored(sign * kMiddle), stored(sign * (int64_t{1} << 61)));
    EXPECT_EQ(stored(sign * (kMiddle + 1)), stored(sign * ((int64_t{1} << 61) + kMiddle / 128)));
  }
}

/// What a value is once it has been stored in a type.
template <class T>
int64_t Stored(aclDataType dtype, T value) {
  alignas(8) std::byte bytes[8] = {};
  StorerOf<T>(dtype)(&value, 1, bytes, 0);
  return LoadOne<int64_t>(dtype, bytes);
}

TEST(Number, OfEveryIntegerAtItsEnds) {
  for (const aclDataType dtype : kIntegers) {
    SCOPED_TRACE(dtype);
    const size_t bits = 8 * aclDataTypeSize(dtype);
    for (const int64_t value : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{127}, int64_t{128},
                                int64_t{255}, int64_t{32768}, int64_t{1} << 31, int64_t{1} << 32,
                                (int64_t{1} << 53) + 1, INT64_MAX, INT64_MIN}) {
      const uint64_t low = static_cast<uint64_t>(value) & (~uint64_t{0} >> (64 - bits));
      const bool is_signed = dtype == ACL_INT8 || dtype == ACL_INT16 || dtype == ACL_INT32;
      const int64_t wanted = dtype == ACL_BOOL ? value != 0
                             : bits == 64      ? value
                             : is_signed && (low >> (bits - 1)) != 0
                                 ? static_cast<int64_t>(low) - (int64_t{1} << bits)
                                 : static_cast<int64_t>(low);
      EXPECT_EQ(Stored<int64_t>(dtype, value), wanted) << value;
    }
  }
}

TEST(Number, ToIntegersTowardZero) {
  for (const aclDataType dtype : kIntegers) {
    if (dtype == ACL_BOOL) continue;
    EXPECT_EQ(Stored(dtype, 2.99), 2);
    EXPECT_EQ(Stored(dtype, 100.5f), 100);
    EXPECT_EQ(Stored(dtype, kNaN), 0);
    EXPECT_EQ(Stored(dtype, -0.75), 0);
  }
  EXPECT_EQ(Stored(ACL_INT8, -2.99), -2);
  EXPECT_EQ(Stored(ACL_UINT8, 256.0), 0);
  EXPECT_EQ(Stored(ACL_INT64, kInfinity), INT64_MAX);
  EXPECT_EQ(Stored(ACL_INT64, -1e300), INT64_MIN);
  EXPECT_EQ(Stored(ACL_INT64, 0x1p63), INT64_MAX);
  EXPECT_EQ(Stored(ACL_INT64, -0x1p63), INT64_MIN);
}

TEST(Number, RealsAsIntegers) {
  const auto load = [](double value) { return LoadOne<int64_t>(ACL_DOUBLE, &value); };
  EXPECT_EQ(load(-2.99), -2);
  EXPECT_EQ(load(kNaN), 0);
  EXPECT_EQ(load(kInfinity), INT64_MAX);
  EXPECT_EQ(load(-0x1p63), INT64_MIN);
  const uint16_t infinity = 0x7C00;
  EXPECT_EQ(LoadOne<int64_t>(ACL_FLOAT16, &infinity), INT64_MAX);
}

TEST(Number, OfBooleansIsWhetherTheyAreNotZero) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto stored = static_cast<uint8_t>(byte);
    EXPECT_EQ(LoadOne<int64_t>(ACL_BOOL, &stored), byte != 0);
    EXPECT_EQ(LoadOne<double>(ACL_BOOL, &stored), byte != 0);
  }
  EXPECT_EQ(Stored(ACL_BOOL, 0.001), 1);
  EXPECT_EQ(Stored(ACL_BOOL, -0.0), 0);
  EXPECT_EQ(Stored(ACL_BOOL, kNaN), 1);
}

// Rows with any distance between elements; what lies between stays.
TEST(Number, RowsOfAnyStep) {
  constexpr int64_t kCount = 19;
  std::vector<aclDataType> dtypes(std::begin(kIntegers), std::end(kIntegers));
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE}) {
    dtypes.push_back(dtype);
  }
  for (const aclDataType dtype : dtypes) {
    const auto size = static_cast<int64_t>(aclDataTypeSize(dtype));
    for (const int64_t step : {size, 2 * size, 5 * size, -size}) {
      SCOPED_TRACE(testing::Message() << dtype << " " << step);
      std::vector<std::byte> memory(static_cast<size_t>(11 * kCount * size), std::byte{0x5A});
      std::byte* const origin = &memory[static_cast<size_t>(5 * kCount * size)];
      std::vector<double> values, got(kCount);
      for (int64_t i = 0; i < kCount; ++i) values.push_back(static_cast<double>(i % 2 + i / 9));
      StorerOf<double>(dtype)(values.data(), kCount, origin, step);
      LoaderOf<double>(dtype)(origin, step, kCount, got.data());
      for (size_t i = 0; i < kCount; ++i) {
        const double wanted = dtype == ACL_BOOL ? static_cast<double>(values[i] != 0) : values[i];
        EXPECT_EQ(got[i], wanted) << i;
      }
      for (int64_t i = 0; i < kCount; ++i) {
        std::fill_n(origin + i * step, size, std::byte{0x5A});
      }
      EXPECT_EQ(memory, std::vector<std::byte>(memory.size(), std::byte{0x5A}));
    }
  }
}

TEST(Number, DomainOfEachType) {
  EXPECT_EQ(DomainOf(ACL_DOUBLE), Domain::kDouble);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    EXPECT_EQ(DomainOf(dtype), Domain::kFloat);
  }
  for (const aclDataType dtype : kIntegers) EXPECT_EQ(DomainOf(dtype), Domain::kInteger);
}

}  // namespace
}  // namespace openaclnn::test
