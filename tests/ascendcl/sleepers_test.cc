// SPDX-License-Identifier: Apache-2.0
// Threads that sleep: woken once each, elsewhere than their waker, and with the processors they
// had.
#include "ascendcl/sleepers.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace openaclnn {
namespace {

cpu_set_t Processors(int thread) {
  cpu_set_t processors;
  EXPECT_EQ(sched_getaffinity(thread, sizeof(processors), &processors), 0);
  return processors;
}

void Allow(int thread, const cpu_set_t& processors) {
  ASSERT_EQ(sched_setaffinity(thread, sizeof(processors), &processors), 0);
}

cpu_set_t Only(int processor) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(processor, &processors);
  return processors;
}

/// Threads that sleep once, each on the processor that the test runs on, and see where they wake.
class SleepersTest : public testing::Test {
 protected:
  struct Thread {
    Sleeper place;
    int32_t id = 0;
    bool awake = false;
    int woke_on = -1;
    cpu_set_t processors{};
    std::thread thread;
  };

  SleepersTest() : all_(Processors(0)), here_(sched_getcpu()) { Allow(0, Only(here_)); }
  ~SleepersTest() override {
    std::unique_lock lock(mutex_);
    sleepers_.Wake(lock, threads_.size(), Where::kAnywhere);
    for (auto& each : threads_) each->thread.join();
    Allow(0, all_);
  }

  /// Starts threads, and returns once all sleep; a thread may then run where `then` says.
  void Sleep(size_t count, const cpu_set_t& then) {
    for (size_t i = 0; i < count; ++i) {
      threads_.push_back(std::make_unique<Thread>());
      Thread& self = *threads_.back();
      self.thread = std::thread([this, &self] {
        std::unique_lock lock(mutex_);
        self.id = gettid();
        ++asleep_;
        sleepers_.Sleep(lock, self.place);
        self.woke_on = sched_getcpu();
        self.processors = Processors(0);
        self.awake = true;
      });
    }
    while (true) {
      const std::lock_guard lock(mutex_);
      if (asleep_ == threads_.size()) break;
    }
    for (auto& each : threads_) Allow(each->id, then);
  }

  /// How many are awake once so many are, and a moment later.
  size_t Wake(uint64_t count, Where where) {
    std::unique_lock lock(mutex_);
    sleepers_.Wake(lock, count, where);
    EXPECT_FALSE(lock.owns_lock());
    while (Awake() < std::min<size_t>(count, threads_.size())) std::this_thread::yield();
    usleep(2000);
    return Awake();
  }

  size_t Awake() {
    const std::lock_guard lock(mutex_);
    size_t count = 0;
    for (const auto& each : threads_) count += each->awake ? 1 : 0;
    return count;
  }

  const cpu_set_t all_;
  const int here_;
  std::mutex mutex_;
  Sleepers sleepers_;
  size_t asleep_ = 0;
  std::vector<std::unique_ptr<Thread>> threads_;
};

TEST_F(SleepersTest, WakesAsManyAsAreAskedFor) {
  Sleep(3, all_);
  EXPECT_EQ(Wake(0, Where::kElsewhere), 0u);
  EXPECT_EQ(Wake(2, Where::kElsewhere), 2u);
}

TEST_F(SleepersTest, WakesAllThatThereAre) {
  Sleep(70, all_);  // more than are told at a time
  EXPECT_EQ(Wake(1000, Where::kElsewhere), 70u);
}

TEST_F(SleepersTest, WakesElsewhere) {
  if (CPU_COUNT(&all_) < 2) GTEST_SKIP() << "one processor";
  Sleep(1, all_);
  EXPECT_EQ(Wake(1, Where::kElsewhere), 1u);
  EXPECT_NE(threads_[0]->woke_on, here_);
  EXPECT_TRUE(CPU_EQUAL(&threads_[0]->processors, &all_)) << "it may run here again";
}

TEST_F(SleepersTest, LeavesAThreadThatMayRunNowhereElse) {
  Sleep(1, Only(here_));
  EXPECT_EQ(Wake(1, Where::kElsewhere), 1u);
  EXPECT_EQ(threads_[0]->woke_on, here_);
  const cpu_set_t here = Only(here_);
  EXPECT_TRUE(CPU_EQUAL(&threads_[0]->processors, &here));
}

}  // namespace
}  // namespace openaclnn
