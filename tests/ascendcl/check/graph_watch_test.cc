// SPDX-License-Identifier: Apache-2.0
// OPENACLNN_CHECK with graphs: the tasks of an execution are seen as if they had been launched.
#include <gmock/gmock.h>

#include <cstring>
#include <memory>

#include "ascendcl/memory/canary.h"
#include "common/text.h"
#include "tests/ascendcl/own_operator.h"
#include "tests/ascendcl/watched.h"

namespace openaclnn {
namespace {

using ::testing::HasSubstr;

constexpr size_t kCount = 8;  // elements of an operand
constexpr size_t kBytes = kCount * sizeof(float);

class GraphWatchTest : public WatchedTest {
 protected:
  explicit GraphWatchTest(const char* level = "full") : WatchedTest(level) {}

  void TearDown() override {
    if (model_ != nullptr) {
      EXPECT_EQ(aclmdlRIDestroy(model_), 0) << TakeMessage();
    }
    WatchedTest::TearDown();
  }
  /// Captures what is launched on the stream in `launch`; nothing is said of that.
  template <class Launch>
  void Capture(Launch&& launch) {
    ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
    launch();
    ASSERT_EQ(aclmdlRICaptureEnd(stream, &model_), 0) << TakeMessage();
    EXPECT_EQ(Reported(), "");
  }
  void Run(aclrtStream on) const { ASSERT_EQ(aclmdlRIExecuteAsync(model_, on), 0); }

  static void Fill(const NewMemory& memory, aclrtStream on) {
    ASSERT_EQ(aclrtMemsetAsync(memory.data(), kBytes, 0, kBytes, on), 0) << TakeMessage();
  }
  static void AddOperand(OwnOperator* own, const char* name, OpenaclnnRole role,
                         const NewMemory& memory) {
    own->Add(name, role, {ACL_FLOAT, {kCount}, {1}}, memory.data());
  }

