// SPDX-License-Identifier: Apache-2.0
// Asks the kernel where there is memory, but for the heap and the calling thread's stack: that
// takes longer than a small copy.
#include "ascendcl/memory/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>

#include "common/stack.h"
#include "common/uncancelled.h"

namespace openaclnn {
namespace {

struct Range {
  uintptr_t begin = 0, end = 0;
  bool Holds(uintptr_t first, size_t bytes) const {
    return first >= begin && first < end && bytes <= end - first;
  }
};

/// Where the heap begins that grows at its end; UINTPTR_MAX if that cannot be told.
uintptr_t FindHeap() {
  const Uncancelled whole;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0;
    if (line.ends_with("[heap]") &&
        std::from_chars(line.data(), line.data() + line.size(), begin, 16).ec == std::errc()) {
      return begin;
    }
  }
  return UINTPTR_MAX;
}

Range Heap() {
  static const uintptr_t begin = FindHeap();
  return {begin, reinterpret_cast<uintptr_t>(sbrk(0))};  // no call of the kernel
}

/// From this function's frame on.
Range Stack() { return {reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), OwnStack().end}; }

}  // namespace

bool IsMapped(uintptr_t first, size_t bytes) {
  if (bytes > PTRDIFF_MAX || first > UINTPTR_MAX - bytes) return false;
  if (Heap().Holds(first, bytes) || Stack().Holds(first, bytes)) return true;
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  constexpr size_t kPages = 4096;
  unsigned char resident[kPages];  // that is not asked for: only whether there are pages
  const uintptr_t end = first + bytes;
  for (uintptr_t at = first - first % page; at < end; at += kPages * page) {
    const size_t length = std::min<size_t>(end - at, kPages * page);
    if (mincore(reinterpret_cast<void*>(at), length, resident) != 0 && errno == ENOMEM)
      return false;
  }
  return true;
}

bool IsReadable(uintptr_t first, size_t bytes) {
  const Uncancelled whole;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {  // "begin-end rwxp …"
    const char* const last = line.data() + line.size();
    uintptr_t begin = 0, end = 0;
    const auto dash = std::from_chars(line.data(), last, begin, 16).ptr;
    if (dash == last) continue;
    const auto space = std::from_chars(dash + 1, last, end, 16).ptr;
    if (last - space < 2 || end <= first || begin >= first + bytes) continue;
    if (space[1] != 'r') return false;
  }
  return true;
}

}  // namespace openaclnn
