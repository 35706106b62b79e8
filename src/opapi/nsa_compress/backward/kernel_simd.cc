// SPDX-License-Identifier: Apache-2.0
// The loops of NsaCompressGrad, compiled once for each instruction set.
#include "kernels/simd/lanes-inl.h"
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

// Tokens that share the loads of dy; as many as there are registers for.
constexpr int64_t kAtOnce = openaclnn::OPENACLNN_TARGET::kRegisters == 1 ? 4 : 2;

/// kAtOnce tokens of one head.
struct Tokens {
  const float* dy[kMaxOver];
  const float* w[kMaxOver];
  float* sums[kMaxOver];
  const std::byte* x;
  const std::byte* ahead;
  std::byte* dx;
};

/// Sixteen elements of dx. Where kStream they go past the caches.
template <bool kStream, class T>
void StoreGrad(F32x16 grad, T* to) {
  kStream ? grad.Stream(to) : grad.Store(to);
}

/// The tokens and their windows from `first` on: the last kSums of kOver (of kSums, where kOver is
/// 0) add to sums, all kOver make dx. What lies ahead is asked for meanwhile: a head's part of a
/// token is too short for the hardware to fetch ahead. Speeds against not asking, on one thread of
/// a Zen 4: 1.08 to 2. All tokens are read before one is written: with a multiple of 4 KiB from
/// token to token, loads of the next wait for stores of the one before. Speed against that: 1.5.
template <int kSums, int kOver, bool kStream, class T>
inline __attribute__((always_inline)) void RunTokens(const Granule& granule, const Tokens& tokens,
                                                     int64_t first) {
  constexpr int kWindows = kOver > kSums ? kOver : kSums;
  constexpr int kBefore = kWindows - kSums;
  constexpr int kSecondLevel = 2;
  const int64_t width = granule.width, x_token = granule.x_token, dx_token = granule.dx_token;
  if (granule.count < first + kWindows) __builtin_unreachable();  // of no more were tokens made
  const float* dy_rows[kWindows];
  float* sums[kSums];
  for (int k = 0; k < kWindows; ++k) dy_rows[k] = tokens.dy[first + k];
  for (int k = 0; k < kSums; ++k) sums[k] = tokens.sums[first + kBefore + k];
  F32x16 sum[kAtOnce][kSums], w[kAtOnce][kWindows];
#pragma GCC unroll 4
  for (int r = 0; r < kAtOnce; ++r) {
#pragma GCC unroll 4
    for (int k = 0; k < kSums; ++k) sum[r][k] = F32x16::Load(sums[k] + r * kLanes);
#pragma GCC unroll 4
    for (int k = 0; k < kOver; ++k) {
      w[r][k] = F32x16::Broadcast(tokens.w[first + k][r * granule.w_token]);
    }
  }
  for (int64_t j = 0; j < width; j += kLanes) {
    const auto at = static_cast<int64_t>(j * sizeof(T));
    F32x16 x[kAtOnce], dy[kWindows];
#pragma GCC unroll 4
    for (int k = 0; k < kWindows; ++k) dy[k] = F32x16::Load(dy_rows[k] + j);
#pragma GCC unroll 4
    for (int r = 0; r < kAtOnce; ++r) {
      __builtin_prefetch(tokens.ahead + r * x_token + at, /*rw=*/0, kSecondLevel);
      x[r] = F32x16::Load(At<T>(tokens.x, r * x_token + at));
    }
#pragma GCC unroll 4
    for (int r = 0; r < kAtOnce; ++r) {
#pragma GCC unroll 4
      for (int k = 0; k < kSums; ++k) sum[r][k] = F32x16::MulAdd(x[r], dy[kBefore + k], sum[r][k]);
      if constexpr (kOver > 0) {
        F32x16 dx = w[r][0] * dy[0];
#pragma GCC unroll 4
        for (int k = 1; k < kOver; ++k) dx = F32x16::MulAdd(w[r][k], dy[k], dx);
        StoreGrad<kStream>(dx, reinterpret_cast<T*>(tokens.dx + r * dx_token + at));
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kAtOnce; ++r) {
#pragma GCC unroll 4
    for (int k = 0; k < kSums; ++k) sum[r][k].Store(sums[k] + r * kLanes);
  }
}

/// dx[n,:] = w[0][n] * dy[0][n,:] + w[1][n] * dy[1][n,:] + …, added in that order.
template <bool kStream, class T>
void WriteTokens(const Granule& granule, const Tokens& tokens) {
  for (int64_t r = 0; r < kAtOnce; ++r) {
    T* dx = reinterpret_cast<T*>(tokens.dx + r * granule.dx_token);
    for (int64_t j = 0; j < granule.width; j += kLanes) {
      F32x16 sum =
          F32x16::Broadcast(tokens.w[0][r * granule.w_token]) * F32x16::Load(tokens.dy[0] + j);
      for (int64_t k = 1; k < granule.count; ++k) {
        const F32x16 w = F32x16::Broadcast(tokens.w[k][r * granule.w_token]);
        sum = F32x16::MulAdd(w, F32x16::Load(tokens.dy[k] + j), sum);
      }
      StoreGrad<kStream>(sum, dx + j);
    }
  }
}

/// The work on the tokens of a granule. At most two windows over them: all at once.
template <int kSums, int kOver, bool kStream>
struct FewWindows {
  template <class T>
  static void Run(const Granule& granule, const Tokens& tokens) {
    RunTokens<kSums, kOver, kStream, T>(granule, tokens, 0);
  }
};

/// Any number of windows: x is read for two of them at a time.
template <bool kStream>
struct ManyWindows {
  template <class T>
  static void Run(const Granule& granule, const Tokens& tokens) {
    int64_t k = granule.own;
    for (; k + 2 <= granule.count; k += 2) RunTokens<2, 0, kStream, T>(granule, tokens, k);
    if (k < granule.count) RunTokens<1, 0, kStream, T>(granule, tokens, k);
    if (granule.dx != nullptr) WriteTokens<kStream, T>(granule, tokens);
  }
};

/// Token by token, so that the heads of one are read and written one after the other.
template <class What, class T>
void RunHeads(const Granule& granule, const float* dy) {
  for (int64_t t = 0; t < kGranule; t += kAtOnce) {
    for (int64_t n = 0; n < granule.heads; ++n) {
      Tokens tokens;
      for (int64_t k = 0; k < granule.count; ++k) {
        tokens.dy[k] = dy + (k * granule.heads + n) * granule.width;
        tokens.w[k] = granule.w[k] + t * granule.w_token + n;
        tokens.sums[k] = granule.sums + n * granule.sums_head + (granule.row[k] + t) * kLanes;
      }
      const int64_t x_at = t * granule.x_token + n * granule.x_head;
      tokens.x = granule.x + x_at;
      tokens.ahead = granule.ahead + x_at;
      const int64_t dx_at = t * granule.dx_token + n * granule.dx_head;
      tokens.dx = granule.dx == nullptr ? nullptr : granule.dx + dx_at;
      What::template Run<T>(granule, tokens);
    }
  }
}

template <bool kStream, class T>
void RunGranule(const Granule& granule, const float* dy) {
  if (granule.count > 2 || granule.dx == nullptr) {
    RunHeads<ManyWindows<kStream>, T>(granule, dy);
  } else if (granule.count == 1) {
    RunHeads<FewWindows<1, 1, kStream>, T>(granule, dy);
  } else {
    granule.own == 0 ? RunHeads<FewWindows<2, 2, kStream>, T>(granule, dy)
                     : RunHeads<FewWindows<1, 2, kStream>, T>(granule, dy);
  }
}

template <class T>
void ReadAndRunGranule(const Granule& granule) {
  float dy[kGroupRows / kGranule * kMaxWidth];
  float* to = dy;
  for (int64_t k = 0; k < granule.count; ++k) {
    for (int64_t n = 0; n < granule.heads; ++n, to += granule.width) {
      const T* from = At<T>(granule.dy[k], n * granule.dy_head);
      for (int64_t j = 0; j < granule.width; j += kLanes) F32x16::Load(from + j).Store(to + j);
    }
  }
  granule.streams ? RunGranule<true, T>(granule, dy) : RunGranule<false, T>(granule, dy);
}

void AddLanes(float* sums, float* out) {
  for (int64_t r = 0; r < kGranule; ++r) {
    out[r] = F32x16::Load(sums + r * kLanes).Sum();
    F32x16::Broadcast(0.0f).Store(sums + r * kLanes);
  }
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
constexpr Kernels kTable = {ReadAndRunGranule<T>, AddLanes, Widen<T>, Narrow<T>};

}  // namespace

extern const Kernels kFloat16Kernels = kTable<Float16>;
extern const Kernels kBFloat16Kernels = kTable<BFloat16>;

}  // namespace openaclnn::nsa_compress::backward::OPENACLNN_TARGET
