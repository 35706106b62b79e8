// SPDX-License-Identifier: Apache-2.0
// OPENACLNN_CHECK: waits for events that were never recorded.
#include "common/text.h"
#include "tests/ascendcl/watched.h"

namespace openaclnn {
namespace {

using ::testing::HasSubstr;

constexpr const char* kReport = "openaclnn: synccheck: ";

class EventWatchTest : public WatchedTest {
 protected:
  explicit EventWatchTest(const char* level = "fast") : WatchedTest(level) {}
  void SetUp() override {
    WatchedTest::SetUp();
    event = NewEvent();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyEvent(event), 0);
    WatchedTest::TearDown();
  }
  /// Both waits; they succeed in any case.
  void Wait() const {
    EXPECT_EQ(aclrtStreamWaitEvent(stream, event), 0) << TakeMessage();
    EXPECT_EQ(aclrtSynchronizeEvent(event), 0) << TakeMessage();
  }

  aclrtEvent event = nullptr;
};

TEST_F(EventWatchTest, WithoutARecord) {
  Wait();
  const std::string text = Reported();
  for (const char* api : {"aclrtStreamWaitEvent", "aclrtSynchronizeEvent"}) {
    EXPECT_THAT(text,
                HasSubstr(Concat(kReport, api, " waits for an event that was never recorded\n")));
  }
  EXPECT_THAT(text, HasSubstr(Concat("what:  event ", event, " has no record")));
  EXPECT_THAT(text, HasSubstr("fix:   call aclrtRecordEvent before it"));
  Wait();
  EXPECT_EQ(Reported(), "") << "once";
}

// As a ring of events whose users wait before each use, the first included.
TEST_F(EventWatchTest, OfManyEventsOnceForAFunction) {
  Wait();
  ASSERT_EQ(aclrtDestroyEvent(event), 0);
  event = NewEvent();
  Reported();
  Wait();
  EXPECT_EQ(Reported(), "");
}

TEST_F(EventWatchTest, RecordedOnAnyStreamAtAnyTime) {
  ASSERT_EQ(aclrtRecordEvent(event, nullptr), 0);
  Wait();
  ASSERT_EQ(aclrtResetEvent(event, nullptr), 0);
  ASSERT_EQ(aclrtRecordEvent(event, nullptr), 0);
  Wait();
  EXPECT_EQ(Reported(), "");
}

TEST_F(EventWatchTest, ResetAndNotRecordedSince) {
  ASSERT_EQ(aclrtRecordEvent(event, stream), 0);
  ASSERT_EQ(aclrtResetEvent(event, stream), 0);
  Wait();  // whether or not the stream has come that far
  const std::string text = Reported();
  for (const char* api : {"aclrtStreamWaitEvent", "aclrtSynchronizeEvent"}) {
    EXPECT_THAT(text, HasSubstr(Concat(kReport, api, " waits for an event that was reset and not ",
                                       "recorded since\n")));
  }
  EXPECT_THAT(text, HasSubstr(Concat("what:  event ", event,
                                     " has no record since aclrtResetEvent: "
                                     "a device may wait for ever")));
}

TEST_F(EventWatchTest, QueriesAskForNothing) {
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_EQ(aclrtQueryEventStatus(event, &recorded), 0);
  EXPECT_EQ(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(Reported(), "");
}

class EventWatchOffTest : public EventWatchTest {
 protected:
  EventWatchOffTest() : EventWatchTest("off") {}
};

TEST_F(EventWatchOffTest, NothingIsSaid) {
  Wait();
  EXPECT_EQ(Reported(), "");
}

}  // namespace
}  // namespace openaclnn
