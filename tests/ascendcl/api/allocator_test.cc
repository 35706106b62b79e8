// SPDX-License-Identifier: Apache-2.0
// Allocators of the program: what a stream has, and operators by their graph names that use them.
#include "tests/companions/single_op.h"

namespace openaclnn {
namespace {

/// An allocator that counts; its blocks are not the addresses themselves.
struct Counting {
  struct Block {
    void* address;
  };

  static void* Allocate(void* self, size_t bytes) {
    auto* counting = static_cast<Counting*>(self);
    ++counting->allocated;
    if (counting->throws) throw 1;
    if (counting->empty) return nullptr;
    auto* block = new Block;
    EXPECT_EQ(aclrtMalloc(&block->address, bytes, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
    return block;
  }
  static void Free(void* self, void* given) {
    auto* block = static_cast<Block*>(given);
    ++static_cast<Counting*>(self)->freed;
    EXPECT_EQ(aclrtFree(block->address), 0);
    delete block;
    if (static_cast<Counting*>(self)->throws_late) throw 2;
  }
  static void* Address(void* block) { return static_cast<Block*>(block)->address; }

  bool empty = false, throws = false, throws_late = false;
  int allocated = 0, freed = 0;
};

class AllocatorTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    desc = aclrtAllocatorCreateDesc();
    ASSERT_NE(desc, nullptr);
    EXPECT_EQ(aclrtAllocatorSetObjToDesc(desc, &counting), 0);
    EXPECT_EQ(aclrtAllocatorSetAllocFuncToDesc(desc, Counting::Allocate), 0);
    EXPECT_EQ(aclrtAllocatorSetFreeFuncToDesc(desc, Counting::Free), 0);
    EXPECT_EQ(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, Counting::Address), 0);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtAllocatorUnregister(nullptr), 0);
    RuntimeTest::TearDown();
  }

  /// The sum of 2^16 columns takes a workspace.
  int Sum() const {
    const DeviceArray<float> x(std::vector<float>(1 << 16, 1)), sum{std::vector<float>{0}};
    SingleOp op("BiasAddGrad");
    op.Add(true, ACL_FLOAT, x.data(), x.bytes(), {1 << 16, 1});
    op.Add(false, ACL_FLOAT, sum.data(), sum.bytes(), {1});
    const int code = op.Run();
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
    EXPECT_EQ(sum.Read(), std::vector<float>(1, code == 0 ? 65536.0F : 0));
    return code;
  }

  Counting counting;
  aclrtAllocatorDesc desc = nullptr;
};

TEST_F(AllocatorTest, AStreamHasWhatWasRegistered) {
  ASSERT_EQ(aclrtAllocatorSetAllocAdviseFuncToDesc(
                desc, [](void*, size_t, void*) -> void* { return nullptr; }),
            0);
  ASSERT_EQ(aclrtAllocatorRegister(nullptr, desc), 0) << TakeMessage();
  ASSERT_EQ(aclrtAllocatorDestroyDesc(desc), 0) << "the stream has a copy";
  aclrtAllocatorDesc got = nullptr;
  aclrtAllocator object = nullptr;
  aclrtAllocatorAllocFunc allocate = nullptr;
  aclrtAllocatorFreeFunc free = nullptr;
  aclrtAllocatorAllocAdviseFunc advise = nullptr;
  aclrtAllocatorGetAddrFromBlockFunc address = nullptr;
  const auto get = [&](aclrtStream stream) {
    ASSERT_EQ(aclrtAllocatorGetByStream(stream, &got, &object, &allocate, &free, &advise, &address),
              0);
  };
  get(nullptr);
  EXPECT_EQ(got, desc);
  EXPECT_EQ(object, &counting);
  EXPECT_EQ(allocate, Counting::Allocate);
  EXPECT_EQ(free, Counting::Free);
  EXPECT_NE(advise, nullptr);
  EXPECT_EQ(address, Counting::Address);
  aclrtStream other = NewStream();
  get(other);
  EXPECT_EQ(got, nullptr);
  EXPECT_EQ(object, nullptr);
  EXPECT_EQ(allocate, nullptr);
  EXPECT_EQ(aclrtDestroyStream(other), 0);
  EXPECT_EQ(
      aclrtAllocatorGetByStream(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr), 0);
  ASSERT_EQ(aclrtAllocatorUnregister(nullptr), 0);
  get(nullptr);
  EXPECT_EQ(free, nullptr);
}

