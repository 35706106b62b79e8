// SPDX-License-Identifier: Apache-2.0
// Graphs with functions of the host, and what a graph is called.
#include <pthread.h>

#include <string>
#include <vector>

#include "tests/ascendcl/graph/capturing.h"

namespace openaclnn {
namespace {

/// What a function of the host has read of device memory, once for each run.
struct Reader {
  void* from;
  std::vector<int> seen = {};

  static void Read(void* reader) {
    auto* const self = static_cast<Reader*>(reader);
    unsigned char byte = 0;
    EXPECT_EQ(aclrtMemcpy(&byte, 1, self->from, 1, ACL_MEMCPY_DEVICE_TO_HOST), 0) << TakeMessage();
    self->seen.push_back(byte);
  }
};

TEST_F(CaptureTest, FunctionsOfTheHostRunInTheirTurn) {
  Reader first{device_}, second{device_};
  Begin();
  ASSERT_EQ(Fill(stream_, 1), 0) << TakeMessage();
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Reader::Read, &first), 0) << TakeMessage();
  ASSERT_EQ(Fill(stream_, 2), 0) << TakeMessage();
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Reader::Read, &second), 0) << TakeMessage();
  ASSERT_EQ(Fill(stream_, 3), 0) << TakeMessage();
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0) << TakeMessage();
  EXPECT_TRUE(first.seen.empty()) << "nothing runs while it is captured";
  for (const aclrtStream on : {stream_, side_, stream_, side_}) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model, on), 0) << TakeMessage();
  }
  EXPECT_EQ(aclmdlRIDestroy(model), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(side_), 0) << TakeMessage();
  EXPECT_EQ(first.seen, std::vector<int>(4, 1));
  EXPECT_EQ(second.seen, std::vector<int>(4, 2));
  Reader last{device_};
  Reader::Read(&last);
  EXPECT_EQ(last.seen, std::vector<int>{3});
}

// By the thread that serves the stream that was captured, wherever the graph runs.
TEST_F(CaptureTest, CallbacksRunInTheirTurn) {
  Reader reader{device_};
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream_), 0) << TakeMessage();
  Begin();
  ASSERT_EQ(Fill(stream_, 1), 0) << TakeMessage();
  ASSERT_EQ(aclrtLaunchCallback(Reader::Read, &reader, ACL_CALLBACK_BLOCK, stream_), 0)
      << TakeMessage();
  ASSERT_EQ(Fill(stream_, 2), 0) << TakeMessage();
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), 0) << TakeMessage();
  for (const aclrtStream on : {stream_, side_}) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model, on), 0) << TakeMessage();
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(on, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(aclrtSynchronizeStream(on), ACL_ERROR_RT_NO_PERMISSION) << "this thread serves it";
    ASSERT_EQ(aclrtProcessReport(10'000), 0) << TakeMessage();
    ASSERT_EQ(aclrtSynchronizeStream(on), 0) << TakeMessage();
  }
  EXPECT_EQ(reader.seen, std::vector<int>(2, 1));
  ASSERT_EQ(aclrtUnSubscribeReport(pthread_self(), stream_), 0) << TakeMessage();
  ASSERT_EQ(aclmdlRIExecuteAsync(model, side_), 0) << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeStream(side_), ACL_ERROR_RT_STREAM_NO_CB_REG);
  EXPECT_NE(TakeMessage().find("aclrtLaunchCallback: fn state is not run"), std::string::npos);
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
}

TEST_F(CaptureTest, HasAName) {
  char name[520] = "as it was";
  aclmdlRICaptureStatus status{};
  aclmdlRI model = nullptr, ended = nullptr;
  Begin();
  ASSERT_EQ(aclmdlRICaptureGetInfo(stream_, &status, &model), 0) << TakeMessage();
  EXPECT_EQ(aclmdlRIGetName(model, sizeof(name), name), 0) << TakeMessage();
  EXPECT_STREQ(name, "");
  EXPECT_EQ(aclmdlRISetName(model, "decode"), 0) << "while it is captured: " << TakeMessage();
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &ended), 0) << TakeMessage();
  EXPECT_EQ(aclmdlRIGetName(ended, sizeof(name), name), 0) << TakeMessage();
  EXPECT_STREQ(name, "decode");
  EXPECT_EQ(aclmdlRIGetName(ended, 4, name), 0) << TakeMessage();
  EXPECT_STREQ(name, "dec") << "cut to what there is room for";
  EXPECT_EQ(aclmdlRISetName(ended, std::string(600, 'n').c_str()), 0) << TakeMessage();
  EXPECT_EQ(aclmdlRIGetName(ended, sizeof(name), name), 0) << TakeMessage();
  EXPECT_EQ(std::string(name), std::string(512, 'n'));
  EXPECT_EQ(aclmdlRIDestroy(ended), 0);
}

}  // namespace
}  // namespace openaclnn
