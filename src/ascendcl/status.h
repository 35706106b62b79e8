// SPDX-License-Identifier: Apache-2.0
// Status: the code and the message that every internal function returns instead of throwing.
#pragma once

#include <sstream>
#include <string>
#include <utility>

namespace openaclnn {

/// Joins the arguments as a stream would print them. For messages: it runs on the way to a refusal.
template <class... Parts>
std::string Concat(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return std::move(text).str();
}

/// Code 0 is success and carries no text. The text of a failure follows the grammar
/// `<operand> <property> is <got>, expected <want>`; the API's name and the code's prefix are put
/// before it where the failure leaves the library.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(int code, std::string text) : code_(code), text_(std::move(text)) {}

  bool ok() const { return code_ == 0; }
  int code() const { return code_; }
  const std::string& text() const { return text_; }

 private:
  int code_ = 0;
  std::string text_;
};

}  // namespace openaclnn
