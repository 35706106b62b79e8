// SPDX-License-Identifier: Apache-2.0
// Pieces of rows of float, compiled once for each instruction set.
#include "kernels/exp-inl.h"
#include "kernels/float_math-inl.h"
#include "kernels/lanes-inl.h"
#include "kernels/largest-inl.h"
#include "kernels/softmax_rows.h"
#include "kernels/sum-inl.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

static_assert(kSoftmaxPiece == kSumBlock);

float ExpRow(const float* x, float shift, int64_t n, float* y) {
  const F32x16 all = F32x16::Broadcast(shift);
  if (n < kLanes) {
    float few[kLanes];
    all.Store(few);
    CopyTail(x, n, few);
    ExpOfNonPositive(F32x16::Load(few) - all).StoreTail(y, n);
    return F32x16::LoadTail(y, n).Sum();
  }
  return Sum(
      n, [&](int64_t j, auto lanes) __attribute__((always_inline)) {
        lanes.Store(ExpOfNonPositive(lanes.Load(x + j) - all), y + j);
        return lanes.Load(y + j);
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
