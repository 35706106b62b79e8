// SPDX-License-Identifier: Apache-2.0
// How deep the stacks of a process's threads have been, for a process that preloads this: pages
// that a thread has touched stay resident.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace {

constexpr uintptr_t kPage = 4096;
// As much as a thread that waits for work may use.
constexpr uintptr_t kIdle = 32 << 10;
// The libraries' threads have more than this, those of the tests less.
constexpr uintptr_t kOwnStack = 1 << 20;

struct Stack {
  uintptr_t begin, end;

  /// From the end to the lowest page that was touched.
  uintptr_t Depth() const {
    std::vector<unsigned char> resident((end - begin) / kPage);
    if (mincore(reinterpret_cast<void*>(begin), end - begin, resident.data()) != 0) return 0;
    const auto lowest = std::find_if(resident.begin(), resident.end(),
                                     [](unsigned char page) { return (page & 1) != 0; });
    return static_cast<uintptr_t>(resident.end() - lowest) * kPage;
  }
  bool IsOwn() const { return end - begin > kOwnStack; }
  void Forget() const {
    if (end - begin > kIdle) {
      madvise(reinterpret_cast<void*>(begin), end - begin - kIdle, MADV_DONTNEED);
    }
  }
};

struct Stacks {
  std::mutex mutex;
  std::map<pthread_t, Stack> live;
  uintptr_t deepest = 0;         // of the libraries' threads that have ended
  uintptr_t deepest_caller = 0;  // of others
};

Stacks& All() {
  static auto* const all = new Stacks;  // threads may outlive static destructors
  return *all;
}

/// Enters the calling thread's stack while it lives.
class Entry {
 public:
  Entry() {
    pthread_attr_t attributes;
    void* begin = nullptr;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
    const auto first = reinterpret_cast<uintptr_t>(begin);
    const std::lock_guard lock(All().mutex);
    All().live[pthread_self()] = {first, first + bytes};
  }
  Entry(const Entry&) = delete;
  ~Entry() {
    const std::lock_guard lock(All().mutex);
    const auto found = All().live.find(pthread_self());
    if (found == All().live.end()) return;
    uintptr_t& deepest = found->second.IsOwn() ? All().deepest : All().deepest_caller;
    deepest = std::max(deepest, found->second.Depth());
    All().live.erase(found);
  }
};

struct Start {
  void* (*main)(void*);
  void* argument;
};

void* Main(void* start) {
  const std::unique_ptr<const Start> own(static_cast<Start*>(start));
  const Entry entry;
  return own->main(own->argument);
}

// A huge page of a stack would be resident as a whole.
[[maybe_unused]] const int kNoHugePages = prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);

}  // namespace

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*main)(void*),
                   void* argument) noexcept {
  static const auto next =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  auto start = std::make_unique<Start>(Start{main, argument});
  const int error = next(thread, attributes, Main, start.get());
  if (error == 0) (void)start.release();
  return error;
}

/// The most bytes that any thread of the libraries has used since the last call. All of them are to
/// be idle.
uint64_t stack_depth_take() {
  const std::lock_guard lock(All().mutex);
  uintptr_t deepest = std::exchange(All().deepest, 0);
  for (const auto& [thread, stack] : All().live) {
    if (!stack.IsOwn()) continue;
    deepest = std::max(deepest, stack.Depth());
    stack.Forget();
  }
  return deepest;
}

/// The most that threads with less stack have used, of those that have ended.
uint64_t stack_depth_take_callers() {
  const std::lock_guard lock(All().mutex);
  return std::exchange(All().deepest_caller, 0);
}
}
