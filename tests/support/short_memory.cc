// SPDX-License-Identifier: Apache-2.0
// The allocator of a program that tests what happens without memory.
#include "tests/support/short_memory.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace openaclnn::test {
namespace {

std::atomic<bool> g_short{false}, g_all_threads{false}, g_once{false};
std::atomic<int64_t> g_left{0};  // until one fails
std::atomic<int64_t> g_failures{0};
std::atomic<size_t> g_least_bytes{0};
std::atomic<int64_t> g_live{0};
thread_local bool t_short = false;  // for shortages of one thread

bool Fails(size_t bytes) noexcept {
  if (!g_short || bytes < g_least_bytes || !(g_all_threads || t_short)) return false;
  const int64_t left = g_left--;
  if (left > 0 || (left < 0 && g_once)) return false;
  ++g_failures;
  return true;
}

}  // namespace

ShortMemory::ShortMemory(const Shortage& shortage) {
  g_left = shortage.first;
  g_once = shortage.fails == Shortage::Fails::kOnce;
  g_all_threads = shortage.threads == Shortage::Threads::kAll;
  g_least_bytes = shortage.least_bytes;
  g_failures = 0;
  g_short = t_short = true;
}

ShortMemory::~ShortMemory() { g_short = t_short = false; }

int64_t ShortMemory::failures() { return g_failures; }

int64_t LiveBlocks() { return g_live; }

}  // namespace openaclnn::test

using openaclnn::test::Fails;
using openaclnn::test::g_live;

// Where others of the process are not prepared for malloc to fail, or have one of their own.
#if defined(SHORT_OF_OBJECTS_ALONE) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

namespace {
void* Plain(size_t bytes) { return std::malloc(bytes); }
}  // namespace

#else

extern "C" {
// The C library's own, under the names that it keeps for those who replace it.
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) noexcept {
  if (!Fails(bytes)) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}
void* calloc(size_t count, size_t bytes) noexcept {
  if (!Fails(count * bytes)) return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}
void* realloc(void* memory, size_t bytes) noexcept {
  if (!Fails(bytes)) return __libc_realloc(memory, bytes);
  errno = ENOMEM;
  return nullptr;
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) noexcept {
  void* made = Fails(bytes) ? nullptr : __libc_memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}
}

namespace {
void* Plain(size_t bytes) { return __libc_malloc(bytes); }
}  // namespace

#endif

namespace {

void* Allocate(size_t bytes) {
  void* memory = Fails(bytes) ? nullptr : Plain(bytes > 0 ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  ++g_live;
  return memory;
}

void Release(void* memory) noexcept {
  if (memory == nullptr) return;
  --g_live;
  std::free(memory);
}

}  // namespace

// Where one of them is inlined and its partner is not, compilers see free take what new gave.
[[gnu::noinline]] void* operator new(size_t bytes) { return Allocate(bytes); }
[[gnu::noinline]] void* operator new[](size_t bytes) { return Allocate(bytes); }
// AddressSanitizer has one of its own, which does not call the first.
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return Allocate(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { Release(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { Release(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { Release(memory); }
[[gnu::noinline]] void operator delete[](void* memory, size_t) noexcept { Release(memory); }
