// SPDX-License-Identifier: Apache-2.0
// Tests that have a folder of their own and are traced to a file in it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "acl/acl.h"
#include "tests/ascendcl/fixture.h"

namespace openaclnn {

class TracedTest : public ::testing::Test {
 protected:
  TracedTest() { std::filesystem::create_directory(folder_); }
  ~TracedTest() override { std::filesystem::remove_all(folder_); }

  static void Start() {
    ASSERT_EQ(aclInit(nullptr), 0) << TakeMessage();
    ASSERT_EQ(aclrtSetDevice(0), 0);
  }
  static void Stop() {
    EXPECT_EQ(aclrtResetDevice(0), 0);
    EXPECT_EQ(aclFinalize(), 0);
  }
  /// Starts and stops; what was printed, which is the log.
  static std::string Log() {
    const Variable to_stdout("ASCEND_SLOG_PRINT_TO_STDOUT", "1");
    const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "3");
    testing::internal::CaptureStdout();
    Start();
    Stop();
    return testing::internal::GetCapturedStdout();
  }

  /// A death test's program writes where its parent will read.
  static std::filesystem::path Folder() {
    const char* parents = std::getenv("OPENACLNN_TEST_FOLDER");
    if (parents != nullptr) return parents;
    return std::filesystem::temp_directory_path() / ("openaclnn_" + std::to_string(getpid()));
  }

  const std::filesystem::path folder_ = Folder();
  // A process goes on with a file until it is told another: each test has its own.
  const std::filesystem::path file_ =
      folder_ / testing::UnitTest::GetInstance()->current_test_info()->name();
  const Variable variable_{"OPENACLNN_TRACE", file_.c_str()};
  const Variable parents_{"OPENACLNN_TEST_FOLDER", folder_.c_str()};
};

}  // namespace openaclnn
