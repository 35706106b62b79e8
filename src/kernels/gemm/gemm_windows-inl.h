// SPDX-License-Identifier: Apache-2.0
// Packs an operand that is windows of images. Elements are copied from the image straight to their
// place in a panel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/gemm/gemm_pack-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

/// A run of neighbouring places along the last axis.
struct WindowRun {
  int64_t count;     // of the places
  int64_t image;     // offset of their image
  int64_t begin[3];  // coordinates of tap 0 at the first place, times the divisor
};

/// The elements that a tap reads for a run. The `length` places first, first + divisor, first + 2
/// divisor, ... lie in the image, the first of them at `offset` in its channel. Others are zero.
struct WindowPiece {
  int64_t offset;
  int32_t count, first, length;  // runs are no longer than kTurnedPlaces
};

// Places of a column that are read and transposed at a time.
inline constexpr int64_t kTurnedPlaces = 4 * kGemmChunk;
// The most pieces that are computed at a time.
inline constexpr int64_t kMostPieces = 512;

/// Splits places [first, first + count) into at most `count` runs. Returns their number.
inline int64_t SplitPlaces(const GemmWindows& w, int64_t first, int64_t count, WindowRun* runs) {
  const auto& [z_axis, y_axis, x_axis] = w.axes;
  int64_t image = first / w.places, place = first % w.places;
  int64_t x = place % x_axis.out, line = place / x_axis.out;
  int64_t y = line % y_axis.out, z = line / y_axis.out;
  WindowRun* run = runs;
  for (int64_t done = 0; done < count; ++run) {
    run->count = Least(x_axis.out - x, count - done);
    run->image = image * w.image_step;
    run->begin[0] = z * z_axis.stride - z_axis.pad;
    run->begin[1] = y * y_axis.stride - y_axis.pad;
    run->begin[2] = x * x_axis.stride - x_axis.pad;
    done += run->count;
    x = 0;
    if (++y < y_axis.out) continue;
    y = 0;
    if (++z < z_axis.out) continue;
    z = 0;
    ++image;
  }
  return run - runs;
}

/// The offset of a coordinate along an axis. Sets `inside` to false if no element is there.
inline int64_t OffsetAlong(const GemmAxis& axis, int64_t at, bool* inside) {
  const bool whole = axis.divisor == 1 || at % axis.divisor == 0;
  if (axis.divisor != 1) at /= axis.divisor;
  if (whole && at >= 0 && at < axis.in) return at * axis.step;
  *inside = false;
  return 0;
}

/// Clips a piece to the places that a tap reads in the image: those for which (at + place * stride)
/// / divisor is a whole number in [0, in).
inline void ClipAlong(const GemmAxis& axis, int64_t at, WindowPiece* piece) {
  const int64_t count = piece->count;
  int64_t first = 0, end = count, length;
  if (axis.divisor != 1) {
    first = at <= 0 ? -at : (axis.divisor - at % axis.divisor) % axis.divisor;
    end = Least(axis.in * axis.divisor - at, count);
    length = first < end ? (end - first - 1) / axis.divisor + 1 : 0;
    if (length > 0) piece->offset += (at + first) / axis.divisor * axis.step;
  } else {
    if (at < 0) first = axis.stride == 1 ? -at : (-at + axis.stride - 1) / axis.stride;
    const int64_t room = axis.in - at;
    if (room <= 0) {
      end = 0;
    } else if (room <= (count - 1) * axis.stride) {
      end = axis.stride == 1 ? room : (room - 1) / axis.stride + 1;
    }
    length = first < end ? end - first : 0;
    if (length > 0) piece->offset += (at + first * axis.stride) * axis.step;
  }
  piece->first = static_cast<int32_t>(Least(first, count));
  piece->length = static_cast<int32_t>(length);
}

