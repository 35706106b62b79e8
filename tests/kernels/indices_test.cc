// SPDX-License-Identifier: Apache-2.0
// Indices of every type to rows: each 16-bit float, each byte, and the limits of the wide types.
#include "kernels/index/indices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "tests/support/device.h"
#include "tests/support/numbers.h"
#include "tests/support/tables.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

/// The row of a value, or -1, by the rule: truncated toward zero, then in [0, limit).
int64_t RowOf(double value, double limit) {
  const double whole = std::trunc(value);
  return whole >= 0 && whole < limit ? static_cast<int64_t>(whole) : -1;
}

/// Reads one dense view of `values` elements in host memory.
Status Read(aclDataType dtype, const void* values, int64_t count, uint64_t limit,
            std::vector<int64_t>* rows) {
  const TensorHandle tensor({.dims = {count}, .dtype = dtype});
  const Input operand("indices", tensor.get());
  rows->assign(static_cast<size_t>(count), -7);
  return ReadIndices("indices", IndexView(operand), values, limit, rows->data());
}

/// One value at a time, so that each bad one is seen.
void ExpectRow(aclDataType dtype, const void* value, uint64_t limit, int64_t row) {
  std::vector<int64_t> rows;
  const Status status = Read(dtype, value, 1, limit, &rows);
  if (row >= 0) {
    ASSERT_TRUE(status.ok()) << status.text();
    ASSERT_EQ(rows[0], row);
  } else {
    ASSERT_EQ(status.code(), 507035);
  }
}

TEST(ReadIndices, EveryHalf) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    for (const uint64_t limit : {uint64_t{1}, uint64_t{300}, uint64_t{1} << 20}) {
      ExpectRow(ACL_FLOAT16, &half, limit, RowOf(Decode(kHalf, bits), static_cast<double>(limit)));
    }
  }
}

TEST(ReadIndices, EveryByte) {
  for (int number = 0; number < 256; ++number) {
    const auto byte = static_cast<uint8_t>(number);
    for (const uint64_t limit : {1, 100, 200, 1000}) {
      const auto below = static_cast<double>(limit);
      ExpectRow(ACL_UINT8, &byte, limit, RowOf(number, below));
      ExpectRow(ACL_INT8, &byte, limit, RowOf(static_cast<int8_t>(byte), below));
      ExpectRow(ACL_BOOL, &byte, limit, RowOf(number != 0 ? 1 : 0, below));
    }
  }
}

TEST(ReadIndices, LimitsOfWideTypes) {
  constexpr uint64_t kLargest = INT64_MAX;
  for (const int64_t value : {int64_t{0}, int64_t{-1}, INT64_MIN, INT64_MAX, INT64_MAX - 1,
                              int64_t{1} << 32, (int64_t{1} << 32) + 1}) {
    ExpectRow(ACL_INT64, &value, 2, value == 0 ? 0 : -1);
    ExpectRow(ACL_INT64, &value, kLargest, value >= 0 && value < INT64_MAX ? value : -1);
  }
  for (const double value : {0.0, -0.0, -0.999999999, -1.0, -1.5, 0x1p62, 0x1p63, 0x1p64, -0x1p63,
                             1e308, 0x1p-1074, 4294967296.5}) {
    ExpectRow(ACL_DOUBLE, &value, kLargest, RowOf(value, 0x1p63));
  }
  for (const float value : {16777216.0f, 0x1p62f, 0x1p63f, -0x1p-149f, 2.9999998f}) {
    ExpectRow(ACL_FLOAT, &value, kLargest, RowOf(value, 0x1p63));
    ExpectRow(ACL_FLOAT, &value, 3, RowOf(value, 3));
  }
}

/// The value that the message names reads back as it was, and is outside the range beside it.
template <class T>
void ExpectShown(aclDataType dtype, T value, uint64_t limit) {
  std::vector<int64_t> rows;
  const std::string text = Read(dtype, &value, 1, limit, &rows).text();
  const std::string before = "indices value 0 is ";
  const std::string after = ", expected 0 <= value < " + std::to_string(limit);
  ASSERT_EQ(text.find(before), 0u) << text << " for " << value;
  ASSERT_EQ(text.find(after), text.size() - after.size()) << text;
  const std::string shown = text.substr(before.size(), text.size() - before.size() - after.size());
  EXPECT_EQ(static_cast<T>(std::strtod(shown.c_str(), nullptr)), value) << text;
  const long double number = std::strtold(shown.c_str(), nullptr);  // as exact as 64 bits
  EXPECT_TRUE(number <= -1 || number >= static_cast<long double>(limit)) << text;
}

TEST(ReadIndices, ShowsAFloatThatIsOutOfRange) {
  for (const uint64_t limit : {uint64_t{1}, uint64_t{3}, uint64_t{2049}, uint64_t{1'000'001},
                               uint64_t{16'777'217}, uint64_t{1} << 60, uint64_t{INT64_MAX}}) {
    for (const double past : {0.0, 0.5, 1e-3, 1.0, 1e6, 1e18, 1e30}) {
      const double value = static_cast<double>(limit) + past;
      ExpectShown(ACL_DOUBLE, value, limit);
      ExpectShown(ACL_DOUBLE, std::nextafter(value, INFINITY), limit);
      ExpectShown(ACL_DOUBLE, -1 - past, limit);
      ExpectShown(ACL_DOUBLE, std::nextafter(-1 - past, -INFINITY), limit);
      const float narrow = std::nextafter(static_cast<float>(value), INFINITY);
      ExpectShown(ACL_FLOAT, narrow, limit);
      ExpectShown(ACL_FLOAT, std::nextafter(static_cast<float>(-1 - past), -INFINITY), limit);
    }
  }
  const uint16_t half = 0x6801;  // 2050
  std::vector<int64_t> rows;
  EXPECT_EQ(Read(ACL_FLOAT16, &half, 1, 2049, &rows).text(),
            "indices value 0 is 2050, expected 0 <= value < 2049");
}

TEST(ReadIndices, OverBlocksNamesTheFirst) {
  const Device device;
  std::vector<int32_t> values(1'000'000, 4);
  std::vector<int64_t> rows;
  ASSERT_TRUE(Read(ACL_INT32, values.data(), 1'000'000, 5, &rows).ok());
  EXPECT_EQ(rows, std::vector<int64_t>(1'000'000, 4));
  std::fill(values.begin() + 508'000, values.end(), -3);
  values[508'000] = 5;
  const Status status = Read(ACL_INT32, values.data(), 1'000'000, 5, &rows);
  EXPECT_EQ(status.text(), "indices value 508000 is 5, expected 0 <= value < 5");
}

TEST(ReadIndices, FollowsStrides) {
  const std::vector<int16_t> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const TensorHandle tensor({.dims = {2, 3}, .dtype = ACL_INT16, .strides = Dims{-1, 4}});
  const Input operand("indices", tensor.get());
  std::vector<int64_t> rows(6);
  ASSERT_TRUE(ReadIndices("indices", IndexView(operand), &values[1], 12, rows.data()).ok());
  EXPECT_EQ(rows, (std::vector<int64_t>{1, 5, 9, 0, 4, 8}));
}

}  // namespace
}  // namespace openaclnn::test
