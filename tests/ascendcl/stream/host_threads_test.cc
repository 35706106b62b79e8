// SPDX-License-Identifier: Apache-2.0
// Host functions where threads run short: each one that is taken runs, whatever the others do.
#include <pthread.h>

#include <atomic>

#include "tests/ascendcl/fixture.h"
#include "tests/support/short_kernel.h"

namespace openaclnn {
namespace {

/// Two functions of which the first waits for the second, or ends its thread.
class HostThreadsTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    for (aclrtStream& stream : streams_) {
      stream = NewStream();
      ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    }
  }
  void TearDown() override {
    over_ = true;
    for (const aclrtStream stream : streams_) EXPECT_EQ(aclrtDestroyStream(stream), 0);
    RuntimeTest::TearDown();
  }

  /// All calls of the kernel are refused from the first one on.
  void Launch(int64_t first, void (*function)(void*)) {
    const test::ShortKernel shortage(
        {first, test::Shortage::Fails::kFromThenOn, test::Shortage::Threads::kAll});
    ASSERT_EQ(aclrtLaunchHostFunc(streams_[0], function, this), 0);
    ASSERT_EQ(aclrtLaunchHostFunc(streams_[1], Run, this), 0);
    code_ = aclrtSynchronizeStreamWithTimeout(streams_[1], 20'000);
    over_ = true;
    (void)aclrtSynchronizeStream(streams_[0]);
  }
  void ExpectRunOrRefused() {
    EXPECT_EQ(code_, ran_ ? 0 : ACL_ERROR_RT_RESOURCE_ALLOC_FAIL) << TakeMessage();
    ran_ = over_ = false;
  }

  static void Wait(void* argument) {
    auto& test = *static_cast<HostThreadsTest*>(argument);
    while (!test.ran_ && !test.over_) std::this_thread::yield();
  }
  static void End(void*) { pthread_exit(nullptr); }

 private:
  static void Run(void* argument) { static_cast<HostThreadsTest*>(argument)->ran_ = true; }

  std::array<aclrtStream, 2> streams_{};
  std::atomic<bool> ran_{false}, over_{false};
  int code_ = -1;
};

TEST_F(HostThreadsTest, AFunctionThatAnotherWaitsForRunsOrIsRefused) {
  for (int64_t first = 0; first < 6; ++first) {
    SCOPED_TRACE(first);
    Launch(first, Wait);
    ExpectRunOrRefused();
  }
}

TEST_F(HostThreadsTest, AFunctionBehindOneThatEndsItsThreadRunsOrIsRefused) {
  for (int64_t first = 0; first < 6; ++first) {
    SCOPED_TRACE(first);
    Launch(first, End);
    ExpectRunOrRefused();
  }
}

}  // namespace
}  // namespace openaclnn
