// SPDX-License-Identifier: Apache-2.0
// Plan: what one rank does for an operation, as steps of messages and of work between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "common/status.h"

namespace openaclnn {

/// One message of a step.
struct Move {
  bool receives;
  uint32_t peer;
  std::byte* data;
  size_t bytes;
  uint64_t tag = 0;      // 0: the plan's
  bool shorter = false;  // a message that is received may have fewer bytes
  bool own = false;      // the memory is the plan's: who sends it need not wait for its receiver
};

inline Move SendTo(uint32_t peer, const std::byte* data, size_t bytes) {
  return {false, peer, const_cast<std::byte*>(data), bytes};  // a send is only read
}
inline Move ReceiveFrom(uint32_t peer, std::byte* data, size_t bytes) {
  return {true, peer, data, bytes};
}

/// Its messages begin when the step before it is done, those of `ahead` before that one's work, or
/// with the operation: then it and what follows it are a chain that waits for no other one. The
/// work is done, by a thread of the stream, when all of them have arrived, those that are sent from
/// the program's memory included.
struct Step {
  std::vector<Move> ahead;
  std::vector<Move> moves;
  std::function<Status()> work;  // or null
  bool gate = false;             // nothing of the next step begins before its work is done
  bool apart = false;            // begins with the operation, as the first step does
};

/// Memory of an operation, which is not set to anything.
using Scratch = std::unique_ptr<std::byte[]>;
inline Scratch MakeScratch(size_t bytes) { return Scratch(new std::byte[bytes]); }

struct Plan {
  uint64_t tag = 0;                            // of its messages, but for sender and step
  std::vector<std::function<void()>> prepare;  // before the first message begins
  std::vector<Step> steps;
  std::vector<Scratch> scratch;
  std::string arguments;  // for a trace
  bool by_pairs = false;  // what two ranks call differently no other one sees

  std::byte* AddScratch(size_t bytes) {
    scratch.push_back(MakeScratch(bytes));
    return scratch.back().get();
  }
  /// The other's steps, as a chain of their own; their messages have tags.
  void Append(Plan other) {
    other.steps.front().apart = true;
    std::ranges::move(other.prepare, std::back_inserter(prepare));
    std::ranges::move(other.steps, std::back_inserter(steps));
    std::ranges::move(other.scratch, std::back_inserter(scratch));
  }
};

}  // namespace openaclnn
