// SPDX-License-Identifier: Apache-2.0
// Call stacks: names of exported functions, else places in files.
#include "ascendcl/process/call_stack.h"

#include <execinfo.h>

#include <cstdint>
#include <new>
#include <string_view>

#include "ascendcl/process/symbol.h"

namespace openaclnn {
namespace {

constexpr size_t kMostTold = 8;

/// In the call, not behind it, where another function may begin. A number, for a frame may be of no
/// object of this program.
const void* CallOf(const void* frame) {
  return reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(frame) - 1);
}

/// As debuggers take it: that of the address behind the call.
void WriteOffset(uint64_t of_call, BoundedText* text) {
  *text << "+" << reinterpret_cast<const void*>(of_call + 1);
}

}  // namespace

std::unique_ptr<const CallStack> TakeCallStack() noexcept {
  std::unique_ptr<CallStack> stack(new (std::nothrow) CallStack);
  if (stack == nullptr) return nullptr;
  const int count = backtrace(stack->frames.data(), static_cast<int>(stack->frames.size()));
  if (count <= 0) return nullptr;
  stack->count = static_cast<size_t>(count);
  return stack;
}

void WriteCallStack(const CallStack& stack, BoundedText* text) {
  Symbol own, place;
  (void)FindSymbol(reinterpret_cast<const void*>(&TakeCallStack), &own);
  size_t told = 0;
  for (size_t i = 0; i < stack.count && told < kMostTold; ++i) {
    if (!FindSymbol(CallOf(stack.frames[i]), &place) || place.file == own.file) continue;
    const std::string_view file = place.path.substr(place.path.rfind('/') + 1);
    if (file.starts_with("libc.so")) continue;  // before main, and where threads begin
    *text << "\nfrom ";
    if (place.function != nullptr) {
      *text << place.function;
      WriteOffset(place.in_function, text);
      *text << " in ";
    }
    *text << file;
    if (place.function == nullptr) WriteOffset(place.in_file, text);
    ++told;
  }
}

}  // namespace openaclnn
