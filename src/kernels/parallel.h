// SPDX-License-Identifier: Apache-2.0
// Blocks of one task's work, spread over the threads at hand.
#pragma once

#include <cstdint>

#include "frame/operand.h"

namespace openaclnn {

/// Runs body(0 … blocks - 1), each once, in any order and on any thread. How the work is cut into
/// blocks decides the result's bits, never how many threads there are.
template <class Body>
void ParallelFor(int64_t blocks, const Body& body) {
  if (blocks == 1) return body(int64_t{0});
  Meta()->runtime->parallel_for(
      static_cast<uint64_t>(blocks),
      [](void* state, uint64_t block) {
        (*static_cast<const Body*>(state))(static_cast<int64_t>(block));
      },
      const_cast<Body*>(&body));
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
