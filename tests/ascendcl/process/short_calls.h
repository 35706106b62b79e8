// SPDX-License-Identifier: Apache-2.0
// What tests of calls without memory share: each allocation of a call fails in turn.
#pragma once

#include <gtest/gtest.h>

#include "tests/ascendcl/fixture.h"
#include "tests/ascendcl/process/shortage.h"
#include "tests/support/short_memory.h"

namespace openaclnn {

/// Calls that need memory, in a started runtime.
class ShortMemoryTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    // Starts the workers: without memory they would stay away, and only who waits for ever helps.
    const aclrtEvent event = NewEvent();
    ASSERT_EQ(aclrtRecordEvent(event, nullptr), 0);
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
    ASSERT_EQ(aclrtDestroyEvent(event), 0);
  }
  /// Lets the first allocation of the call fail, then the second, …, until it succeeds; looks after
  /// each failure. The call needs memory every time.
  template <class Call, class Look>
  static void EachFailure(Call&& call, Look&& look) {
    int status = ACL_ERROR_BAD_ALLOC, failures = 0;
    for (int first = 0; status != 0; ++first) {
      ASSERT_LT(first, 100);
      {
        // What checks lack they do without, and the call succeeds: with `full` all that follows
        // fails.
        const test::ShortMemory shortage({.first = first,
                                          .fails = CheckedFully()
                                                       ? test::Shortage::Fails::kFromThenOn
                                                       : test::Shortage::Fails::kOnce});
        status = call();
      }
      if (status == 0) break;
      ++failures;
      ASSERT_EQ(status, ACL_ERROR_BAD_ALLOC);
      look();
    }
    EXPECT_GT(failures, 0);
  }
  static bool Reached(aclrtEvent event) {
    aclrtEventRecordedStatus status{};
    EXPECT_EQ(aclrtQueryEventStatus(event, &status), 0);
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }
  static size_t TotalMemory() {
    size_t free = 0, total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), 0) << TakeMessage();
    return total;
  }
  static bool Waited(aclrtEvent event) {
    aclrtEventWaitStatus status{};
    EXPECT_EQ(aclrtQueryEventWaitStatus(event, &status), 0);
    return status == ACL_EVENT_WAIT_STATUS_COMPLETE;
  }
};

}  // namespace openaclnn
