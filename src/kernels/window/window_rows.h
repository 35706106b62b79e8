// SPDX-License-Identifier: Apache-2.0
// Rows of places of windows: their sums and maxima are made of lines, all places at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/simd/target.h"

namespace openaclnn {

/// Rows are rounded up to a multiple of this number; whoever calls has room for all of it.
inline constexpr int64_t kWindowLanes = 16;

/// Weighted sums of lines, place by place: each line's taps are added in turn, one by one.
struct WindowSums {
  const double* const* lines;
  const double* line_weights;
  int64_t line_count;
  const int64_t* offsets;   // of the taps in a line: tap t of place i is line[offsets[t] + i]
  const double* weights;    // of tap t at place i: weights[t * pitch + i]; null: all are 1
  int64_t taps, pitch;      // pitch is a multiple of kWindowLanes
  const double* divisors;   // of the places; null: sums are not divided
  double line_divisor = 1;  // which each of those is multiplied by
  double* out;
};

/// Largest elements of one line, place by place: the first of equals counts; NaN is the largest.
struct WindowMaxima {
  const float* line;       // -infinity where a tap has no element
  const int64_t* offsets;  // as of WindowSums
  int64_t taps, pitch;
  const int32_t* numbers;  // of the places' taps 0; those behind them count up by `step`
  int32_t step;
  const int32_t* first;  // the number of a place's first element
  float* largest;
  int32_t* number;
};

/// Rows of sums, of which row 0 has the first tap of a row of windows: `pitch` sums each, those of
/// the padding before the elements too.
struct WindowTargets {
  const int32_t* numbers;  // of elements in their plane, which has rows of `width`
  int64_t places;
  int32_t width, top;  // top: the number of row 0, which may be negative
  int32_t high, wide;  // taps
  int32_t stride, pad, pitch;
  int32_t none;  // what stands for an element outside of its window
  int32_t* targets;
};

/// Weighted sums of FLOAT elements anywhere: tap t of place i is at from + offsets[t * places + i],
/// in bytes, and its weight is at the same place. Taps are added in turn.
struct TakenSums {
  const std::byte* from;
  const int64_t* offsets;
  const double* weights;
  int64_t taps, places;
  double* out;
};

/// Codes are read and written so many words at a time.
inline constexpr int64_t kCodeWords = 8;

/// The loops that are compiled for each instruction set.
struct WindowRowKernels {
  void (*sums)(const WindowSums& sums);
  void (*maxima)(const WindowMaxima& maxima);
  /// Joins the largest elements of a later line, whose numbers grow by `base`, to `largest`.
  void (*join)(const float* line, const int32_t* line_number, int32_t base, int64_t pitch,
               float* largest, int32_t* number);
  /// Sets byte k of codes[b] to `code` where bit k of bytes[b] is set, for `count` of them, rounded
  /// up to kCodeWords. Tells whether one of those was set before.
  bool (*codes)(const uint8_t* bytes, uint8_t code, int64_t count, uint64_t* codes);
  /// Finds the sums of the elements that are the maxima of a row of windows.
  void (*targets)(const WindowTargets& of);
  /// Tells whether all sums are numbers.
  bool (*taken)(const TakenSums& of);
};
OPENACLNN_TARGET_DECLARE(extern const WindowRowKernels kWindowRowKernels)

}  // namespace openaclnn
