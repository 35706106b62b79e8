// SPDX-License-Identifier: Apache-2.0
// Threads that sleep: woken once each, those that last ran elsewhere first where that is asked for.
#include "ascendcl/stream/sleepers.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace openaclnn {
namespace {

void BindTo(int processor) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(processor, &processors);
  ASSERT_EQ(sched_setaffinity(0, sizeof(processors), &processors), 0);
}

/// Threads that sleep once. The test itself runs on the first processor that it may use.
class SleepersTest : public testing::Test {
 protected:
  struct Thread {
    Sleeper place;
    bool awake = false;
    std::thread thread;
  };

  SleepersTest() {
    EXPECT_EQ(sched_getaffinity(0, sizeof(before_), &before_), 0);
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &before_)) processors_.push_back(i);
    }
    BindTo(processors_[0]);
  }
  ~SleepersTest() override {
    std::unique_lock lock(mutex_);
    sleepers_.Wake(lock, threads_.size(), Where::kAnywhere);
    for (auto& each : threads_) each->thread.join();
    sched_setaffinity(0, sizeof(before_), &before_);
  }

  /// Starts a thread on the processor and returns once it sleeps.
  void Sleep(int processor) {
    threads_.push_back(std::make_unique<Thread>());
    Thread& self = *threads_.back();
    self.thread = std::thread([this, &self, processor] {
      BindTo(processor);
      std::unique_lock lock(mutex_);
      ++asleep_;
      sleepers_.Sleep(lock, self.place);
      self.awake = true;
    });
    while (true) {
      const std::lock_guard lock(mutex_);
      if (asleep_ == threads_.size()) return;
    }
  }

  /// Which are awake once so many are, and a moment later.
  std::vector<bool> Wake(uint64_t count, Where where) {
    std::unique_lock lock(mutex_);
    sleepers_.Wake(lock, count, where);
    EXPECT_FALSE(lock.owns_lock());
    while (CountAwake() < std::min<size_t>(count, threads_.size())) std::this_thread::yield();
    usleep(2000);
    lock.lock();
    std::vector<bool> awake;
    for (const auto& each : threads_) awake.push_back(each->awake);
    return awake;
  }

  size_t CountAwake() {
    const std::lock_guard lock(mutex_);
    size_t count = 0;
    for (const auto& each : threads_) count += each->awake ? 1 : 0;
    return count;
  }

  cpu_set_t before_;
  std::vector<int> processors_;
  std::mutex mutex_;
  Sleepers sleepers_;
  size_t asleep_ = 0;
  std::vector<std::unique_ptr<Thread>> threads_;
};

using Awake = std::vector<bool>;

TEST_F(SleepersTest, WakesAsManyAsAreAskedFor) {
  for (int i = 0; i < 3; ++i) Sleep(processors_[0]);
  EXPECT_EQ(Wake(0, Where::kElsewhere), (Awake{false, false, false}));
  EXPECT_EQ(Wake(2, Where::kElsewhere), (Awake{false, true, true}));
}

TEST_F(SleepersTest, WakesAllThatThereAre) {
  for (int i = 0; i < 70; ++i) Sleep(processors_[0]);  // more than are told at a time
  EXPECT_EQ(Wake(1000, Where::kElsewhere), Awake(70, true));
}

TEST_F(SleepersTest, WakesThoseFirstThatRanElsewhere) {
  if (processors_.size() < 2) GTEST_SKIP() << "one processor";
  Sleep(processors_[1]);
  Sleep(processors_[0]);
  Sleep(processors_[0]);
  EXPECT_EQ(Wake(1, Where::kElsewhere), (Awake{true, false, false}));
  EXPECT_EQ(Wake(1, Where::kElsewhere), (Awake{true, false, true}));
}

TEST_F(SleepersTest, WakesTheLastOneWhereverItRan) {
  if (processors_.size() < 2) GTEST_SKIP() << "one processor";
  Sleep(processors_[1]);
  Sleep(processors_[0]);
  EXPECT_EQ(Wake(1, Where::kAnywhere), (Awake{false, true}));
}

}  // namespace
}  // namespace openaclnn
