// SPDX-License-Identifier: Apache-2.0
// Rectangles of every size of element about the length of a tile: each element, and nothing beside
// it.
#include "kernels/move/tile.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace openaclnn::test {
namespace {

using Memory = std::vector<std::byte>;

/// Bytes that are written to, one that is not before and behind each rectangle.
constexpr int64_t kGuard = 80;

struct Rectangle {
  int64_t rows, columns, bytes;
  int64_t from_row, from_column, to_row, to_column;  // in bytes
};

int64_t EndOf(const Rectangle& r, int64_t row, int64_t column) {
  return (r.rows - 1) * row + (r.columns - 1) * column + r.bytes;
}

void ExpectCopied(const Rectangle& r) {
  SCOPED_TRACE(testing::Message() << r.rows << " x " << r.columns << " of " << r.bytes << ", from "
                                  << r.from_row << ", " << r.from_column << " to " << r.to_row
                                  << ", " << r.to_column);
  std::minstd_rand random(7);
  Memory source(static_cast<size_t>(EndOf(r, r.from_row, r.from_column)));
  for (std::byte& each : source) each = static_cast<std::byte>(random() >> 8);
  Memory got(static_cast<size_t>(EndOf(r, r.to_row, r.to_column) + 2 * kGuard), std::byte{0x5A});
  Memory wanted = got;
  for (int64_t i = 0; i < r.rows; ++i) {
    for (int64_t j = 0; j < r.columns; ++j) {
      std::memcpy(wanted.data() + kGuard + i * r.to_row + j * r.to_column,
                  source.data() + i * r.from_row + j * r.from_column, static_cast<size_t>(r.bytes));
    }
  }
  CopyRectangle({source.data(), r.from_row, r.from_column},
                {got.data() + kGuard, r.to_row, r.to_column}, r.rows, r.columns, r.bytes);
  ASSERT_EQ(got, wanted);
}

TEST(Rectangle, TurnedRound) {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    const int64_t side = 64 / bytes;
    for (const int64_t rows : {int64_t{1}, side - 1, side, side + 3, 2 * side, 3 * side + 1}) {
      for (const int64_t columns : {int64_t{1}, side - 1, side, 2 * side + 5, 3 * side}) {
        if (rows == 0 || columns == 0) continue;
        ExpectCopied({rows, columns, bytes, bytes, (rows + 1) * bytes, columns * bytes, bytes});
        ExpectCopied({rows, columns, bytes, bytes, rows * bytes, (columns + 2) * bytes, bytes});
      }
    }
  }
}

TEST(Rectangle, WithGapsAndRepeated) {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    for (const int64_t rows : {1, 3, 64, 70, 130}) {
      for (const int64_t columns : {1, 2, 63, 64, 65, 129}) {
        const int64_t row = columns * 3 * bytes, column = rows * 3 * bytes;
        ExpectCopied({rows, columns, bytes, row, 2 * bytes, row, 3 * bytes});  // gaps in both
        ExpectCopied({rows, columns, bytes, row, bytes, row, bytes});          // dense in both
        ExpectCopied({rows, columns, bytes, 2 * bytes, column, bytes, column});
        ExpectCopied({rows, columns, bytes, bytes, 0, row, bytes});  // each row one element
        ExpectCopied({rows, columns, bytes, 0, bytes, row, bytes});  // equal rows
        ExpectCopied({rows, columns, bytes, bytes, 0, bytes, rows * bytes});
      }
    }
  }
}

TEST(Rectangle, OfNothing) {
  Memory memory(8, std::byte{0x5A});
  const Memory before = memory, source(8);
  for (const auto& [rows, columns] : {std::pair(0, 4), {4, 0}, {0, 0}}) {
    CopyRectangle({source.data(), 4, 4}, {memory.data(), 4, 4}, rows, columns, 4);
    CopyRectangle({source.data(), 4, 64}, {memory.data(), 64, 4}, rows, columns, 4);
    EXPECT_EQ(memory, before);
  }
}

}  // namespace
}  // namespace openaclnn::test
