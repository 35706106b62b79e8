// SPDX-License-Identifier: Apache-2.0
// Parallel loops: what a body throws on any thread reaches the caller, and nothing is left behind.
#include "kernels/work/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "kernels/work/parallel_items.h"
#include "tests/support/device.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kBlocks = 64;

/// A first task, which starts the device's threads.
void StartThreads(const Device& device) {
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), 0);
  ASSERT_EQ(aclrtRecordEvent(event, device.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(device.stream()), 0);
  ASSERT_EQ(aclrtDestroyEvent(event), 0);
}

int64_t CountBlocks() {
  std::atomic<int64_t> count = 0;
  ParallelFor(kBlocks, [&](int64_t) { ++count; });
  return count;
}

TEST(ParallelFor, RunsEachBlockOnce) {
  const Device device({{"OPENACLNN_NUM_THREADS", "4"}});
  StartThreads(device);
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> runs[kBlocks] = {};
    ParallelFor(kBlocks, [&](int64_t block) { ++runs[block]; });
    for (const std::atomic<int>& each : runs) ASSERT_EQ(each, 1);
  }
}

// Bodies throw until both the calling thread and another one have: before, the latter ended the
// process.
TEST(ParallelFor, ThrowsWhatABodyThrows) {
  const Device device({{"OPENACLNN_NUM_THREADS", "4"}});
  StartThreads(device);
  bool own = false, other = false;
  for (int round = 0; round < 100000 && !(own && other); ++round) {
    std::atomic<int> throwing = 0;
    std::thread::id thrower;
    const auto body = [&](int64_t block) {
      if (block < kBlocks / 2) return std::this_thread::yield();
      if (throwing++ == 0) thrower = std::this_thread::get_id();
      throw std::bad_alloc();
    };
    ASSERT_THROW(ParallelFor(kBlocks, body), std::bad_alloc);
    (thrower == std::this_thread::get_id() ? own : other) = true;
    ASSERT_EQ(CountBlocks(), kBlocks);
  }
  EXPECT_TRUE(own);
  EXPECT_TRUE(other);
}

// The first one counts, and blocks that have not begun are left out.
TEST(ParallelFor, StopsAfterAThrow) {
  const Device device({{"OPENACLNN_NUM_THREADS", "1"}});
  int64_t runs = 0;
  EXPECT_THROW(ParallelFor(kBlocks,
                           [&](int64_t) {
                             if (++runs == 3) throw std::bad_alloc();
                           }),
               std::bad_alloc);
  EXPECT_EQ(runs, 3);
}

// However many items and slots: each item once, and those of a slot one after the other.
TEST(ParallelItems, RunOnceAndAloneInTheirSlot) {
  const Device device({{"OPENACLNN_NUM_THREADS", "4"}});
  StartThreads(device);
  for (const int64_t items : {1, 3, 64, 1000}) {
    for (const int64_t slots : {1, 2, 4, 7}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(items)), busy(7);
      std::atomic<int> shared = 0;
      ParallelItems(items, slots, true, [&](int64_t item, int64_t slot) {
        std::atomic<int>& own = busy.at(static_cast<size_t>(slot));
        if (++own != 1 || slot >= slots) ++shared;
        std::this_thread::yield();
        ++runs.at(static_cast<size_t>(item));
        --own;
      });
      EXPECT_EQ(shared, 0);
      for (const std::atomic<int>& each : runs) ASSERT_EQ(each, 1);
    }
  }
}

}  // namespace
}  // namespace openaclnn::test
