// SPDX-License-Identifier: Apache-2.0
// The loops of NsaCompressGrad, compiled once for each instruction set.
#include "kernels/lanes-inl.h"
#include "nsa_compress/backward/op.h"

namespace openaclnn::nsa_compress::backward::OPENACLNN_TARGET {
namespace {

using openaclnn::OPENACLNN_TARGET::BFloat16;
using openaclnn::OPENACLNN_TARGET::F32x16;
using openaclnn::OPENACLNN_TARGET::Float16;
using openaclnn::OPENACLNN_TARGET::ForLanes;
using openaclnn::OPENACLNN_TARGET::kLanes;

template <class T>
const T* At(const std::byte* base, int64_t bytes) {
  return reinterpret_cast<const T*>(base + bytes);
}

/// dx[n,:] = w[0][n] * dy[0][n,:] + w[1][n] * dy[1][n,:] + …, added in that order.
template <class T>
void TokenGradient(const TokenGrad& token) {
  for (int64_t n = 0; n < token.heads; ++n) {
    T* dx = reinterpret_cast<T*>(token.dx + n * token.dx_head);
    for (int64_t j = 0; j < token.width; j += kLanes) {
      F32x16 sum = F32x16::Broadcast(token.w[0][n]) *
                   F32x16::Load(At<T>(token.dy[0], n * token.dy_head) + j);
      for (int64_t k = 1; k < token.count; ++k) {
        const F32x16 dy = F32x16::Load(At<T>(token.dy[k], n * token.dy_head) + j);
        sum = F32x16::MulAdd(F32x16::Broadcast(token.w[k][n]), dy, sum);
      }
      sum.Store(dx + j);
    }
  }
}

// Rows of dw that share the loads of dy; their sums do not wait for each other.
constexpr int64_t kRowsAtOnce = 4;

/// sums[r] += x[start + r,:] * dy, lane by lane, for kRowsAtOnce rows. Where kAsk, it asks
/// meanwhile for as many rows of the next window: a head's part of a token is too short for the
/// hardware to fetch ahead. Speeds against not asking, on one thread of a Zen 4: 1.08 to 1.26.
template <bool kAsk, class T>
void AddProducts(const float* dy, const std::byte* x, const std::byte* next, int64_t x_token,
                 int64_t width, F32x16* sums) {
  F32x16 sum[kRowsAtOnce];
  for (int r = 0; r < kRowsAtOnce; ++r) sum[r] = sums[r];
  for (int64_t j = 0; j < width; j += kLanes) {
    const F32x16 d = F32x16::Load(dy + j);
    if (kAsk && j % (2 * kLanes) == 0) {
      constexpr int kSecondLevel = 2;
      for (int r = 0; r < kRowsAtOnce; ++r) {
        __builtin_prefetch(At<T>(next, r * x_token) + j, /*rw=*/0, kSecondLevel);
      }
    }
    for (int r = 0; r < kRowsAtOnce; ++r) {
      sum[r] = F32x16::MulAdd(F32x16::Load(At<T>(x, r * x_token) + j), d, sum[r]);
    }
  }
  for (int r = 0; r < kRowsAtOnce; ++r) sums[r] = sum[r];
}

template <class T>
void HeadGradient(const HeadGrad& head, float* out) {
  F32x16 sums[kMaxBlock];
  float dy[kMaxWidth];
  for (int64_t r = 0; r < head.block; ++r) sums[r] = F32x16::Broadcast(0.0f);
  for (int64_t i = 0; i < head.windows; ++i) {
    const T* row = At<T>(head.dy, i * head.dy_window);
    for (int64_t j = 0; j < head.width; j += kLanes) F32x16::Load(row + j).Store(dy + j);
    const std::byte* x = head.x + head.starts[i] * head.x_token;
    const std::byte* next = head.x + head.starts[i + 1] * head.x_token;
    const int64_t shared = head.block - (head.starts[i + 1] - head.starts[i]);
    for (int64_t r = 0; r < head.block; r += kRowsAtOnce) {
      const int64_t at = r * head.x_token;
      r < shared ? AddProducts<false, T>(dy, x + at, next + at, head.x_token, head.width, sums + r)
                 : AddProducts<true, T>(dy, x + at, next + at, head.x_token, head.width, sums + r);
    }
  }
  for (int64_t r = 0; r < head.block; ++r) out[r] = sums[r].Sum();
}

template <class T>
void Widen(const void* from, int64_t n, float* to) {
  ForLanes(n, [&](int64_t j, auto lanes) {
    lanes.Store(lanes.Load(static_cast<const T*>(from) + j), to + j);
  });
}

template <class T>
void Narrow(const float* from, int64_t n, void* to) {
  ForLanes(n, [&](int64_t j, auto lanes) {
    lanes.Store(lanes.Load(from + j), static_cast<T*>(to) + j);
  });
}

template <class T>
constexpr Kernels kTable = {TokenGradient<T>, HeadGradient<T>, Widen<T>, Narrow<T>};

}  // namespace

extern const Kernels kFloat16Kernels = kTable<Float16>;
extern const Kernels kBFloat16Kernels = kTable<BFloat16>;

}  // namespace openaclnn::nsa_compress::backward::OPENACLNN_TARGET