 private:
  aclmdlRI model_ = nullptr;
};

TEST_F(GraphWatchTest, ExecutionsRaceAsTheirTasksDo) {
  const NewMemory memory(kBytes);
  const aclrtStream other = NewStream();
  const aclrtEvent event = NewEvent(ACL_EVENT_SYNC);
  Capture([&] { Fill(memory, stream); });
  Run(stream);
  Run(other);  // comes behind the one before
  ASSERT_EQ(aclrtRecordEvent(event, other), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(stream, event), 0);
  Fill(memory, stream);
  EXPECT_EQ(Reported(), "");
  Run(stream);
  Fill(memory, other);
  EXPECT_THAT(Reported(), HasSubstr(Concat("openaclnn: racecheck: nothing orders aclrtMemsetAsync "
                                           "on stream ",
                                           other, "\n")));
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
  EXPECT_EQ(aclrtDestroyStream(other), 0);
}

// Executions run a graph's tasks in one order: a capture is where an event between them is missed.
TEST_F(GraphWatchTest, BranchesOfAGraphRace) {
  const NewMemory memory(kBytes), apart(kBytes);
  const aclrtStream other = NewStream();
  const aclrtEvent forked = NewEvent(ACL_EVENT_SYNC), joined = NewEvent(ACL_EVENT_SYNC);
  const auto capture = [&](const NewMemory& written, bool in_order) {
    aclmdlRI model = nullptr;
    ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
    Fill(memory, stream);
    ASSERT_EQ(aclrtRecordEvent(forked, stream), 0);
    ASSERT_EQ(aclrtStreamWaitEvent(other, forked), 0);
    Fill(memory, other);
    ASSERT_EQ(aclrtRecordEvent(joined, other), 0);
    if (in_order) {
      ASSERT_EQ(aclrtStreamWaitEvent(stream, joined), 0);
    }
    Fill(written, stream);
    ASSERT_EQ(aclrtStreamWaitEvent(stream, joined), 0);
    ASSERT_EQ(aclmdlRICaptureEnd(stream, &model), 0) << TakeMessage();
    EXPECT_EQ(aclmdlRIDestroy(model), 0);
  };
  capture(memory, true);
  capture(apart, false);
  EXPECT_EQ(Reported(), "");
  capture(memory, false);
  EXPECT_THAT(Reported(), HasSubstr(Concat("openaclnn: racecheck: nothing orders aclrtMemsetAsync "
                                           "on stream ",
                                           stream, "\n         after aclrtMemsetAsync on stream ",
                                           other, "\n")));
  EXPECT_EQ(aclrtDestroyEvent(forked), 0);
  EXPECT_EQ(aclrtDestroyEvent(joined), 0);
  EXPECT_EQ(aclrtDestroyStream(other), 0);
}

TEST_F(GraphWatchTest, AnExecutionWithFreedMemory) {
  auto memory = std::make_unique<NewMemory>(kBytes);
  Capture([&] { Fill(*memory, stream); });
  Run(stream);
  EXPECT_EQ(Reported(), "");
  memory.reset();
  EXPECT_EQ(Reported(), "") << "nothing uses it any more";
  Run(stream);
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr(Concat("openaclnn: memcheck: a graph executes aclrtMemsetAsync on "
                                     "stream ",
                                     stream, "\n         with memory that was freed\n")));
  EXPECT_THAT(text, HasSubstr("where: bytes 0 to 31 of the 32 that were allocated at "));
  EXPECT_THAT(text, HasSubstr(" and that aclrtFree has freed"));
  Run(stream);
  EXPECT_EQ(Reported(), "") << "once";
}

TEST_F(GraphWatchTest, AnExecutionThatIsQueuedUsesItsMemory) {
  auto memory = std::make_unique<NewMemory>(kBytes);
  Capture([&] { Fill(*memory, stream); });
  Run(stream);
  memory.reset();
  EXPECT_THAT(Reported(), HasSubstr("what:  aclrtFree frees devPtr; aclrtMemsetAsync, called "
                                    "before, writes devPtr"));
}

TEST_F(GraphWatchTest, WhatNobodyHasWrittenIsReadByTheExecution) {
  const NewMemory in(kBytes), out(kBytes);
  OwnOperator own([](void* const* data, void*) {
    std::memcpy(data[1], data[0], kBytes);
    return 0;
  });
  AddOperand(&own, "self", OPENACLNN_INPUT, in);
  AddOperand(&own, "out", OPENACLNN_OUTPUT, out);
  Capture([&] { ASSERT_EQ(own.Launch(stream), 0); });
  Run(stream);
  EXPECT_THAT(Reported(), HasSubstr("what:  aclnnOwn reads self; "));
}

// The second execution writes half of what it should.
TEST_F(GraphWatchTest, EachExecutionWritesAllOfAnOutput) {
  const NewMemory out(kBytes);
  int runs = 0;
  OwnOperator own([&runs](void* const* data, void*) {
    std::memset(data[0], 0, ++runs == 2 ? kBytes / 2 : kBytes);
    return 0;
  });
  AddOperand(&own, "out", OPENACLNN_OUTPUT, out);
  Capture([&] { ASSERT_EQ(own.Launch(stream), 0); });
  Run(stream);
  EXPECT_EQ(Reported(), "");
  Run(stream);
  EXPECT_THAT(Reported(), HasSubstr("aclnnOwn has not written all of out\n"));
}

class GraphCanaryTest : public GraphWatchTest {
 protected:
  GraphCanaryTest() : GraphWatchTest("fast") {}
};

// Long before the graph lets go of the memory.
TEST_F(GraphCanaryTest, WhoWritesBesideIsNamed) {
  if (!kHaveCanaries) GTEST_SKIP() << "AddressSanitizer stops who writes beside an allocation";
  auto out = std::make_unique<NewMemory>(kBytes);
  int runs = 0;
  OwnOperator own([&runs](void* const* data, void*) {
    std::memset(data[0], 1, ++runs == 2 ? kBytes + 33 : kBytes);
    return 0;
  });
  AddOperand(&own, "out", OPENACLNN_OUTPUT, *out);
  Capture([&] { ASSERT_EQ(own.Launch(stream), 0); });
  Run(stream);
  EXPECT_EQ(Reported(), "");
  Run(stream);
  EXPECT_THAT(Reported(), HasSubstr("aclnnOwn"));
}

}  // namespace
}  // namespace openaclnn
