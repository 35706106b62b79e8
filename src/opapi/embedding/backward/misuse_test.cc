// SPDX-License-Identifier: Apache-2.0
// What EmbeddingDenseBackward refuses in phase 2, and that a refusal leaves the executor as it was.
#include <gtest/gtest.h>

#include "aclnnop/aclnn_embedding.h"
#include "embedding/backward/test_case.h"
#include "tests/support/checks.h"

namespace openaclnn::test::embedding::backward {
namespace {

/// A planned call of (60, 7) into 5 rows that keeps failing and then works.
class Misuse : public testing::Test {
 protected:
  static Case Shape() { return {"", kEdge, {60}, 7, 5, kNoPadding, false, kUniformRows}; }

  Outcome Run(void* workspace, uint64_t size, aclOpExecutor* executor) {
    return TakeOutcome(aclnnEmbeddingDenseBackward(workspace, size, executor, device_.stream()));
  }
  Outcome Run() { return Run(workspace_.address(), size_, executor()); }
  aclOpExecutor* executor() { return planned_.executor(); }

  void ExpectError(const Outcome& outcome, int code, const std::string& text) {
    EXPECT_EQ(outcome.code, code);
    const std::string begin = std::string(CodePrefix(code)) + kApi + ": " + text;
    EXPECT_EQ(outcome.message.substr(0, begin.size()), begin);
    EXPECT_NE(outcome.message.find("expected"), std::string::npos) << outcome.message;
    EXPECT_EQ(problem_.out.Change(), "");
  }

  /// Gives the operand another address, expects the refusal, and takes it back.
  void ExpectAddressRefused(size_t operand, void* address, int code, const std::string& text) {
    SCOPED_TRACE(text);
    const DeviceTensor* tensors[] = {&problem_.grad, &problem_.indices, &problem_.out};
    auto* any = const_cast<aclTensor*>(problem_.grad.handle());
    EXPECT_EQ(aclSetTensorAddr(executor(), operand, any, address), 0);
    ExpectError(Run(), code, text);
    EXPECT_EQ(aclSetTensorAddr(executor(), operand, any, tensors[operand]->data()), 0);
  }

  /// Refusals before have not spent the executor.
  void TearDown() override {
    if (skip_final_run_) return;
    ASSERT_EQ(Run().message, "");
    ASSERT_EQ(device_.Synchronize().message, "");
    EXPECT_TRUE(problem_.IsRight());
  }

  Device device_;
  Problem problem_{Shape(), {}};
  Planned planned_ = problem_.Plan();
  uint64_t size_ = planned_.workspace_size();
  DeviceBuffer workspace_{(size_ + 63) / 64 * 64};
  bool skip_final_run_ = false;
};

TEST_F(Misuse, ExecutorsThatAreNone) {
  ExpectError(Run(workspace_.address(), size_, nullptr), 161001, "executor value is null");
  auto* const foreign = reinterpret_cast<aclOpExecutor*>(uintptr_t{0x4560});
  ExpectError(Run(workspace_.address(), size_, foreign), 561000, "executor value is 0x4560");
  auto* const tensor =
      reinterpret_cast<aclOpExecutor*>(const_cast<aclTensor*>(problem_.grad.handle()));
  ExpectError(Run(workspace_.address(), size_, tensor), 561000, "executor value is ");
  const auto stream = reinterpret_cast<aclOpExecutor*>(device_.stream());
  ExpectError(Run(workspace_.address(), size_, stream), 561000, "executor value is ");
}

TEST_F(Misuse, ExecutorOfAnotherOperator) {
  const TensorHandle weight({.dims = {5, 7}, .data = problem_.out.data()});
  const TensorHandle rows({.dims = {60, 7}, .data = problem_.grad.data()});
  const Planned other = Planned::Plan([&](uint64_t* size, aclOpExecutor** executor) {
    return aclnnEmbeddingGetWorkspaceSize(weight.get(), problem_.indices.handle(), rows.get(), size,
                                          executor);
  });
  ASSERT_EQ(other.outcome().message, "");
  ExpectError(Run(workspace_.address(), size_, other.executor()), 561000,
              "executor operator is aclnnEmbedding, expected aclnnEmbeddingDenseBackward");
}

TEST_F(Misuse, ExecutorThatHasRunOrIsDestroyed) {
  skip_final_run_ = true;
  ASSERT_EQ(Run().code, 0);
  ASSERT_EQ(device_.Synchronize().code, 0);
  problem_.out.Scramble();
  ExpectError(Run(), 561103, "executor state is spent");
  const Planned destroyed = problem_.Plan();
  ASSERT_EQ(aclDestroyAclOpExecutor(destroyed.executor()), 0);
  ExpectError(Run(workspace_.address(), size_, destroyed.executor()), 561103,
              "executor state is spent or destroyed");
}

TEST_F(Misuse, Workspace) {
  ExpectError(Run(nullptr, size_, executor()), 161001, "workspace value is null");
  ExpectError(Run(workspace_.address(), size_ - 1, executor()), 161002,
              "workspaceSize value is " + std::to_string(size_ - 1) + ", expected at least " +
                  std::to_string(size_));
  ExpectError(Run(workspace_.address(), 0, executor()), 161002, "workspaceSize value is 0");
  std::vector<std::byte> host(size_);
  ExpectError(Run(host.data(), size_, executor()), 161002, "workspace data is ");
  const DeviceBuffer small(size_ - 1);
  ExpectError(Run(small.address(), size_, executor()), 161002,
              "workspace data is " + std::to_string(size_) + " bytes");
  ExpectError(Run(problem_.out.data(), size_, executor()), 161002, "workspace ");
}

TEST_F(Misuse, WorkspaceInTheOutput) {
  // One allocation that would hold both.
  const DeviceBuffer both(1 << 16);
  auto* any = const_cast<aclTensor*>(problem_.grad.handle());
  ASSERT_EQ(aclSetOutputTensorAddr(executor(), 0, any, both.address() + size_ - 4), 0);
  ExpectError(Run(both.address(), size_, executor()), 161002,
              "workspace memory is shared with out");
  ASSERT_EQ(aclSetOutputTensorAddr(executor(), 0, any, both.address() + size_), 0);
  EXPECT_EQ(Run(both.address(), size_, executor()).message, "");
  skip_final_run_ = true;
}

TEST_F(Misuse, DataThatIsNotDeviceMemory) {
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 1 << 16), 0);
  std::vector<float> host(1 << 12);
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 1 << 12, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
  ASSERT_EQ(aclrtFree(freed), 0);
  const char* names[] = {"grad", "indices", "out"};
  for (size_t operand = 0; operand < 3; ++operand) {
    const std::string name = names[operand];
    ExpectAddressRefused(operand, nullptr, 161001, name + " data is null");
    ExpectAddressRefused(operand, host.data(), 161002, name + " data is 0x");
    ExpectAddressRefused(operand, pinned, 161002, name + " data is 0x");
    ExpectAddressRefused(operand, freed, 161002, name + " data is 0x");
  }
  aclrtFreeHost(pinned);
}

