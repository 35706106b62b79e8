// SPDX-License-Identifier: Apache-2.0
// Plan: the steps of one rank for an operation, each with messages and then work.
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
  bool shorter = false;  // the message that is received may have fewer bytes
  bool own = false;      // the memory is the plan's, so a send need not wait for its receiver
};

inline Move SendTo(uint32_t peer, const std::byte* data, size_t bytes) {
  return {false, peer, const_cast<std::byte*>(data), bytes};  // a send is only read
}
inline Move ReceiveFrom(uint32_t peer, std::byte* data, size_t bytes) {
  return {true, peer, data, bytes};
}

/// A step of a chain. `moves` start when the previous step is done. `ahead` starts earlier, before
/// the previous step's work. In a first step both start with the operation. When all messages have
/// arrived, a thread of the stream does the work. Messages that are sent from the program's memory
/// count too.
struct Step {
  std::vector<Move> ahead;
  std::vector<Move> moves;
  std::function<Status()> work;  // or null
  bool gate = false;             // nothing of the next step starts before this step's work is done
};

/// Steps that follow each other. The chains of a plan do not wait for each other.
using Chain = std::vector<Step>;

/// Memory of an operation, uninitialised.
using Scratch = std::unique_ptr<std::byte[]>;
inline Scratch MakeScratch(size_t bytes) { return Scratch(new std::byte[bytes]); }

struct Plan {
  uint64_t tag = 0;                            // of its messages; sender and step are added
  std::vector<std::function<void()>> prepare;  // called before the first message starts
  Chain steps;
  std::vector<Chain> beside;  // more chains, whose messages have tags of their own
  std::vector<Scratch> scratch;
  std::string arguments;  // for a trace
  bool by_pairs = false;  // only two ranks see a difference between their calls

  std::byte* AddScratch(size_t bytes) {
    scratch.push_back(MakeScratch(bytes));
    return scratch.back().get();
  }
  /// Adds the chains of another plan. Their messages must have tags.
  void Append(Plan other) {
    std::ranges::move(other.prepare, std::back_inserter(prepare));
    beside.push_back(std::move(other.steps));
    std::ranges::move(other.beside, std::back_inserter(beside));
    std::ranges::move(other.scratch, std::back_inserter(scratch));
  }
  /// All chains that have steps.
  std::vector<const Chain*> Chains() const {
    std::vector<const Chain*> chains;
    if (!steps.empty()) chains.push_back(&steps);
    for (const Chain& chain : beside) chains.push_back(&chain);
    return chains;
  }
};

}  // namespace openaclnn
