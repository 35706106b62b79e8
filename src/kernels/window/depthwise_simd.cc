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
  each([&](F32x16& s, int l, int v) {
    const int64_t at = place + v * kLanes;
    T* const to = static_cast<T*>(of.out) + (line + l) * of.out_line + at * of.out_step;
    StorePlaces(s, of.places - at, of.out_step, to);
  });
}

template <class T, int kVectors>
void Columns(const DepthwiseLines& of, int64_t place) {
  constexpr int kLines = 4;
  int64_t line = 0;
  for (; line + kLines <= of.lines; line += kLines) Block<T, kLines, kVectors>(of, line, place);
  for (; line < of.lines; ++line) Block<T, 1, kVectors>(of, line, place);
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

extern const DepthwiseKernels kDepthwiseKernels = {LoadFloats, Lines};

}  // namespace openaclnn::OPENACLNN_TARGET
