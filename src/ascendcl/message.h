// SPDX-License-Identifier: Apache-2.0
// Text that crosses a library border in a struct of fixed size.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "ascendcl/interface.h"

namespace openaclnn {

/// Begins without a text; what is behind its end is left as it is.
struct Message : OpenaclnnMessage {
  Message() { text[0] = '\0'; }
};

/// Copies the text, cut to what the struct holds.
inline void Write(OpenaclnnMessage* message, std::string_view text) {
  const size_t length = std::min(text.size(), sizeof(message->text) - 1);
  std::memcpy(message->text, text.data(), length);
  message->text[length] = '\0';
}

}  // namespace openaclnn
