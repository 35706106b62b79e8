// SPDX-License-Identifier: Apache-2.0
// Turns: tasks that nothing orders, and that use the same bytes, compute one after the other.
//
// A device corrupts data then; here a kernel that trusts an offset in its workspace, or an index
// that it has checked, would end the program.
#pragma once

#include "ascendcl/check/interface.h"
#include "ascendcl/watch/race_watch.h"

namespace openaclnn {

/// Waits until nobody's turn uses bytes that this one writes, or writes some that it uses. Needs no
/// memory. Returns the `api` of one that it has waited for, or null. A task that has a turn
/// waits for nothing, so that its end comes.
const char* BeginTurn(OpenaclnnTurn* turn) noexcept;
void EndTurn(OpenaclnnTurn* turn) noexcept;

/// With OPENACLNN_CHECK=full the turn of a copy or a fill, in this scope.
class MoveTurn {
 public:
  MoveTurn(const OpenaclnnUsed& to, const OpenaclnnUsed& from) noexcept : used_{to, from} {
    if (!watched_) return;
    turn_ = {.api = "copy", .used = used_, .count = 2, .next = nullptr, .previous = nullptr};
    BeginTurn(&turn_);
  }
  MoveTurn(const MoveTurn&) = delete;
  ~MoveTurn() {
    if (watched_) EndTurn(&turn_);
  }

 private:
  const bool watched_ = WatchingRaces();
  const OpenaclnnUsed used_[2];
  OpenaclnnTurn turn_ = {};
};

}  // namespace openaclnn
