// SPDX-License-Identifier: Apache-2.0
// Bytes past the caches, compiled once for each instruction set: lanes of float move any bits.
#include <cstring>

#include "kernels/simd/lanes-inl.h"
#include "kernels/simd/stream.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

static_assert(kLanes * sizeof(float) == kCacheLine);

void Copy(const std::byte* from, std::byte* to, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += kCacheLine) {
    F32x16::Load(reinterpret_cast<const float*>(from + i)).Stream(reinterpret_cast<float*>(to + i));
  }
}

void Zeros(std::byte* to, int64_t bytes) {
  const int64_t head = -reinterpret_cast<intptr_t>(to) & (kCacheLine - 1);
  if (bytes >= head + kCacheLine) {
    std::memset(to, 0, static_cast<size_t>(head));
    for (to += head, bytes -= head; bytes >= kCacheLine; to += kCacheLine, bytes -= kCacheLine) {
      F32x16::Broadcast(0.0f).Stream(reinterpret_cast<float*>(to));
    }
  }
  std::memset(to, 0, static_cast<size_t>(bytes));
}

}  // namespace

extern const StreamKernels kStreamKernels = {Copy, Zeros};

}  // namespace openaclnn::OPENACLNN_TARGET
