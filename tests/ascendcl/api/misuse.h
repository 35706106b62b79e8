// SPDX-License-Identifier: Apache-2.0
// The tables of misuse: rows that misuse_rows.cc and misuse_stream_rows.cc write and
// misuse_test.cc walks.
#pragma once

#include "tests/ascendcl/fixture.h"

namespace openaclnn {

class Misuse : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    stream = NewStream();
    event = NewEvent();
    ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
    ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
    ASSERT_EQ(aclrtMallocHost(&pinned, 64), 0);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtFree(device), 0);
    EXPECT_EQ(aclrtFreeHost(pinned), 0);
    EXPECT_EQ(aclrtDestroyEvent(event), 0);
    EXPECT_EQ(aclrtDestroyStream(stream), 0);
    RuntimeTest::TearDown();
  }

  std::vector<Refusal> Nulls();
  std::vector<Refusal> Devices();
  std::vector<Refusal> StreamsAndEvents();
  std::vector<Refusal> Allocations();
  std::vector<Refusal> Copies();
  std::vector<Refusal> AsyncCopies();
  std::vector<Refusal> Values();
  std::vector<Refusal> Functions();
  /// Every function that takes a stream, with one that it may not take.
  std::vector<Refusal> OnStream(aclrtStream where, int code, const char* says);
  /// Every function that needs a context, for a thread that has none.
  std::vector<Refusal> WithoutContext();

  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtContext context = nullptr;
  void* device = nullptr;
  void* pinned = nullptr;
  unsigned char host[64] = {};
  // Where results would be written.
  int32_t number = 0;
  uint32_t count = 0;
  void* made = nullptr;
  size_t size = 0;
  aclrtStreamStatus stream_status{};
  aclrtEventStatus event_status{};
  aclrtEventRecordedStatus recorded{};
  aclrtEventWaitStatus waited{};
  aclmdlRICaptureStatus capture_status{};
  uint64_t timestamp = 0;
  aclrtPtrAttributes attributes{};
};

}  // namespace openaclnn
