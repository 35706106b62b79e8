// SPDX-License-Identifier: Apache-2.0
// Stacks: how much of it a thread has, and how much an operator's task may need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace openaclnn {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr size_t kStackUnit = 8;  // frames are several times as large
#else
inline constexpr size_t kStackUnit = 1;
#endif

/// As much as a task may need of its thread's stack.
inline constexpr size_t kTaskStack = kStackUnit * (size_t{256} << 10);

/// As much as phase 1 of an operator may need of the stack of the thread that calls it.
inline constexpr size_t kPlanStack = kStackUnit * (size_t{20} << 10);

/// As much as threads of the libraries have at least.
inline constexpr size_t kThreadStack = kStackUnit * (size_t{2} << 20);

/// From the lowest address of a stack to the one behind it.
struct StackRange {
  uintptr_t begin = 0, end = 0;
};

/// The calling thread's own stack; empty where that cannot be told. Found once for each thread.
const StackRange& OwnStack();

/// The bytes that the calling thread has left below this frame. Nothing where it runs on another
/// stack than its own, as coroutines do: nobody knows the size of that.
std::optional<size_t> StackLeft();

/// Whether the calling thread is known to have so many bytes left.
bool HasStack(size_t bytes);

}  // namespace openaclnn
