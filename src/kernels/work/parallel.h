// SPDX-License-Identifier: Apache-2.0
// Blocks of one task's work, spread over the threads at hand.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "frame/operand.h"

namespace openaclnn {

/// Runs body(0 … blocks - 1), each once, in any order and on any thread. How the work is cut into
/// blocks decides the result's bits, never how many threads there are. What a body throws, on
/// whichever thread, the caller gets once all have ended; blocks that had not begun are left out.
/// `is_long`: one thread would take half a millisecond or more.
template <class Body>
void ParallelFor(int64_t blocks, bool is_long, const Body& body) {
  if (blocks == 1) return body(int64_t{0});
  struct Work {
    const Body& body;
    std::atomic<bool> failed = false;
    std::exception_ptr thrown;
  };
  Work work = {body, false, nullptr};
  Meta()->runtime->parallel_for(
      static_cast<uint64_t>(blocks), is_long,
      [](void* state, uint64_t block) {
        Work& work = *static_cast<Work*>(state);
        if (work.failed.load(std::memory_order_relaxed)) return;
        try {
          work.body(static_cast<int64_t>(block));
        } catch (...) {
          if (!work.failed.exchange(true)) work.thrown = std::current_exception();
        }
      },
      &work);
  if (work.thrown) std::rethrow_exception(work.thrown);
}

/// Blocks of about 10 us, as most are: so many or more are long work.
inline constexpr int64_t kLongBlocks = 64;

template <class Body>
void ParallelFor(int64_t blocks, const Body& body) {
  ParallelFor(blocks, blocks >= kLongBlocks, body);
}

/// Blocks of at least `grain` that a length is cut into, at most `most`; at least one.
constexpr int64_t BlockCount(int64_t length, int64_t grain, int64_t most) {
  const int64_t blocks = length / grain;
  return blocks < 1 ? 1 : blocks < most ? blocks : most;
}

/// First element of a block; BlockBegin(blocks) is the length.
constexpr int64_t BlockBegin(int64_t length, int64_t blocks, int64_t block) {
  return static_cast<int64_t>(static_cast<__int128>(length) * block / blocks);
}

}  // namespace openaclnn
