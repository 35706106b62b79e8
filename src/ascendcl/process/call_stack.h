// SPDX-License-Identifier: Apache-2.0
// Call stack: where a call of the API came from, kept as addresses and read when it is told.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "ascendcl/process/bounded_text.h"

namespace openaclnn {

struct CallStack {
  std::array<void*, 32> frames;
  size_t count = 0;  // of the frames, the innermost first
};

/// The caller's stack; null without memory for it, or where the stack cannot be read.
std::unique_ptr<const CallStack> TakeCallStack() noexcept;

/// A line for each of the program's innermost functions, each after a line break: "from main+0x1b
/// in program". Those of this library and of the C library are left out.
void WriteCallStack(const CallStack& stack, BoundedText* text);

}  // namespace openaclnn
