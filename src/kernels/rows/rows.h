// SPDX-License-Identifier: Apache-2.0
// Row operators: work on one dense row at a time, in blocks of rows.
#pragma once

#include <algorithm>

#include "kernels/move/strided.h"
#include "kernels/work/parallel.h"

namespace openaclnn {

/// Runs body(begin, end) for blocks of rows of `width` elements that are worth a thread; each row
/// is in one.
template <class Body>
void ParallelRowBlocks(int64_t rows, int64_t width, const Body& body) {
  constexpr int64_t kBlockElements = 32768;
  // Cost of a row beside its elements, in elements: a masked softmax takes 40 ns for 16, 65 for 64,
  // 100 for 128.
  constexpr int64_t kRowElements = 64;
  constexpr int64_t kMaxBlocks = 1024;
  if (rows == 0) return;
  int64_t elements = 0;  // of rows that are broadcast there may be any number
  if (__builtin_add_overflow(width, kRowElements, &elements) ||
      __builtin_mul_overflow(rows, elements, &elements)) {
    elements = INT64_MAX;
  }
  const int64_t worth = BlockCount(elements, kBlockElements, kMaxBlocks);
  const int64_t blocks = std::min(rows, worth);
  ParallelFor(blocks, worth >= kLongBlocks, [&](int64_t block) {
    body(BlockBegin(rows, blocks, block), BlockBegin(rows, blocks, block + 1));
  });
}

/// Runs body(row) for each row, and done() at the end of each block.
template <class Body, class Done>
void ParallelRows(int64_t rows, int64_t width, const Body& body, const Done& done) {
  ParallelRowBlocks(rows, width, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) body(row);
    done();
  });
}

template <class Body>
void ParallelRows(int64_t rows, int64_t width, const Body& body) {
  ParallelRows(rows, width, body, [] {});
}

/// Runs body(row, room) for each row; a block's rows share a room, of which they use the memory
/// again: to allocate and clear 8 KB for each row took a sixth of layer_norm in BFLOAT16.
template <class Room, class Body>
void ParallelRowsIn(int64_t rows, int64_t width, const Body& body) {
  ParallelRowBlocks(rows, width, [&](int64_t begin, int64_t end) {
    Room room;
    for (int64_t row = begin; row < end; ++row) body(row, &room);
  });
}

/// A row of a view as dense memory: the row itself where its elements follow each other, else a
/// copy, which Flush writes back.
template <int64_t kMaxBytes>
class DenseRow {
 public:
  DenseRow(const RowView& view, void* origin, int64_t row, int64_t n)
      : view_(view), place_(view.Row(origin, row)), n_(n) {}

  const std::byte* In() {
    if (view_.step == 1) return place_;
    CopyStrided(place_, view_.step, packed_, 1, n_, view_.element_bytes);
    return packed_;
  }

  std::byte* Out() { return view_.step == 1 ? place_ : packed_; }

  void Flush() {
    if (view_.step == 1) return;
    CopyStrided(packed_, 1, place_, view_.step, n_, view_.element_bytes);
  }

 private:
  const RowView& view_;
  std::byte* place_;
  int64_t n_;
  alignas(64) std::byte packed_[kMaxBytes];
};

}  // namespace openaclnn
