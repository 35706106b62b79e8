// SPDX-License-Identifier: Apache-2.0
// Several views as one: broadcast to a common shape and walked together, a short run at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ascendcl/data_type.h"
#include "common/short_vector.h"
#include "frame/operand.h"
#include "kernels/move/strided.h"
#include "kernels/work/divide_up.h"
#include "kernels/work/parallel.h"

namespace openaclnn {

using Shape = ShortVector<int64_t, kMaxRank>;

inline Shape ShapeOf(const Operand& operand) {
  return {operand.tensor().dims, operand.tensor().dims + operand.rank()};
}

/// Products of dimensions and strides may leave int64_t in views without elements, where they are
/// not used: they wrap.
inline int64_t WrappingProduct(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// Elements of a shape that some view has.
inline int64_t CountOf(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) count = WrappingProduct(count, dim);
  return count;
}

/// False when the shapes do not fit each other. *shape begins as one and becomes that of both.
bool BroadcastShape(const Operand& operand, Shape* shape);

/// A view as a walk sees it: strides in bytes, 0 where it is broadcast.
struct Steps {
  /// Throws std::logic_error where the operand has more dimensions than the shape.
  Steps(const Shape& shape, const Operand& operand);
  explicit Steps(Shape steps) : bytes(std::move(steps)) {}
  Shape bytes;
};

class Walk {
 public:
  static constexpr size_t kMaxViews = 6;
  using Pointers = std::array<std::byte*, kMaxViews>;

  Walk() = default;
  /// Neighbouring dimensions along which all views step alike are joined. Throws std::logic_error
  /// for more dimensions or views than there is room for.
  Walk(const Shape& shape, const std::vector<Steps>& views);
  /// The operands must be broadcastable to the shape. The elements of the last one are visited in
  /// the order of its memory.
  Walk(const Shape& shape, std::span<const Operand* const> operands);

  int64_t count() const { return count_; }
  /// Bytes between neighbours of a run.
  int64_t step(size_t view) const { return steps_[view][rank_ - 1]; }

  /// Calls body(pointers, n) for runs of at most `longest` elements, in blocks that are worth a
  /// thread.
  template <class Body>
  void ForRuns(const Pointers& origins, const Body& body, int64_t longest = kRun) const {
    if (count_ == 0) return;
    const int64_t blocks = BlockCount(count_, kBlockElements, kMaxBlocks);
    ParallelFor(blocks, [&](int64_t block) {
      ForRunsOf(BlockBegin(count_, blocks, block), BlockBegin(count_, blocks, block + 1), longest,
                origins, body);
    });
  }

  /// Calls body as ForRuns does, in order, on the calling thread.
  template <class Body>
  void ForRunsInOrder(const Pointers& origins, const Body& body, int64_t longest = kRun) const {
    if (count_ > 0) ForRunsOf(0, count_, longest, origins, body);
  }

  static constexpr int64_t kRun = 512;

  /// A dimension that is not that of the runs, along which a view's elements are next to each other
  /// while those of a run are not, as in a transposed matrix.
  std::optional<uint32_t> Across(size_t view, int64_t element_bytes) const;
  /// Bytes between neighbours along such a dimension.
  int64_t step_across(size_t view, uint32_t across) const { return steps_[view][across]; }

  /// Calls body(pointers, rows, columns) for rectangles of at most as many rows, which are along
  /// the dimension `across`, and columns, which are parts of runs.
  template <class Body>
  void ForTiles(const Pointers& origins, uint32_t across, int64_t most_rows, int64_t most_columns,
                const Body& body) const {
    if (count_ == 0) return;
    const int64_t height = dims_[across], width = dims_[rank_ - 1];
    const int64_t down = DivideUp(height, most_rows), along = DivideUp(width, most_columns);
    const int64_t tiles = count_ / (height * width) * down * along;
    const int64_t blocks = std::min(tiles, BlockCount(count_, kBlockElements, kMaxBlocks));
    ParallelFor(blocks, [&](int64_t block) {
      const int64_t end = BlockBegin(tiles, blocks, block + 1);
      for (int64_t tile = BlockBegin(tiles, blocks, block); tile < end; ++tile) {
        const int64_t row = tile / along % down * most_rows, column = tile % along * most_columns;
        Pointers pointers = PointersAt(tile / along / down, column, origins, across);
        for (size_t view = 0; view < views_; ++view) pointers[view] += row * steps_[view][across];
        body(pointers, std::min(most_rows, height - row), std::min(most_columns, width - column));
      }
    });
  }

  /// Calls body for elements [begin, end), in runs of at most `longest`, on the calling thread.
  template <class Body>
  void ForRunsOf(int64_t begin, int64_t end, int64_t longest, const Pointers& origins,
                 const Body& body) const {
    const int64_t width = dims_[rank_ - 1];
    for (int64_t index = begin; index < end;) {
      const int64_t column = index % width;
      const int64_t n = std::min({width - column, end - index, longest});
      body(PointersAt(index / width, column, origins), n);
      index += n;
    }
  }

 private:
  static constexpr int64_t kBlockElements = 16384;
  static constexpr int64_t kMaxBlocks = 1024;

  /// step_of(view, i): that of the view along dimension i of the shape, in bytes.
  template <class StepOf>
  void Join(const Shape& shape, const StepOf& step_of);
  /// Rows count the dimensions outside of the runs; `without` is one that stays at 0.
  Pointers PointersAt(int64_t row, int64_t column, const Pointers& origins,
                      uint32_t without = kMaxRank) const;

  size_t views_ = 0;
  uint32_t rank_ = 1;
  int64_t count_ = 0;
  std::array<int64_t, kMaxRank> dims_{};
  std::array<std::array<int64_t, kMaxRank>, kMaxViews> steps_{};  // in bytes
};

}  // namespace openaclnn
