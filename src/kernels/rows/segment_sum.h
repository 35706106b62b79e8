// SPDX-License-Identifier: Apache-2.0
// Segment sums: each row of the output is the sum of a segment of rows of the input.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/index/hits.h"
#include "kernels/move/strided.h"
#include "kernels/rows/row_sum.h"
#include "kernels/simd/stream.h"
#include "kernels/work/parallel.h"

namespace openaclnn {

/// Segments of more rows than this are cut into units of as many, which threads share; 1,024 is a
/// power of two times 64, so that the cuts fall between subtrees.
inline constexpr int64_t kUnitRows = 1024;

/// A part of a long segment, whose sum waits in the scratch until the output row is written.
struct SumUnit {
  int64_t begin, end;
};

/// Decisions that are frozen when the call is planned.
struct SegmentSumPlan {
  const RowSumKernels* kernels;
  const StreamKernels* streams;
  RowView from, to;
  int64_t width;
  int32_t from_dtype, to_dtype;
  bool divide_by_count;  // the mean of a segment instead of its sum
  bool streams_rows;     // rows go past the caches, if the first one begins with a cache line
  bool streams_zeros;    // zero rows do, wherever they begin
  bool narrow;           // dense rows of few columns, of one type
  int64_t max_units;

  SegmentSumPlan() = default;
  /// `positions`: how many rows all segments have together. A segment of more than kUnitRows has
  /// fewer than twice rows / kUnitRows units.
  SegmentSumPlan(const RowView& from, int32_t dtype, const Operand& to, int64_t positions,
                 bool divide_by_count);

  uint64_t scratch_bytes() const;
};

/// The ends of the segments [row, row + ends.size()) that lie at most `most` behind `begin`,
/// counted from there; how many those are.
template <class Segments>
int64_t EndsOneByOne(const Segments& segments, int64_t row, int64_t begin, int64_t most,
                     std::span<int64_t> ends) {
  const auto rows = static_cast<int64_t>(ends.size());
  int64_t count = 0;
  for (int64_t end = begin; count < rows; ++count) {
    end = segments.End(row + count, end);
    if (end - begin > most) break;
    ends[count] = end - begin;
  }
  return count;
}

/// Segments of equally many rows.
struct EqualSegments {
  int64_t rows;

  int64_t Begin(int64_t segment) const { return segment * rows; }
  int64_t End(int64_t, int64_t begin) const { return begin + rows; }
  int64_t Ends(int64_t row, int64_t begin, int64_t most, std::span<int64_t> ends) const {
    return EndsOneByOne(*this, row, begin, most, ends);
  }
};

/// One run. Position p of the segments is row p of the input, or, with hits, row hits[p].token.
class SegmentSum {
 public:
  SegmentSum(const SegmentSumPlan& plan, const void* from, void* to, void* scratch,
             const Hit* hits);

  /// Says that [begin, end) is a segment, if it is a long one. In ascending order, before Run.
  void AddLongSegment(int64_t begin, int64_t end);

  /// Writes rows [0, rows) of the output; row v is the segment [Begin(v), End(v, Begin(v))), and
  /// Begin(rows) the number of positions; Ends is EndsOneByOne. The work is cut by shape and
  /// segments alone.
  template <class Segments>
  void Run(int64_t rows, const Segments& segments) {
    if (plan_.width == 0 || rows == 0) return;
    positions_ = segments.Begin(rows);
    const int64_t touched = rows + positions_;
    const bool is_long = touched * plan_.width / kBlockElements >= kLongBlocks;
    if (num_units_ > 0) ParallelFor(num_units_, is_long, [&](int64_t unit) { SumOneUnit(unit); });
    const int64_t blocks =
        BlockCount(touched * plan_.width, kBlockElements, rows < kMaxBlocks ? rows : kMaxBlocks);
    ParallelFor(blocks, is_long, [&](int64_t block) {
      const int64_t row = FirstRow(rows, segments, BlockBegin(touched, blocks, block));
      const int64_t last = FirstRow(rows, segments, BlockBegin(touched, blocks, block + 1));
      plan_.narrow ? WriteNarrowRows(row, last, segments) : WriteRows(row, last, segments);
      if (streams_zeros_) EndStreams();
    });
  }

 private:
  // Elements of input and output that a block touches: enough to be worth waking a thread for.
  static constexpr int64_t kBlockElements = 32768;
  static constexpr int64_t kMaxBlocks = 256;
  static constexpr int64_t kNarrowRows = 256;  // rows of the output that are written at a time

  /// The first row v with v + Begin(v) >= target: blocks then touch about as many rows each.
  template <class Segments>
  static int64_t FirstRow(int64_t rows, const Segments& segments, int64_t target) {
    int64_t low = 0, high = rows;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (middle + segments.Begin(middle) < target) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /// Addresses of rows at the positions of a block, which ends at `end`: many at a time, so that
  /// those behind a segment are known while it is summed, and asked for.
  class Window {
   public:
    Window(const SegmentSum& sum, int64_t end);
    /// The sum of [begin, end), at most kUnitRows, without its columns.
    RowSum Sum(int64_t begin, int64_t end);

   private:
    const SegmentSum& sum_;
    int64_t limit_;                 // no position from here on is needed
    int64_t first_ = 0, last_ = 0;  // positions that rows_ has
    const std::byte* rows_[kUnitRows + kRowsAhead];
  };

  template <class Segments>
  void WriteRows(int64_t row, int64_t last, const Segments& segments) const {
    int64_t begin = segments.Begin(row);
    Window window(*this, segments.Begin(last));
    for (; row < last; ++row) {
      const int64_t end = segments.End(row, begin);
      WriteRow(row, begin, end, window);
      begin = end;
    }
  }

  /// Many at a time: what a row costs beside its elements is as much as they cost. Speeds against
  /// one at a time, 64 columns on one thread and two of a Zen 4: 1.3.
  template <class Segments>
  void WriteNarrowRows(int64_t row, int64_t last, const Segments& segments) const {
    Window window(*this, segments.Begin(last));
    for (int64_t begin = segments.Begin(row); row < last;) {
      int64_t room[kNarrowRows];
      const std::span<int64_t> rows(room, std::min(kNarrowRows, last - row));
      const std::span<int64_t> ends = rows.first(segments.Ends(row, begin, kUnitRows, rows));
      if (ends.empty()) {
        const int64_t end = segments.End(row, begin);
        WriteLongRow(row++, begin, end);
        begin = end;
      } else {
        WriteNarrow(row, begin, ends, window);
        row += static_cast<int64_t>(ends.size());
        begin += ends.back();
      }
    }
  }

  void SumOneUnit(int64_t unit) const;
  void WriteRow(int64_t row, int64_t begin, int64_t end, Window& window) const;
  void WriteNarrow(int64_t row, int64_t begin, std::span<const int64_t> ends, Window& window) const;
  void WriteLongRow(int64_t row, int64_t begin, int64_t end) const;
  void Store(const float* acc, int64_t width, float divisor, std::byte* out) const;
  float* Partial(int64_t unit) const { return partials_ + unit * plan_.width; }
  float Divisor(int64_t count) const;
  std::byte* Out(int64_t row, int64_t column) const;

  const SegmentSumPlan& plan_;
  void* from_;
  void* to_;
  const Hit* hits_;
  SumUnit* units_;
  float* partials_;  // one row of `width` for each unit
  bool streams_rows_, streams_zeros_;
  int64_t num_units_ = 0;
  int64_t positions_ = 0;  // of all segments
};

}  // namespace openaclnn
