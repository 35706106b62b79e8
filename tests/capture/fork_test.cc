// SPDX-License-Identifier: Apache-2.0
// Children of fork under capturing: they may destroy what they inherited, whatever other threads
// did.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <thread>

#include "aclnnop/aclnn_abs.h"
#include "tests/ascendcl/gradient.h"

namespace {

// Where a thread stands that is to be held at one of its allocations, with whatever locks it has.
enum Stand { kGoing, kHeld, kReleased, kDone };
std::atomic<Stand> g_stand{kGoing};
thread_local int t_until_held = -1;  // allocations; negative: it is not held

void* Allocate(size_t size) {
  if (t_until_held >= 0 && t_until_held-- == 0) {
    // Not for ever: fork may be waiting for a lock that is held here.
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    g_stand = kHeld;
    while (g_stand == kHeld && std::chrono::steady_clock::now() < end) sched_yield();
  }
  void* memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace openaclnn {
namespace {

class CaptureForkTest : public RuntimeTest {
 protected:
  ~CaptureForkTest() override { std::filesystem::remove_all(folder_); }

  /// Forks while another thread is held at each allocation of `call` in turn; in the child
  /// `destroy` has to succeed.
  template <class Call, class Destroy>
  static void EachAllocation(const Call& call, const Destroy& destroy) {
    int allocations = 0;
    while (!HasFailure() && ForkWhileHeld(allocations, call, destroy)) {
      ASSERT_LT(++allocations, 500);
    }
    EXPECT_GT(allocations, 0);
  }

 private:
  /// False when the call has no such allocation.
  template <class Call, class Destroy>
  static bool ForkWhileHeld(int allocation, const Call& call, const Destroy& destroy) {
    g_stand = kGoing;
    std::thread thread([&] {
      t_until_held = allocation;
      call();
      t_until_held = -1;
      Stand stand = kGoing;
      g_stand.compare_exchange_strong(stand, kDone);  // kHeld stays, for who has not seen it yet
    });
    while (g_stand == kGoing) sched_yield();
    const bool held = g_stand == kHeld;
    const pid_t child = held ? fork() : 0;
    if (held && child == 0) {
      alarm(20);  // a hang is a failure
      _exit(destroy() == 0 ? 0 : 1);
    }
    Stand stand = kHeld;
    g_stand.compare_exchange_strong(stand, kReleased);
    thread.join();
    if (!held) return false;
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "status " << status << ", allocation " << allocation;
    return true;
  }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                        ("openaclnn_capture_fork_" + std::to_string(getpid()));
  const Variable capture_{"OPENACLNN_CAPTURE", folder_.c_str()};
};

TEST_F(CaptureForkTest, DestroysATensor) {
  const aclTensor* tensor = Gradient::Tensor({4}, ACL_FLOAT, nullptr);
  EachAllocation(
      [] {
        const aclTensor* made = Gradient::Tensor({4}, ACL_FLOAT, nullptr);
        EXPECT_EQ(aclDestroyTensor(made), 0);
      },
      [&] { return aclDestroyTensor(tensor); });
  EXPECT_EQ(aclDestroyTensor(tensor), 0) << "the parent's is another";
}

TEST_F(CaptureForkTest, DestroysAnExecutor) {
  const DeviceArray<float> from({-1, 2, -3, 4}), to(4, 0.0F);
  const aclTensor* self = Gradient::Tensor({4}, ACL_FLOAT, from.data());
  aclTensor* out = Gradient::Tensor({4}, ACL_FLOAT, to.data());
  const auto plan = [&](aclOpExecutor** executor) {
    uint64_t bytes = 0;
    EXPECT_EQ(aclnnAbsGetWorkspaceSize(self, out, &bytes, executor), 0) << TakeMessage();
  };
  aclOpExecutor* executor = nullptr;
  plan(&executor);
  EachAllocation(
      [&] {
        aclOpExecutor* made = nullptr;
        plan(&made);
        EXPECT_EQ(aclDestroyAclOpExecutor(made), 0);
      },
      [&] { return aclDestroyAclOpExecutor(executor); });
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  EXPECT_EQ(aclDestroyTensor(self), 0);
  EXPECT_EQ(aclDestroyTensor(out), 0);
}

}  // namespace
}  // namespace openaclnn
