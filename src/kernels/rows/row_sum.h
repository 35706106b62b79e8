// SPDX-License-Identifier: Apache-2.0
// Sums of rows, by the one tree: at most 64 rows in sequence, then chunks pairwise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/simd/target.h"

namespace openaclnn {

/// Columns that one call covers: an accumulator of 8 KiB stays in the first-level cache beside the
/// rows that stream through it, and each piece of a row starts the hardware's prefetching anew.
/// Speeds on one thread of a Zen 4, where rows are long: 1,024 0.86 to 0.97; 4,096 0.93 to 1.13,
/// least where the sums have few rows.
inline constexpr int64_t kTileWidth = 2048;

/// Rows behind those of a sum whose addresses it should know, so that they can be asked for.
inline constexpr int64_t kRowsAhead = 64;

/// The sum of `count` rows over columns [column, column + width). `rows` are the addresses of
/// element 0 of rows whose elements lie `step` apart.
struct RowSum {
  const std::byte* const* rows;
  int64_t count;
  int64_t known;  // rows whose addresses are there: those from `count` on will be summed next
  int64_t column;
  int64_t width;  // at most kTileWidth
  int64_t step;
  int32_t dtype;  // FLOAT, FLOAT16 or BFLOAT16
};

/// Columns that narrow rows have at least: whole lanes.
inline constexpr int64_t kLeastNarrowWidth = 16;

/// Segments of dense rows, one behind the other: segment s is rows [ends[s - 1], ends[s]).
struct SegmentRows {
  RowSum rows;
  const int64_t* ends;
  std::byte* const* out;  // of each segment, dense, of the rows' type
  int64_t count;
  bool divide_by_count;  // the means instead of the sums
};

/// The loops that are compiled for each instruction set.
struct RowSumKernels {
  void (*sum)(const RowSum& sum, float* acc);
  /// acc[j] += term[j]
  void (*add)(const float* term, int64_t width, float* acc);
  /// out[j] = acc[j] / divisor, rounded to dtype
  void (*store)(const float* acc, int64_t width, float divisor, int32_t dtype, void* out);
  /// Stores past the caches, up to EndStreams, where the processor can; `out` is whole cache lines.
  void (*stream)(const float* acc, int64_t width, float divisor, int32_t dtype, void* out);
  /// Sums of many segments of rows of kLeastNarrowWidth to `narrow_width` columns; without rows,
  /// zeros.
  int64_t narrow_width;
  void (*narrow)(const SegmentRows& segments);
  void (*stream_narrow)(const SegmentRows& segments);  // the same, as `stream`
};
OPENACLNN_TARGET_DECLARE(extern const RowSumKernels kRowSumKernels)

}  // namespace openaclnn
