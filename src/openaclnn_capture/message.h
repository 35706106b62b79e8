// SPDX-License-Identifier: Apache-2.0
// The libraries' recent error message, which reading clears: what is read here is kept for the
// program.
#pragma once

#include <string>

namespace openaclnn::capture {

/// The calling thread's message; the program still gets it.
std::string PeekMessage();

/// While it lives, calls of this library change nothing of what the program will read.
class KeepMessage {
 public:
  KeepMessage();
  KeepMessage(const KeepMessage&) = delete;
  ~KeepMessage();
};

}  // namespace openaclnn::capture
