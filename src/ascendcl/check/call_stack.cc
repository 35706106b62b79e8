// SPDX-License-Identifier: Apache-2.0
// Call stacks, by the C library's own means: names of exported functions, else places in files.
#include "ascendcl/check/call_stack.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <new>
#include <string_view>

namespace openaclnn {
namespace {

constexpr size_t kMostTold = 8;

/// Where this library was loaded.
const void* OwnBase() {
  Dl_info own = {};
  return dladdr(reinterpret_cast<const void*>(&TakeCallStack), &own) != 0 ? own.dli_fbase : nullptr;
}

/// In the call, not behind it, where another function may begin.
const void* CallOf(const void* frame) { return static_cast<const char*>(frame) - 1; }

uint64_t Between(const void* begin, const void* end) {
  return reinterpret_cast<uintptr_t>(end) - reinterpret_cast<uintptr_t>(begin);
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
  const void* const own = OwnBase();
  size_t told = 0;
  for (size_t i = 0; i < stack.count && told < kMostTold; ++i) {
    const void* const call = CallOf(stack.frames[i]);
    Dl_info place = {};
    if (dladdr(call, &place) == 0 || place.dli_fname == nullptr || place.dli_fbase == own) continue;
    const std::string_view path = place.dli_fname;
    const std::string_view file = path.substr(path.rfind('/') + 1);
    if (file.starts_with("libc.so")) continue;  // before main, and where threads begin
    *text << "\nfrom ";
    if (place.dli_sname != nullptr) {
      // As debuggers take it: the address behind the call.
      *text << place.dli_sname << "+"
            << reinterpret_cast<const void*>(Between(place.dli_saddr, stack.frames[i])) << " in ";
    }
    *text << file;
    if (place.dli_sname == nullptr) {
      *text << "+" << reinterpret_cast<const void*>(Between(place.dli_fbase, stack.frames[i]));
    }
    ++told;
  }
}

}  // namespace openaclnn
