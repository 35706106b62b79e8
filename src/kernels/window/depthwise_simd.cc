// SPDX-License-Identifier: Apache-2.0
// Convolutions of single channels: the loops over lines, for one instruction set.
#include "kernels/gemm/gemm_pack-inl.h"
#include "kernels/window/depthwise.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

void LoadFloats(const void* from, int64_t step, int32_t dtype, Rounding rounding, int64_t n,
                float* to) {
  WithStored(dtype, [&](auto stored) {
    using T = decltype(stored);
    const auto* bytes = static_cast<const std::byte*>(from);
    for (int64_t j = 0; j < n; j += kGemmChunk) {
      const int64_t count = Least(kGemmChunk, n - j);
      Widen<T>(bytes + j * step * static_cast<int64_t>(sizeof(T)), step, count, to + j);
      Round(rounding, count, to + j);
    }
  });
}

/// Loads whole vectors, whose ends the next line or zeros overwrite. With stores that do the same,
/// 4 x 672 planes of 14 x 14 by 5 x 5 take 2.0 ms of a thread with AVX2; with parts they took 3.1.
void LoadLines(const PaddedLines& of) {
  WithStored(of.dtype, [&](auto stored) {
    using T = decltype(stored);
    const F32x16 zeros = F32x16::Broadcast(0.0f);
    for (int64_t line = 0; line < of.lines; ++line) {
      const T* const from = static_cast<const T*>(of.from) + line * of.from_step;
      float* const to = of.to + line * of.to_step;
      // Elements from here to the end of the last line.
      const int64_t there = (of.lines - 1 - line) * of.from_step + of.count;
      for (int64_t i = 0; i < of.count; i += kLanes) {
        const bool whole = there - i >= kLanes;
        (whole ? F32x16::Load(from + i) : F32x16::LoadTail(from + i, there - i)).Store(to + i);
      }
      if (of.rounding != Rounding::kNone) Round(of.rounding, of.count, to);
      for (int64_t i = of.count; i < of.to_step; i += kLanes) zeros.Store(to + i);
    }
  });
}

template <class T>
void StorePlaces(F32x16 sum, int64_t places, int64_t step, T* to) {
  const F32x16 result = sum.template AsResult<T>();
  if (step == 1) return places < kLanes ? result.StoreTail(to, places) : result.Store(to);
  T dense[kLanes];
  result.Store(dense);
  for (int64_t i = 0; i < Least(places, kLanes); ++i) to[i * step] = dense[i];
}

/// kLines lines at kVectors vectors of places: sums of products in the order of gemm.h, of each
/// pair of taps the second first.
template <class T, int kLines, int kVectors>
inline __attribute__((always_inline)) void Block(const DepthwiseLines& of, int64_t line,
                                                 int64_t place) {
  F32x16 sum[kLines][kVectors];
  const auto each = [&](auto&& body) __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int l = 0; l < kLines; ++l) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) body(sum[l][v], l, v);
    }
  };
  each([](F32x16& s, int, int) { s = F32x16::Broadcast(0.0f); });
  const float* const from = of.from + line * of.from_step + place;
  const auto add = [&](int64_t tap) __attribute__((always_inline)) {
    const F32x16 weight = F32x16::Broadcast(of.weights[tap]);
    const float* const at = from + of.offsets[tap];
    each([&](F32x16& s, int l, int v) {
      s = F32x16::MulAdd(weight, F32x16::Load(at + l * of.from_step + v * kLanes), s);
    });
  };
  for (int64_t tap = 0; tap + 2 <= of.taps; tap += 2) {
    add(tap + 1);
    add(tap);
  }
  if (of.taps % 2 != 0) add(of.taps - 1);
  if (of.adds) {
    const F32x16 bias = F32x16::Broadcast(of.bias);
    each([&](F32x16& s, int, int) { s = s + bias; });
  }
  // Lines that lie one behind the other, in one block: the next line overwrites what a whole vector
  // has behind the end of this one.
  const bool overwrites =
      place == 0 && of.places <= kVectors * kLanes && of.out_step == 1 && of.out_line == of.places;
  each([&](F32x16& s, int l, int v) {
    const int64_t at = place + v * kLanes;
    T* const to = static_cast<T*>(of.out) + (line + l) * of.out_line + at * of.out_step;
    const int64_t later = overwrites ? (of.lines - 1 - line - l) * of.places : 0;
    StorePlaces(s, of.places - at + later, of.out_step, to);
  });
}

template <class T, int kVectors>
void Columns(const DepthwiseLines& of, int64_t place) {
  // As many sums as the registers hold.
  constexpr int kLines = kVectors * kRegisters <= 2 ? 4 : 2;
  int64_t line = 0;
  for (; line + kLines <= of.lines; line += kLines) Block<T, kLines, kVectors>(of, line, place);
  if (kLines == 4 && line + 2 <= of.lines) Block<T, 2, kVectors>(of, line, place), line += 2;
  if (line < of.lines) Block<T, 1, kVectors>(of, line, place);
}

void Lines(const DepthwiseLines& of) {
  WithStored(of.dtype, [&](auto stored) {
    using T = decltype(stored);
    int64_t place = 0;
    for (; of.places - place > kLanes; place += 2 * kLanes) Columns<T, 2>(of, place);
    if (place < of.places) Columns<T, 1>(of, place);
  });
}

}  // namespace

extern const DepthwiseKernels kDepthwiseKernels = {LoadFloats, LoadLines, Lines};

}  // namespace openaclnn::OPENACLNN_TARGET
