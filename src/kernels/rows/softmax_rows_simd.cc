// SPDX-License-Identifier: Apache-2.0
// Pieces of rows of float, compiled once for each instruction set.
#include "kernels/rows/softmax_rows.h"
#include "kernels/rows/sum-inl.h"
#include "kernels/simd/exp-inl.h"
#include "kernels/simd/float_math-inl.h"
#include "kernels/simd/lanes-inl.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

static_assert(kSoftmaxPiece == kSumBlock);

// The largest of x[0 … n - 1]. A NaN may or may not count: the exponentials of the row have it
// either way.
float Largest(const float* x, int64_t n) {
  if (n < kLanes) return F32x16::LoadTail(x, n, -__builtin_inff()).Largest();
  constexpr int kAtOnce = 4;
  F32x16 largest[kAtOnce];
  // Elements may be met twice: it is the same largest one.
  for (F32x16& each : largest) each = F32x16::Load(x + n - kLanes);
  int64_t j = 0;
  for (; j + kAtOnce * kLanes <= n; j += kAtOnce * kLanes) {
    for (int k = 0; k < kAtOnce; ++k) {
      largest[k] = F32x16::Max(largest[k], F32x16::Load(x + j + k * kLanes));
    }
  }
  for (; j + kLanes <= n; j += kLanes) {
    largest[0] = F32x16::Max(largest[0], F32x16::Load(x + j));
  }
  return F32x16::Max(F32x16::Max(largest[0], largest[1]), F32x16::Max(largest[2], largest[3]))
      .Largest();
}

float ExpRow(const float* x, float shift, int64_t n, float* y) {
  const F32x16 all = F32x16::Broadcast(shift);
  return Sum(
      n, [&](int64_t j, auto lanes) __attribute__((always_inline)) {
        const F32x16 e = lanes.Fill(ExpOfNonPositive(lanes.Load(x + j) - all), 0);
        lanes.Store(e, y + j);
        return e;
      });
}

void Scale(const float* x, float factor, int64_t n, float* y) {
  const F32x16 all = F32x16::Broadcast(factor);
  ForLanes(n, [&](int64_t j, auto lanes) {
    lanes.Store((lanes.Load(x + j) * all).template AsResult<float>(), y + j);
  });
}

void Subtract(const float* x, float shift, float more, int64_t n, float* y) {
  const F32x16 first = F32x16::Broadcast(shift), second = F32x16::Broadcast(more);
  ForLanes(n, [&](int64_t j, auto lanes) {
    lanes.Store((lanes.Load(x + j) - first - second).template AsResult<float>(), y + j);
  });
}

float SumRow(const float* x, int64_t n) {
  return Sum(n, [&](int64_t j, auto lanes) { return lanes.Load(x + j); });
}

float SumOfProducts(const float* x, const float* y, int64_t n) {
  return Sum(n, [&](int64_t j, auto lanes) { return lanes.Load(x + j) * lanes.Load(y + j); });
}

void SoftmaxGradient(const float* g, const float* y, float sum, int64_t n, float* dx) {
  const F32x16 all = F32x16::Broadcast(sum);
  ForLanes(n, [&](int64_t j, auto lanes) {
    const F32x16 value = lanes.Load(y + j) * (lanes.Load(g + j) - all);
    lanes.Store(value.AsResult<float>(), dx + j);
  });
}

void LogSoftmaxGradient(const float* g, const float* y, float sum, int64_t n, float* dx) {
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) {
    const float value = g[j] - Exp(y[j]) * sum;
    dx[j] = value == value ? value : __builtin_nanf("");
  }
}

}  // namespace

extern const SoftmaxKernels<float> kFloatSoftmax = {
    Largest, ExpRow, Scale, Subtract, SumRow, SumOfProducts, SoftmaxGradient, LogSoftmaxGradient,
};

}  // namespace openaclnn::OPENACLNN_TARGET
