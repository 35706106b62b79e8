// SPDX-License-Identifier: Apache-2.0
// Threads that get their locks late: what has to hold of a moment between two of them that else
// nobody meets. This program's pthread_mutex_lock stands in front of the C library's.
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/ascendcl/fixture.h"

namespace {
std::atomic<bool> g_slow{false};

using Lock = int (*)(pthread_mutex_t*);

/// As often as not, up to 64 us.
void Delay() {
  thread_local uint32_t random = static_cast<uint32_t>(pthread_self() >> 12) | 1;
  random = random * 1664525 + 1013904223;
  const timespec time = {0, static_cast<long>(random >> 16)};
  if ((random >> 8 & 1) == 0) nanosleep(&time, nullptr);
}
}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_mutex_lock(
    pthread_mutex_t* mutex) noexcept {
  static const Lock next = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  if (g_slow.load(std::memory_order_relaxed)) Delay();
  return next(mutex);
}

namespace openaclnn {
namespace {

class SlowLocksTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    g_slow = true;
  }
  void TearDown() override {
    g_slow = false;
    RuntimeTest::TearDown();
  }
};

// An event may come between a wait's look at it and the moment at which its stream parks: the
// stream must not stand still.
TEST_F(SlowLocksTest, AWakeThatComesWhileATaskParks) {
  aclrtStream first = NewStream(), second = NewStream();
  aclrtEvent event = NewEvent();
  for (int i = 0; i < 300; ++i) {
    Gate gate(first);
    ASSERT_EQ(aclrtRecordEvent(event, first), 0);
    gate.AwaitReached();
    if (i % 2 == 0) gate.Open();
    ASSERT_EQ(aclrtStreamWaitEvent(second, event), 0);
    gate.Open();
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(second, 60'000), 0) << TakeMessage();
  }
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
  for (aclrtStream each : {first, second}) EXPECT_EQ(aclrtDestroyStream(each), 0);
}

// Who records an event holds its lock and asks for the stream's; a wait that ends must not hold the
// stream's and ask for the event's.
TEST_F(SlowLocksTest, AWaitThatEndsWhileItsEventIsRecorded) {
  alarm(120);  // of two that wait for each other
  aclrtStream first = NewStream(), second = NewStream();
  aclrtEvent event = NewEvent();
  for (int i = 0; i < 100; ++i) {
    Gate gate(first);
    ASSERT_EQ(aclrtRecordEvent(event, first), 0);
    gate.AwaitReached();
    ASSERT_EQ(aclrtStreamWaitEvent(second, event), 0);
    std::thread records([&] {
      ASSERT_EQ(aclrtSetDevice(0), 0);
      for (int j = 0; j < 20; ++j) ASSERT_EQ(aclrtRecordEvent(event, second), 0);
    });
    gate.Open();
    records.join();
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(second, 60'000), 0) << TakeMessage();
  }
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
  for (aclrtStream each : {first, second}) EXPECT_EQ(aclrtDestroyStream(each), 0);
  alarm(0);
}

}  // namespace
}  // namespace openaclnn
