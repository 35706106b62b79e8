// SPDX-License-Identifier: Apache-2.0
// OPENACLNN_REPORT_API_ERRORS: refused calls are findings where the program asked for what cannot
// be, and only there.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "aclnnop/aclnn_exp.h"
#include "tests/ascendcl/gradient.h"
#include "tests/ascendcl/watched.h"

namespace openaclnn {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class ApiErrorTest : public WatchedTest {
 protected:
  explicit ApiErrorTest(const char* wanted = "explicit", const char* level = "full")
      : WatchedTest(level), wanted_("OPENACLNN_REPORT_API_ERRORS", wanted) {}

 private:
  const Variable wanted_;
};

TEST_F(ApiErrorTest, ARefusalIsToldAndItsMessageStays) {
  void* memory = nullptr;
  TakeMessage();
  ASSERT_EQ(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
  EXPECT_EQ(TakeMessage(), "EH0002: aclrtMalloc: size value is 0, expected a number of bytes");
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr("openaclnn: apicheck: aclrtMalloc returned 100000: size value is 0, "
                              "expected a number of bytes\n"));
  EXPECT_THAT(text, HasSubstr("what:  ACL_ERROR_INVALID_PARAM: "));
  EXPECT_THAT(text, HasSubstr("fix:   The message names the argument"));
}

TEST_F(ApiErrorTest, OfTheLibrariesAboveToo) {
  EXPECT_EQ(aclCreateTensor(nullptr, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr),
            nullptr);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnExpGetWorkspaceSize(nullptr, nullptr, &size, &executor), 161001);
  EXPECT_EQ(aclnnExp(nullptr, 0, nullptr, stream), 161001);
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr("apicheck: aclCreateTensor returned 16100"));
  EXPECT_THAT(text, HasSubstr("apicheck: aclnnExp returned 161001: self"));
  EXPECT_THAT(text, HasSubstr("apicheck: aclnnExp returned 161001: executor"));
}

// The same mistake is told once, whatever its numbers.
TEST_F(ApiErrorTest, InALoopOnce) {
  for (int i = 1; i < 20; ++i) {
    EXPECT_EQ(aclrtSetDevice(100 + i), 107001);
  }
  EXPECT_EQ(Count(Reported(), "apicheck"), 1U);
}

TEST_F(ApiErrorTest, WhatHasAReportOfItsOwnIsNotToldTwice) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  ASSERT_EQ(aclrtFree(memory), 0);
  ASSERT_EQ(aclrtFree(memory), 107000);
  const std::string text = Reported();
  EXPECT_EQ(Count(text, "memcheck"), 1U);
  EXPECT_EQ(Count(text, "apicheck"), 0U);
}

TEST_F(ApiErrorTest, CopiesBetweenHostMemoryAreAMistake) {
  const PinnedBytes from(64), to(64);
  ASSERT_EQ(aclrtMemcpyAsync(to.data(), 64, from.data(), 64, ACL_MEMCPY_HOST_TO_HOST, stream),
            207000);
  EXPECT_THAT(Reported(), HasSubstr("apicheck: aclrtMemcpyAsync returned 207000"));
}

TEST_F(ApiErrorTest, AnswersAndWantsAreNoMistakes) {
  EXPECT_EQ(aclInit(nullptr), 100002);
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, SIZE_MAX / 2, ACL_MEM_MALLOC_HUGE_FIRST), 207001);
  int64_t value = 0;
  EXPECT_NE(aclGetDeviceCapability(0, static_cast<aclDeviceInfo>(99), &value), 0);
  std::thread([] {
    int32_t device = 0;
    EXPECT_EQ(aclrtGetDevice(&device), 107002) << "which asks whether one was set";
  }).join();
  {
    const Gate gate(stream);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), 507046);
  }
  EXPECT_EQ(Reported(), "");
}

// As frameworks do when their process exits: what they destroy aclFinalize has ended already.
TEST_F(ApiErrorTest, DestroyingWhatAclFinalizeHasEndedIsNoMistake) {
  aclrtContext context = nullptr;
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
  ASSERT_EQ(aclmdlRICaptureEnd(stream, &model), 0);
  ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
  ASSERT_EQ(aclFinalize(), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 107017);
  EXPECT_EQ(aclrtDestroyStreamForce(stream), 107017);
  EXPECT_EQ(aclmdlRIDestroy(model), 107017);
  EXPECT_EQ(aclrtDestroyContext(context), 107017);
  EXPECT_EQ(aclrtResetDevice(0), 107002);
  EXPECT_EQ(aclFinalize(), 100037);
  EXPECT_EQ(aclrtResetDevice(100), 107001) << "which no order of ends explains";
  RuntimeTest::SetUp();
  EXPECT_EQ(aclrtDestroyStream(stream), 107017);
  stream = NewStream();
  const std::string text = Reported();
  EXPECT_EQ(Count(text, "apicheck: "), 2U) << text;
  EXPECT_THAT(text, HasSubstr("apicheck: aclrtResetDevice returned 107001"));
  EXPECT_THAT(text, HasSubstr("apicheck: aclrtDestroyStream returned 107017"));
}

// A child of fork runs its parent's exit handlers; other calls of it are mistakes.
TEST_F(ApiErrorTest, AclFinalizeInAChildIsNoMistake) {
  const pid_t child = fork();
  if (child == 0) {
    const bool refused = aclFinalize() == 100001 && aclrtSetDevice(0) == 100001;
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const std::string text = Reported();
  EXPECT_EQ(Count(text, "apicheck: "), 1U) << text;
  EXPECT_THAT(text, HasSubstr("apicheck: aclrtSetDevice returned 100001"));
}

TEST_F(ApiErrorTest, CodesAreCounted) {
  const std::string file = testing::TempDir() + "codes." + std::to_string(getpid());
  {
    const Variable name("OPENACLNN_CHECK_JSON", file.c_str());
    RuntimeTest::TearDown();
    RuntimeTest::SetUp();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(aclrtSetDevice(100 + i), 107001);
    EXPECT_EQ(aclrtDestroyEvent(nullptr), 100000);
    RuntimeTest::TearDown();
    RuntimeTest::SetUp();
    stream = NewStream();
  }
  std::vector<Json> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  std::filesystem::remove(file);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back()["summary"], Json({{"apicheck", 4}}));
  EXPECT_EQ(lines.back()["codes"], Json({{"107001", 3}, {"100000", 1}}));
}

class ApiErrorsNotWantedTest : public ApiErrorTest {
 protected:
  ApiErrorsNotWantedTest() : ApiErrorTest(nullptr) {}
};

TEST_F(ApiErrorsNotWantedTest, NothingIsSaid) {
  EXPECT_EQ(aclrtSetDevice(100), 107001);
  EXPECT_EQ(Reported(), "");
}

class ApiErrorsOffTest : public ApiErrorTest {
 protected:
  ApiErrorsOffTest() : ApiErrorTest("explicit", "off") {}
};

TEST_F(ApiErrorsOffTest, NothingIsSaid) {
  EXPECT_EQ(aclrtSetDevice(100), 107001);
  EXPECT_EQ(Reported(), "");
}

}  // namespace
}  // namespace openaclnn
