// SPDX-License-Identifier: Apache-2.0
// What tests of OPENACLNN_CHECK share: a runtime whose reports are kept, memory as it comes.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {

inline size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// Device memory in which nothing is written.
class NewMemory {
 public:
  explicit NewMemory(size_t bytes) : bytes_(bytes) {
    EXPECT_EQ(aclrtMalloc(&data_, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 0) << TakeMessage();
  }
  NewMemory(const NewMemory&) = delete;
  ~NewMemory() { EXPECT_EQ(aclrtFree(data_), 0) << TakeMessage(); }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
  void* data_ = nullptr;
};

/// A started runtime and a stream, with what is written to standard error meanwhile.
class WatchedTest : public RuntimeTest {
 protected:
  explicit WatchedTest(const char* level) : check_("OPENACLNN_CHECK", level) {}

  void SetUp() override {
    testing::internal::CaptureStderr();
    RuntimeTest::SetUp();
    stream = NewStream();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtSynchronizeDevice(), 0) << TakeMessage();
    EXPECT_EQ(aclrtDestroyStream(stream), 0);
    RuntimeTest::TearDown();
    (void)testing::internal::GetCapturedStderr();
  }

  /// What was said since the last time, once all tasks are done.
  static std::string Reported() {
    EXPECT_EQ(aclrtSynchronizeDevice(), 0) << TakeMessage();
    const std::string text = testing::internal::GetCapturedStderr();
    testing::internal::CaptureStderr();
    return text;
  }

  aclrtStream stream = nullptr;

 private:
  Variable check_;
};

}  // namespace openaclnn
