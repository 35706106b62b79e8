// SPDX-License-Identifier: Apache-2.0
// Rectangles of elements, copied from memory of one order to that of another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace openaclnn {

/// Where a rectangle lies: element 0, and what is between rows and between columns, in bytes.
template <class Byte>
struct Grid {
  Byte* at;
  int64_t row, column;
};

/// Elements have 1, 2, 4, 8 or 16 bytes at any address. Where rows are dense in the source and
/// columns in the target, whole tiles are transposed in registers.
void CopyRectangle(const Grid<const std::byte>& from, const Grid<std::byte>& to, int64_t rows,
                   int64_t columns, int64_t element_bytes);

}  // namespace openaclnn