// One byte less than the view reaches.
TEST_F(Misuse, MemoryTooSmall) {
  const size_t bytes[] = {60 * 7 * 4, 60 * 8, 5 * 7 * 4};
  const char* names[] = {"grad", "indices", "out"};
  for (size_t operand = 0; operand < 3; ++operand) {
    const DeviceBuffer small(bytes[operand] - 1);
    ExpectAddressRefused(operand, small.address(), 161002,
                         std::string(names[operand]) + " data is " +
                             std::to_string(bytes[operand]) + " bytes from 0x");
  }
}

TEST_F(Misuse, OutputInAnInput) {
  auto* const grad = static_cast<std::byte*>(problem_.grad.data());
  auto* const indices = static_cast<std::byte*>(problem_.indices.data());
  ExpectAddressRefused(2, grad, 161002, "out memory is shared with grad");
  ExpectAddressRefused(2, grad + (60 * 7 - 5 * 7) * 4, 161002, "out memory is shared with grad");
  ExpectAddressRefused(2, indices, 161002, "out memory is shared with indices");
  ExpectAddressRefused(2, indices + 160, 161002, "out memory is shared with indices");
}

TEST_F(Misuse, Streams) {
  aclrtStream gone = nullptr;
  ASSERT_EQ(aclrtCreateStream(&gone), 0);
  ASSERT_EQ(aclrtDestroyStream(gone), 0);
  for (const aclrtStream stream : {gone, reinterpret_cast<aclrtStream>(uintptr_t{0x980})}) {
    const Outcome outcome =
        TakeOutcome(aclnnEmbeddingDenseBackward(workspace_.address(), size_, executor(), stream));
    ExpectError(outcome, 107017, "stream value is ");
  }
}

// Interleaved columns share no element: neither output is refused.
TEST(MisuseOfMemory, ViewsBesideEachOther) {
  const Device device;
  const DeviceBuffer memory(4096);
  memory.Write(std::vector<std::byte>(4096));
  const DeviceBuffer workspace(4096);
  const auto spec = [&](int64_t columns_apart, std::byte* data) {
    return TensorSpec{.dims = {5, 7},
                      .strides = Dims{14 + columns_apart, 1},
                      .storage = Dims{1000},
                      .data = data};
  };
  const TensorHandle indices({.dims = {5}, .dtype = ACL_INT64, .data = memory.address() + 2048});
  const auto run = [&](std::byte* out_data) {
    const TensorHandle grad(spec(0, memory.address())), out(spec(0, out_data));
    const Planned planned = Planned::Plan([&](uint64_t* size, aclOpExecutor** executor) {
      return aclnnEmbeddingDenseBackwardGetWorkspaceSize(grad.get(), indices.get(), 5, kNoPadding,
                                                         false, out.get(), size, executor);
    });
    return Execute(device, planned, aclnnEmbeddingDenseBackward);
  };
  EXPECT_EQ(run(memory.address() + 7 * 4).message, "");
  EXPECT_EQ(run(memory.address() + 7 * 4 - 1).code, 161002);
  EXPECT_EQ(run(memory.address() + 6 * 4).code, 161002);
}

}  // namespace
}  // namespace openaclnn::test::embedding::backward
