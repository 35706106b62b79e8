// SPDX-License-Identifier: Apache-2.0
// Turn: the scope in which a task of an operator computes.
#pragma once

#include <span>

#include "client/check.h"

namespace openaclnn {

/// The calling thread's task uses these bytes in this scope. It begins when no other such task
/// computes in them: kernels trust what they have left in a workspace, and the indices that they
/// have looked at.
class Turn {
 public:
  Turn(const char* api, std::span<const OpenaclnnUsed> used) noexcept
      : turn_{.api = api,
              .used = used.data(),
              .count = static_cast<uint32_t>(used.size()),
              .next = nullptr,
              .previous = nullptr},
        met_(Check().begin_turn(&turn_)) {}
  Turn(const Turn&) = delete;
  ~Turn() { Check().end_turn(&turn_); }

  /// The operator of a task that this one has waited for, or null.
  const char* met() const { return met_; }

 private:
  OpenaclnnTurn turn_;
  const char* const met_;
};

}  // namespace openaclnn
