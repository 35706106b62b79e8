// SPDX-License-Identifier: Apache-2.0
// What stands in front of the C library's functions that ask the kernel.
#include "tests/support/short_kernel.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>

namespace openaclnn::test {
namespace {

std::atomic<bool> g_refuses{false}, g_all_threads{false}, g_once{false};
std::atomic<int64_t> g_left{0};  // until one fails
std::atomic<int64_t> g_failures{0};
thread_local bool t_refuses = false;  // for shortages of one thread

bool Refuses() noexcept {
  if (!g_refuses || !(g_all_threads || t_refuses)) return false;
  const int64_t left = g_left--;
  if (left > 0 || (left < 0 && g_once)) return false;
  ++g_failures;
  return true;
}

/// The function behind the one here.
template <class Function>
Function* Next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

ShortKernel::ShortKernel(const Shortage& shortage) {
  g_left = shortage.first;
  g_once = shortage.fails == Shortage::Fails::kOnce;
  g_all_threads = shortage.threads == Shortage::Threads::kAll;
  g_failures = 0;
  g_refuses = t_refuses = true;
}

ShortKernel::~ShortKernel() { g_refuses = t_refuses = false; }

int64_t ShortKernel::failures() { return g_failures; }

}  // namespace openaclnn::test

using openaclnn::test::Next;
using openaclnn::test::Refuses;

// The libraries have to find these.
#pragma GCC visibility push(default)
extern "C" {

void* mmap(void* address, size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
  static const auto next = Next(&mmap, "mmap");
  if (!Refuses()) return next(address, bytes, protection, flags, file, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

int munmap(void* address, size_t bytes) noexcept {
  static const auto next = Next(&munmap, "munmap");
  if (!Refuses()) return next(address, bytes);
  errno = ENOMEM;
  return -1;
}

int mprotect(void* address, size_t bytes, int protection) noexcept {
  static const auto next = Next(&mprotect, "mprotect");
  if (!Refuses()) return next(address, bytes, protection);
  errno = ENOMEM;
  return -1;
}

int madvise(void* address, size_t bytes, int advice) noexcept {
  static const auto next = Next(&madvise, "madvise");
  if (!Refuses()) return next(address, bytes, advice);
  errno = ENOMEM;
  return -1;
}

int memfd_create(const char* name, unsigned flags) noexcept {
  static const auto next = Next(&memfd_create, "memfd_create");
  if (!Refuses()) return next(name, flags);
  errno = EMFILE;
  return -1;
}

int ftruncate(int file, off_t bytes) noexcept {
  static const auto next = Next(&ftruncate, "ftruncate");
  if (!Refuses()) return next(file, bytes);
  errno = ENOSPC;
  return -1;
}

int open(const char* path, int flags, ...) {
  static const auto next = Next(&open, "open");
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (!Refuses()) return next(path, flags, mode);
  errno = EMFILE;
  return -1;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  static const auto next = Next(&pthread_create, "pthread_create");
  return Refuses() ? EAGAIN : next(thread, attributes, start, argument);
}

int pthread_key_create(pthread_key_t* key, void (*end)(void*)) noexcept {
  static const auto next = Next(&pthread_key_create, "pthread_key_create");
  return Refuses() ? EAGAIN : next(key, end);
}
}
#pragma GCC visibility pop