inline void Clip(const GemmWindows& w, int64_t tap, const WindowRun* runs, int64_t count,
                 WindowPiece* pieces) {
  const auto& [z_axis, y_axis, x_axis] = w.axes;
  const int64_t x = tap % x_axis.taps * x_axis.dilation, line = tap / x_axis.taps;
  const int64_t y = line % y_axis.taps * y_axis.dilation;
  const int64_t z = line / y_axis.taps * z_axis.dilation;
  for (int64_t i = 0; i < count; ++i) {
    const WindowRun& run = runs[i];
    const auto places = static_cast<int32_t>(run.count);
    bool inside = true;
    const int64_t offset = run.image + OffsetAlong(z_axis, run.begin[0] + z, &inside) +
                           OffsetAlong(y_axis, run.begin[1] + y, &inside);
    pieces[i] = {inside ? offset : 0, places, places, 0};
    if (inside) ClipAlong(x_axis, run.begin[2] + x, &pieces[i]);
  }
}

/// Calls put(index, offset of the channel, pieces) for all channels by taps [begin, end). Takes as
/// many taps at a time as kMostPieces allows, and for these goes channel by channel. After the taps
/// of a channel it calls finish(first index, count).
template <class Put, class Finish>
inline __attribute__((always_inline)) void ForTaps(const GemmWindows& w, int64_t begin, int64_t end,
                                                   const WindowRun* runs, int64_t count, Put&& put,
                                                   Finish&& finish) {
  if (begin >= end) return;  // there may be no taps
  WindowPiece pieces[kMostPieces];
  const int64_t taps = Least(w.taps, end - begin), channel = begin / w.taps;
  const int64_t at_once = kMostPieces / count;  // at least 1: there are at most kTurnedPlaces runs
  for (int64_t group = begin; group < begin + taps; group += at_once) {
    const int64_t size = Least(at_once, begin + taps - group);
    for (int64_t i = 0; i < size; ++i) {
      WindowPiece* const own = pieces + i * count;
      Clip(w, (group + i) % w.taps, runs, count, own);
      const int64_t later = (group + i) / w.taps - channel;
      for (int64_t r = 0; r < count; ++r) own[r].offset += later * w.channel_step;
    }
    int64_t offset = channel * w.channel_step;
    for (int64_t at = group; at < end; at += w.taps, offset += w.channel_step) {
      const int64_t left = Least(size, end - at);
      for (int64_t i = 0; i < left; ++i) put(at + i, offset, pieces + i * count);
      finish(at, left);
    }
  }
}

template <class Put>
inline __attribute__((always_inline)) void ForTaps(const GemmWindows& w, int64_t begin, int64_t end,
                                                   const WindowRun* runs, int64_t count,
                                                   Put&& put) {
  ForTaps(w, begin, end, runs, count, std::forward<Put>(put), [](int64_t, int64_t) {});
}

/// Copies n elements. A call of memcpy would take longer than most of these copies.
template <class T>
inline __attribute__((always_inline)) void CopyRun(const T* from, int64_t n, T* to) {
  for (; n >= 16; n -= 16, from += 16, to += 16) std::memcpy(to, from, 16 * sizeof(T));
  if ((n & 8) != 0) std::memcpy(to, from, 8 * sizeof(T)), from += 8, to += 8;
  if ((n & 4) != 0) std::memcpy(to, from, 4 * sizeof(T)), from += 4, to += 4;
  if ((n & 2) != 0) std::memcpy(to, from, 2 * sizeof(T)), from += 2, to += 2;
  if ((n & 1) != 0) *to = *from;
}

/// Writes n zeros.
template <class T>
inline __attribute__((always_inline)) void ZeroRun(int64_t n, T* to) {
  for (; n >= 16; n -= 16, to += 16) std::memset(to, 0, 16 * sizeof(T));
  if ((n & 8) != 0) std::memset(to, 0, 8 * sizeof(T)), to += 8;
  if ((n & 4) != 0) std::memset(to, 0, 4 * sizeof(T)), to += 4;
  if ((n & 2) != 0) std::memset(to, 0, 2 * sizeof(T)), to += 2;
  if ((n & 1) != 0) *to = T{};
}

/// Reads the elements of a channel for all pieces.
template <class T>
inline __attribute__((always_inline)) void ReadPieces(const GemmAxis& axis, const T* channel,
                                                      const WindowPiece* pieces, int64_t count,
                                                      T* to) {
  const int64_t step = axis.stride * axis.step;
  for (const WindowPiece* piece = pieces; piece != pieces + count; to += piece->count, ++piece) {
    const T* from = channel + piece->offset;
    if (piece->length < piece->count) ZeroRun(piece->count, to);
    T* const inside = to + piece->first;
    if (axis.divisor != 1) {
      for (int64_t i = 0; i < piece->length; ++i) inside[i * axis.divisor] = from[i * axis.step];
    } else if (step == 1) {
      CopyRun(from, piece->length, inside);
    } else {
      for (int64_t i = 0; i < piece->length; ++i) inside[i] = from[i * step];
    }
  }
}

