// SPDX-License-Identifier: Apache-2.0
// Status: the code and the message that every internal function returns instead of throwing.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "common/text.h"

namespace openaclnn {

/// Code 0 is success and carries no text. The text of a failure follows the grammar
/// `<operand> <property> is <got>, expected <want>`; the API's name and the code's prefix are put
/// before it where the failure leaves the library.
class [[nodiscard]] Status {
 public:
  Status() = default;
  /// `api` names the function that the failure belongs to when it is not the one that returns it: a
  /// task's error comes from a synchronise. It outlives the status.
  Status(int code, std::string text, const char* api = nullptr)
      : code_(code), text_(std::move(text)), api_(api) {}

  bool ok() const { return code_ == 0; }
  int code() const { return code_; }
  const std::string& text() const { return text_; }
  const char* api_or(const char* returning) const { return api_ != nullptr ? api_ : returning; }

 private:
  int code_ = 0;
  std::string text_;
  const char* api_ = nullptr;
};

/// A failure of what returns something else, and fails only where the program is at odds with
/// itself. Whoever catches what may be thrown makes it the call's status.
struct StatusException : std::exception {
  explicit StatusException(Status failure) : status(std::move(failure)) {}
  Status status;
};

}  // namespace openaclnn
