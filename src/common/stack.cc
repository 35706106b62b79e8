// SPDX-License-Identifier: Apache-2.0
// Stacks, as the C library tells of them.
#include "common/stack.h"

#include <pthread.h>

#include "common/uncancelled.h"

namespace openaclnn {
namespace {

StackRange FindStack() {
  const Uncancelled whole;  // the C library reads a file for it
  pthread_attr_t attributes;
  void* address = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  const bool found = pthread_attr_getstack(&attributes, &address, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  const auto begin = reinterpret_cast<uintptr_t>(address);
  return found ? StackRange{begin, begin + bytes} : StackRange();
}

}  // namespace

const StackRange& OwnStack() {
  thread_local const StackRange stack = FindStack();
  return stack;
}

std::optional<size_t> StackLeft() {
  const StackRange& stack = OwnStack();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (here < stack.begin || here >= stack.end) return std::nullopt;
  return here - stack.begin;
}

bool HasStack(size_t bytes) {
  const std::optional<size_t> left = StackLeft();
  return left && *left >= bytes;
}

}  // namespace openaclnn