/// Reads the elements of a channel for all pieces, as floats. There are at most kMost places.
template <class T, int64_t kMost>
inline void ReadFloats(const GemmAxis& axis, const T* channel, const WindowPiece* pieces,
                       int64_t count, int64_t places, float* to) {
  if constexpr (std::is_same_v<T, float>) {
    ReadPieces(axis, channel, pieces, count, to);
  } else {
    alignas(64) T dense[kMost < kGemmChunk ? kGemmChunk : kMost];
    ReadPieces(axis, channel, pieces, count, dense);
    for (int64_t at = 0; at < places; at += kGemmChunk) {
      Widen<T>(reinterpret_cast<const std::byte*>(dense + at), 1, Least(kGemmChunk, places - at),
               to + at);
    }
  }
}

inline void RoundAll(Rounding rounding, int64_t n, float* values) {
  if (rounding == Rounding::kNone) return;
  for (int64_t at = 0; at < n; at += kGemmChunk) {
    Round(rounding, Least(kGemmChunk, n - at), values + at);
  }
}

/// Packs panels whose columns are places.
inline void PackPlaces(const Gemm& gemm, const void* b, const GemmPart& part,
                       const GemmPacked& packed) {
  WithStored(gemm.b.dtype, [&](auto stored) {
    using T = decltype(stored);
    const T* const image = static_cast<const T*>(b);
    const GemmAxis& axis = gemm.windows.axes[2];
    WindowRun runs[kTileColumns];
    for (int64_t p = part.panel_begin; p < part.panel_end; ++p) {
      const Panel panel(gemm, packed, p);
      const int64_t count = SplitPlaces(gemm.windows, p * kTileColumns, panel.columns, runs);
      ForTaps(
          gemm.windows, part.term_begin, part.term_end, runs, count,
          [&](int64_t term, int64_t channel, const WindowPiece* pieces) {
            ReadFloats<T, kTileColumns>(axis, image + channel, pieces, count, panel.columns,
                                        panel.Term(term));
          },
          // Rounding comes after all stores of the channel: a vector load right after partial
          // stores of the same bytes would wait for them.
          [&](int64_t term, int64_t terms) {
            RoundAll(gemm.b.rounding, terms * panel.columns, panel.Term(term));
          });
    }
  });
}

/// Packs panels whose columns are channels by taps.
inline void PackTaps(const Gemm& gemm, const void* b, const GemmPart& part,
                     const GemmPacked& packed) {
  alignas(64) float rows[kTileColumns * kTurnedPlaces];
  WindowRun runs[kTurnedPlaces];
  WithStored(gemm.b.dtype, [&](auto stored) {
    using T = decltype(stored);
    const T* const images = static_cast<const T*>(b);
    for (int64_t q = part.term_begin; q < part.term_end; q += kTurnedPlaces) {
      const int64_t n = Least(kTurnedPlaces, part.term_end - q);
      const int64_t count = SplitPlaces(gemm.windows, q, n, runs);
      for (int64_t p = part.panel_begin; p < part.panel_end; ++p) {
        const Panel panel(gemm, packed, p);
        const int64_t first = p * kTileColumns;
        ForTaps(gemm.windows, first, first + panel.columns, runs, count,
                [&](int64_t column, int64_t channel, const WindowPiece* pieces) {
                  ReadFloats<T, kTurnedPlaces>(gemm.windows.axes[2], images + channel, pieces,
                                               count, n, rows + (column - first) * kTurnedPlaces);
                });
        RoundAll(gemm.b.rounding, panel.columns * kTurnedPlaces, rows);
        Transpose(rows, kTurnedPlaces, panel.columns, n, panel.Term(q), panel.step);
      }
    }
  });
}

inline void PackWindows(const Gemm& gemm, const void* b, const GemmPart& part,
                        const GemmPacked& packed) {
  gemm.b.transposed ? PackTaps(gemm, b, part, packed) : PackPlaces(gemm, b, part, packed);
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
