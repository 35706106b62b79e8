// SPDX-License-Identifier: Apache-2.0
// Plans of calls whose lengths of sequences may still change.
#pragma once

namespace openaclnn::supporting {

/// While one lives, plans of this thread tell the workspace for any lengths of sequences that the
/// operands have room for.
class AnyLengths {
 public:
  AnyLengths() noexcept { asked_ = true; }
  AnyLengths(const AnyLengths&) = delete;
  ~AnyLengths() { asked_ = false; }

  static bool asked() noexcept { return asked_; }

 private:
  inline static thread_local bool asked_ = false;
};

}  // namespace openaclnn::supporting