TEST_F(AllocatorTest, OperatorsTakeTheirMemoryFromIt) {
  ASSERT_EQ(Sum(), 0) << TakeMessage();
  EXPECT_EQ(counting.allocated, 0);
  ASSERT_EQ(aclrtAllocatorRegister(nullptr, desc), 0) << TakeMessage();
  ASSERT_EQ(Sum(), 0) << TakeMessage();
  EXPECT_EQ(counting.allocated, 1);
  EXPECT_EQ(counting.freed, 1);
  counting.empty = true;
  ExpectRefused({"aclopCompileAndExecute", [this] { return Sum(); }, ACL_ERROR_RT_MEMORY_ALLOCATION,
                 "stream allocator gives null for "});
  EXPECT_EQ(counting.freed, 1);
  counting = {};
  counting.throws = true;
  ExpectRefused({"aclopCompileAndExecute", [this] { return Sum(); }, ACL_ERROR_RT_MEMORY_ALLOCATION,
                 "stream allocator gives an exception for "});
  counting = {};
  counting.throws_late = true;
  EXPECT_EQ(Sum(), 0) << "what it throws then comes too late";
  EXPECT_EQ(counting.freed, 1);
  EXPECT_EQ(aclrtAllocatorDestroyDesc(desc), 0);
}

class CheckedAllocatorTest : public AllocatorTest {
 private:
  const Variable check_{"OPENACLNN_CHECK", "full"};
};

// The library gives back what its tasks still use, with and without the program's allocator: that
// is no mistake of the program's.
TEST_F(CheckedAllocatorTest, NobodyIsToldOfWhatTheLibraryGivesBack) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Sum(), 0) << TakeMessage();
  ASSERT_EQ(aclrtAllocatorRegister(nullptr, desc), 0) << TakeMessage();
  EXPECT_EQ(Sum(), 0) << TakeMessage();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(aclrtAllocatorDestroyDesc(desc), 0);
}

TEST_F(AllocatorTest, Refusals) {
  int none = 0;
  const char* const registers = "aclrtAllocatorRegister";
  const auto refuse = [&](aclrtAllocatorDesc given, int code, const char* says) {
    ExpectRefused({registers, [=] { return aclrtAllocatorRegister(nullptr, given); }, code, says});
  };
  const int invalid = ACL_ERROR_INVALID_PARAM, dead = ACL_ERROR_RT_INVALID_HANDLE;
  refuse(nullptr, invalid, "allocatorDesc value is null");
  refuse(&none, dead, "allocatorDesc value is 0x");
  const aclrtAllocatorDesc part = aclrtAllocatorCreateDesc();
  refuse(part, invalid, "allocatorDesc function is missing, expected an allocFunc");
  EXPECT_EQ(aclrtAllocatorSetAllocFuncToDesc(part, Counting::Allocate), 0);
  refuse(part, invalid, "allocatorDesc function is missing, expected a freeFunc");
  EXPECT_EQ(aclrtAllocatorSetFreeFuncToDesc(part, Counting::Free), 0);
  refuse(part, invalid, "allocatorDesc function is missing, expected a getAddrFromBlockFunc");
  EXPECT_EQ(aclrtAllocatorDestroyDesc(part), 0);
  refuse(part, dead, "allocatorDesc value is 0x");
  const auto refuse_all = [](aclrtAllocatorDesc bad, int code) {
    EXPECT_EQ(aclrtAllocatorDestroyDesc(bad), code);
    EXPECT_EQ(aclrtAllocatorSetObjToDesc(bad, nullptr), code);
    EXPECT_EQ(aclrtAllocatorSetAllocFuncToDesc(bad, nullptr), code);
    EXPECT_EQ(aclrtAllocatorSetFreeFuncToDesc(bad, nullptr), code);
    EXPECT_EQ(aclrtAllocatorSetAllocAdviseFuncToDesc(bad, nullptr), code);
    EXPECT_EQ(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(bad, nullptr), code);
    TakeMessage();
  };
  refuse_all(part, dead);
  refuse_all(&none, dead);
  refuse_all(nullptr, invalid);
  EXPECT_EQ(aclrtAllocatorDestroyDesc(desc), 0);
}

}  // namespace
}  // namespace openaclnn
