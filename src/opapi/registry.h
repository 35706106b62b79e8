// SPDX-License-Identifier: Apache-2.0
// The operators of the library: those that have rooms, as they enter themselves while it is loaded,
// and those that have records.
#pragma once

#include <vector>

#include "frame/support.h"

namespace openaclnn {

/// Enters an operator into the list; lives as long as the library. One for each in its op.cc:
/// `const Registration kRegistration(kOperator);`.
class Registration {
 public:
  explicit Registration(const Operator& op) noexcept : op_(op), next_(first_) { first_ = this; }
  Registration(const Registration&) = delete;

  const Operator& op() const { return op_; }
  const Registration* next() const { return next_; }
  /// Null at the end; in no order.
  static const Registration* first() { return first_; }

 private:
  const Operator& op_;
  const Registration* const next_;
  static inline constinit const Registration* first_ = nullptr;
};

/// An operator with the types of its tensors: the first row is of all, those after it, where there
/// are any, of each.
struct RecordedOperator {
  const char* api;
  std::vector<OperandSupport> support;
};
std::vector<RecordedOperator> RecordedOperators();

}  // namespace openaclnn
