// SPDX-License-Identifier: Apache-2.0
// Stores that go past the caches, and the cache lines that they want whole.
#pragma once

#include <cstddef>
#include <cstdint>

#include "frame/operand.h"
#include "kernels/simd/target.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace openaclnn {

inline constexpr int64_t kCacheLine = 64;  // bytes

inline bool BeginsLine(const void* at) { return reinterpret_cast<uintptr_t>(at) % kCacheLine == 0; }
inline bool BeginsElement(const void* at, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(at) % static_cast<uintptr_t>(bytes) == 0;
}

/// Whether the rows of a view, along its last dimension, are whole cache lines if the first one
/// begins with one.
bool RowsAreLines(const Operand& operand);

/// Whether the rows of a view, along its last dimension, are long enough that their whole cache
/// lines are worth streaming wherever they begin.
bool RowsAreLong(const Operand& operand);

/// Whether an output is large enough for that: what is gained is more than whoever reads it next
/// loses by not finding it in a cache (4 MB: 40 to 400 us against 10 to 30).
bool IsStreamed(const Operand& out);

/// Before another thread is told that what was streamed is there: such stores are ordered by
/// nothing else.
inline void EndStreams() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// Bytes that go past the caches where the processor can, up to EndStreams.
struct StreamKernels {
  /// `to` is whole cache lines; `from` may begin anywhere.
  void (*copy)(const std::byte* from, std::byte* to, int64_t bytes);
  /// Zeros, wherever they begin and end.
  void (*zeros)(std::byte* to, int64_t bytes);
};
OPENACLNN_TARGET_DECLARE(extern const StreamKernels kStreamKernels)

}  // namespace openaclnn
