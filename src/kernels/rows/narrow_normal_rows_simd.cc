// SPDX-License-Identifier: Apache-2.0
// Rows that are normalised to results of 16 bits, compiled once for each instruction set.
#include "kernels/rows/normal_rows.h"
#include "kernels/simd/lanes-inl.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

/// Weights or biases: of each element, or one of all.
struct OfEach {
  explicit OfEach(const float* all) : values(all) {}
  template <class At>
  __attribute__((always_inline)) F32x16 Of(int64_t i, const At& lanes) const {
    return lanes.Load(values + i);
  }
  const float* values;
};

struct OfAll {
  explicit OfAll(const float* one) : value(F32x16::Broadcast(*one)) {}
  template <class At>
  __attribute__((always_inline)) F32x16 Of(int64_t, const At&) const {
    return value;
  }
  F32x16 value;
};

F32x16 All(double value) { return F32x16::Broadcast(static_cast<float>(value)); }

struct Normal {
  explicit Normal(const NormalRow<float>& row)
      : x(row.x),
        mean(All(row.mean)),
        rest(All(row.mean - static_cast<float>(row.mean))),
        rstd(All(row.rstd)) {}

  /// The elements from i on.
  template <class At>
  __attribute__((always_inline)) F32x16 Of(int64_t i, const At& lanes) const {
    return (lanes.Load(x + i) - mean - rest) * rstd;
  }

  const float* x;
  F32x16 mean, rest, rstd;
};

/// y[i] = f(i, lanes). Whether all of it is finite.
template <class Function>
__attribute__((always_inline)) inline bool Store(int64_t n, float* y, const Function& function) {
  F32x16 zero = F32x16::Broadcast(0.0f);  // or NaN
  ForLanes(
      n, [&](int64_t i, auto lanes) __attribute__((always_inline)) {
        const F32x16 result = function(i, lanes);
        zero = zero + (result - result);
        lanes.Store(result, y + i);
      });
  return zero.Sum() == 0;
}

template <class Weights>
bool NormalizeBy(const NormalRow<float>& row, const float* biases, int64_t n, float* y) {
  const Normal normal(row);
  const Weights weight(row.weight), bias(biases);
  return Store(
      n, y, [=](int64_t i, auto lanes) __attribute__((always_inline)) {
        return normal.Of(i, lanes) * weight.Of(i, lanes) + bias.Of(i, lanes);
      });
}

bool Normalize(const NormalRow<float>& row, const float* bias, int64_t n, float* y) {
  if (row.one_weight) return NormalizeBy<OfAll>(row, bias, n, y);
  return NormalizeBy<OfEach>(row, bias, n, y);
}

template <class Weights>
bool GradientBy(const NormalRow<float>& row, const float* g, double all_shift, double all_slope,
                int64_t n, float* dx) {
  const Normal normal(row);
  const Weights weight(row.weight);
  const F32x16 shift = All(all_shift), slope = All(all_slope);
  return Store(
      n, dx, [=](int64_t i, auto lanes) __attribute__((always_inline)) {
        const F32x16 weighted = lanes.Load(g + i) * weight.Of(i, lanes);
        return (weighted - shift - normal.Of(i, lanes) * slope) * normal.rstd;
      });
}

bool Gradient(const NormalRow<float>& row, const float* g, double shift, double slope, int64_t n,
              float* dx) {
  if (row.one_weight) return GradientBy<OfAll>(row, g, shift, slope, n, dx);
  return GradientBy<OfEach>(row, g, shift, slope, n, dx);
}

}  // namespace

extern const NarrowNormalKernels kNarrowNormalKernels = {Normalize, Gradient};

}  // namespace openaclnn::OPENACLNN_TARGET
