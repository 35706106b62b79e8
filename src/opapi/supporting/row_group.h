// SPDX-License-Identifier: Apache-2.0
// Some neighbouring rows of a view as dense memory, whatever the view's strides.
#pragma once

#include <vector>

#include "kernels/move/tile.h"
#include "kernels/work/divide_up.h"
#include "supporting/along.h"

namespace openaclnn::supporting {

/// Rows whose elements are far apart lie next to each other in memory, as columns of a matrix do:
/// several are copied at once, so that each cache line is touched once.
class RowGroup {
 public:
  static constexpr int64_t kRows = 16;

  /// `count` rows of `width` elements from `first` on.
  RowGroup(const Rows& rows, std::byte* origin, int64_t first, int64_t count, int64_t width)
      : rows_(rows), origin_(origin), first_(first), count_(count), width_(width) {
    if (!dense()) memory_.resize(static_cast<size_t>(count * width * rows.bytes));
  }

  bool dense() const { return rows_.step == rows_.bytes || width_ <= 1; }
  /// A row's elements, which follow each other.
  std::byte* Row(int64_t i) {
    if (dense()) return rows_.At(origin_, first_ + i);
    return memory_.data() + i * width_ * rows_.bytes;
  }

  void Fetch() {
    Move([&](std::byte* view, int64_t step, std::byte* own, int64_t count) {
      CopyRectangle({view, step, rows_.step}, {own, width_ * rows_.bytes, rows_.bytes}, count,
                    width_, rows_.bytes);
    });
  }
  void Flush() {
    Move([&](std::byte* view, int64_t step, std::byte* own, int64_t count) {
      CopyRectangle({own, rows_.bytes, width_ * rows_.bytes}, {view, rows_.step, step}, width_,
                    count, rows_.bytes);
    });
  }

 private:
  /// Calls move(the view's row, the step from row to row, own row, rows): all at once where they
  /// are steps of one length.
  template <class Body>
  void Move(const Body& move) {
    if (dense()) return;
    const int64_t step = rows_.offsets.step();
    if (step != 0) return move(rows_.At(origin_, first_), step * rows_.bytes, Row(0), count_);
    for (int64_t i = 0; i < count_; ++i) move(rows_.At(origin_, first_ + i), 0, Row(i), 1);
  }

  const Rows& rows_;
  std::byte* origin_;
  int64_t first_, count_, width_;
  std::vector<std::byte> memory_;
};

/// Runs body(first, count) for groups of so many rows, in blocks that are worth a thread.
template <class Body>
void ParallelRowGroups(int64_t rows, int64_t width, int64_t together, const Body& body) {
  const int64_t groups = DivideUp(rows, together);
  ParallelRows(groups, width * together, [&](int64_t group) {
    const int64_t first = group * together;
    body(first, std::min(together, rows - first));
  });
}

}  // namespace openaclnn::supporting
