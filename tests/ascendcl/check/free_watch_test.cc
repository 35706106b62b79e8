// SPDX-License-Identifier: Apache-2.0
// OPENACLNN_CHECK=full: memory that is freed while tasks which the host has not waited for use it,
// copies onto themselves, and what is said of a second aclrtFree.
#include <memory>

#include "aclnnop/aclnn_exp.h"
#include "common/text.h"
#include "tests/ascendcl/gradient.h"
#include "tests/ascendcl/watched.h"

namespace openaclnn {
namespace {

using ::testing::HasSubstr;

constexpr size_t kBytes = 400;

class FreeWatchTest : public WatchedTest {
 protected:
  explicit FreeWatchTest(const char* level = "full") : WatchedTest(level) {}

  static void* New(size_t bytes = kBytes) {
    void* memory = nullptr;
    EXPECT_EQ(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 0) << TakeMessage();
    EXPECT_EQ(aclrtMemset(memory, bytes, 1, bytes), 0) << TakeMessage();
    return memory;
  }
  static std::byte* Behind(void* memory, size_t bytes) {
    return static_cast<std::byte*>(memory) + bytes;
  }
  void Fill(void* memory) const {
    ASSERT_EQ(aclrtMemsetAsync(memory, kBytes, 0, kBytes, stream), 0) << TakeMessage();
  }
  void Move(void* to, const void* from, size_t bytes) const {
    ASSERT_EQ(aclrtMemcpyAsync(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 0)
        << TakeMessage();
  }
};

TEST_F(FreeWatchTest, DeviceMemoryThatATaskUses) {
  void* memory = New();
  Fill(memory);
  ASSERT_EQ(aclrtFree(memory), 0);
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr(Concat("racecheck: nothing orders aclrtFree on the host\n         "
                                     "after aclrtMemsetAsync on stream ",
                                     stream, "\n")));
  EXPECT_THAT(text, HasSubstr("what:  aclrtFree frees devPtr; aclrtMemsetAsync, called before, "
                              "writes devPtr"));
  EXPECT_THAT(text, HasSubstr("where: bytes 0 to 399 of the 400 that were allocated at "));
  EXPECT_THAT(text, HasSubstr(" before aclrtFree (aclrtSynchronizeStream)"));
}

TEST_F(FreeWatchTest, WhatATaskOnlyReads) {
  void *from = New(), *to = New();
  Move(to, from, kBytes);
  ASSERT_EQ(aclrtFree(from), 0);
  EXPECT_THAT(Reported(), HasSubstr("aclrtFree frees devPtr; aclrtMemcpyAsync, called before, "
                                    "reads src"));
  ASSERT_EQ(aclrtFree(to), 0);
  EXPECT_EQ(Reported(), "") << "the host has waited";
}

TEST_F(FreeWatchTest, AnOperatorsOperands) {
  void *from = New(), *to = New();
  aclTensor *self = Gradient::Tensor({100}, ACL_FLOAT, from),
            *out = Gradient::Tensor({100}, ACL_FLOAT, to);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnExpGetWorkspaceSize(self, out, &size, &executor), 0) << TakeMessage();
  ASSERT_EQ(aclnnExp(nullptr, size, executor, stream), 0) << TakeMessage();
  ASSERT_EQ(aclrtFree(to), 0);
  EXPECT_THAT(Reported(), HasSubstr("aclrtFree frees devPtr; aclnnExp, called before, writes out"));
  ASSERT_EQ(aclrtFree(from), 0);
  ASSERT_EQ(aclDestroyTensor(self), 0);
  ASSERT_EQ(aclDestroyTensor(out), 0);
}

TEST_F(FreeWatchTest, PinnedMemoryThatACopyUses) {
  void *memory = New(), *pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, kBytes), 0);
  ASSERT_EQ(aclrtMemcpyAsync(memory, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
  ASSERT_EQ(aclrtFreeHost(pinned), 0);
  EXPECT_THAT(Reported(), HasSubstr("aclrtFreeHost frees hostPtr; aclrtMemcpyAsync, called before, "
                                    "reads src"));
  ASSERT_EQ(aclrtFree(memory), 0);
}

// However the host knows that the task is done.
TEST_F(FreeWatchTest, BehindAWaitOfTheHost) {
  const aclrtEvent event = NewEvent();
  const aclrtStream other = NewStream();
  for (const int way : {0, 1, 2, 3}) {
    void* memory = New();
    Fill(memory);
    if (way == 0) {
      ASSERT_EQ(aclrtSynchronizeDevice(), 0);
    } else if (way == 1) {
      ASSERT_EQ(aclrtRecordEvent(event, stream), 0);
      ASSERT_EQ(aclrtSynchronizeEvent(event), 0);
    } else if (way == 2) {
      ASSERT_EQ(aclrtRecordEvent(event, stream), 0);
      ASSERT_EQ(aclrtStreamWaitEvent(other, event), 0);
      ASSERT_EQ(aclrtSynchronizeStream(other), 0);
    } else {
      aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
      while (status != ACL_STREAM_STATUS_COMPLETE) ASSERT_EQ(aclrtStreamQuery(stream, &status), 0);
    }
    ASSERT_EQ(aclrtFree(memory), 0);
    EXPECT_EQ(Reported(), "") << way;
  }
  ASSERT_EQ(aclrtDestroyStream(other), 0);
  ASSERT_EQ(aclrtDestroyEvent(event), 0);
}

TEST_F(FreeWatchTest, BehindTheEndOfTheStream) {
  void* memory = New();
  const aclrtStream other = NewStream();
  ASSERT_EQ(aclrtMemsetAsync(memory, kBytes, 0, kBytes, other), 0);
  ASSERT_EQ(aclrtDestroyStream(other), 0);
  ASSERT_EQ(aclrtFree(memory), 0);
  EXPECT_EQ(Reported(), "");
}

// The addresses begin anew: what was said of the memory before is not said of the next.
TEST_F(FreeWatchTest, ARefusedFreeSaysNothing) {
  void* memory = New();
  Fill(memory);
  EXPECT_EQ(aclrtFreeHost(memory), 107000);
  EXPECT_EQ(aclrtFree(Behind(memory, 8)), 107000);
  EXPECT_EQ(Count(Reported(), "racecheck"), 0U);
  ASSERT_EQ(aclrtFree(memory), 0);
}

TEST_F(FreeWatchTest, CopiesThatOverlap) {
  void* memory = New(1000);
  Move(Behind(memory, 100), memory, 300);
  std::string text = Reported();
  EXPECT_THAT(text, HasSubstr(Concat("racecheck: aclrtMemcpyAsync on stream ", stream,
                                     " copies between places that overlap\n")));
  EXPECT_THAT(text, HasSubstr("what:  dst begins 100 bytes behind src; "));
  EXPECT_THAT(text, HasSubstr("where: bytes 100 to 299 of the 1000 that were allocated at "));
  ASSERT_EQ(aclrtMemcpy(memory, 300, Behind(memory, 299), 300, ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
  text = Reported();
  EXPECT_THAT(text, HasSubstr("racecheck: aclrtMemcpy on the host copies between places that"));
  EXPECT_THAT(text, HasSubstr("what:  dst begins 299 bytes before src; "));
  EXPECT_THAT(text, HasSubstr("where: byte 299 of the 1000 "));
  ASSERT_EQ(aclrtFree(memory), 0);
}

TEST_F(FreeWatchTest, CopiesThatDoNot) {
  void* memory = New(1000);
  Move(memory, memory, 300);  // changes nothing
  Move(Behind(memory, 300), memory, 300);
  ASSERT_EQ(aclrtMemcpy2dAsync(Behind(memory, 10), 20, memory, 20, 10, 40,
                               ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
            0)
      << "between each other's rows";
  EXPECT_EQ(Reported(), "");
  ASSERT_EQ(aclrtFree(memory), 0);
}

class SecondFreeTest : public FreeWatchTest {
 protected:
  SecondFreeTest() : FreeWatchTest("fast") {}
};

// While a task holds the first one's memory there, and a neighbour lives.
TEST_F(SecondFreeTest, IsSaidToBeOne) {
  void *before = New(4096), *memory = New(4096), *behind = New(4096);
  {
    const Gate gate(stream);
    Fill(memory);
    ASSERT_EQ(aclrtFree(memory), 0);
    ASSERT_EQ(aclrtFree(memory), 107000);
    EXPECT_THAT(TakeMessage(), HasSubstr(Concat("devPtr value is ", memory,
                                                ", which aclrtFree has freed already, expected")));
  }
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr("where: byte 0 of the 4096 that were allocated at "));
  EXPECT_THAT(text, HasSubstr(" and that aclrtFree has freed"));
  for (void* each : {before, behind}) ASSERT_EQ(aclrtFree(each), 0);
}

// Of what was freed long ago no more is known; its neighbours have nothing to do with it.
TEST_F(SecondFreeTest, OfWhatWasFreedLongAgoNamesNoNeighbour) {
  void *before = New(4096), *memory = New(4096), *behind = New(4096);
  ASSERT_EQ(aclrtFree(memory), 0);
  for (int i = 0; i < 1100; ++i) {  // more than are remembered, and too large for its place
    void* other = nullptr;
    ASSERT_EQ(aclrtMalloc(&other, size_t{1} << 20, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    ASSERT_EQ(aclrtFree(other), 0);
  }
  TakeMessage();
  EXPECT_EQ(aclrtFree(memory), 107000);
  EXPECT_THAT(TakeMessage(), HasSubstr(Concat("devPtr value is ", memory, ", expected the start")));
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr(": no allocation is there now; it was freed, or was never made"));
  EXPECT_EQ(Count(text, "behind the"), 0U);
  for (void* each : {before, behind}) ASSERT_EQ(aclrtFree(each), 0);
}

}  // namespace
}  // namespace openaclnn
