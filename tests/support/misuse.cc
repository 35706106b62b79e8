// SPDX-License-Identifier: Apache-2.0
// The table of misuse in phase 2, walked for any operator.
#include "tests/support/misuse.h"

#include <gtest/gtest.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "tests/support/checks.h"

namespace openaclnn::test {
namespace {

class Misuse {
 public:
  Misuse(const Device& device, const OperatorProblem& problem, size_t output)
      : device_(device),
        problem_(problem),
        planned_(problem.Plan()),
        size_(planned_.workspace_size()),
        workspace_((size_ + 63) / 64 * 64) {
    for (const CallOperand& operand : problem.operands()) {
      if (operand.index == output) output_ = operand;
      if (!operand.is_output()) inputs_.push_back(operand);
    }
  }

  void Walk() {
    ASSERT_EQ(planned_.outcome().message, "");
    Executors();
    if (size_ > 0) Workspaces();
    for (const CallOperand& input : inputs_) Addresses(input);
    Addresses(output_);
    for (const CallOperand& input : inputs_) Overlap(input);
    Streams();
    EXPECT_TRUE(problem_.OutputsAreUntouched());
    ASSERT_EQ(Run().message, "");
    ASSERT_EQ(device_.Synchronize().message, "");
    ExpectError(Run(), 561103, "executor state is spent");
    const Planned destroyed = problem_.Plan();
    ASSERT_EQ(aclDestroyAclOpExecutor(destroyed.executor()), 0);
    ExpectError(Run(workspace_.address(), size_, destroyed.executor()), 561103,
                "executor state is spent or destroyed");
  }

 private:
  Outcome Run(void* workspace, uint64_t size, aclOpExecutor* executor) {
    return TakeOutcome(problem_.phase2()(workspace, size, executor, device_.stream()));
  }
  Outcome Run() { return Run(workspace_.address(), size_, planned_.executor()); }
  const DeviceTensor& out() const { return *output_.tensor; }

  void ExpectError(const Outcome& outcome, int code, const std::string& text) {
    EXPECT_EQ(outcome.code, code) << text;
    const std::string begin = std::string(CodePrefix(code)) + problem_.api() + ": " + text;
    EXPECT_EQ(outcome.message.substr(0, begin.size()), begin);
    EXPECT_NE(outcome.message.find("expected"), std::string::npos) << outcome.message;
  }

  void Executors() {
    auto* const workspace = workspace_.address();
    ExpectError(Run(workspace, size_, nullptr), 161001, "executor value is null");
    auto* const foreign = reinterpret_cast<aclOpExecutor*>(uintptr_t{0x4560});
    ExpectError(Run(workspace, size_, foreign), 561000, "executor value is 0x4560");
    auto* const tensor = reinterpret_cast<aclOpExecutor*>(const_cast<aclTensor*>(out().handle()));
    ExpectError(Run(workspace, size_, tensor), 561000, "executor value is ");
    auto* const stream = reinterpret_cast<aclOpExecutor*>(device_.stream());
    ExpectError(Run(workspace, size_, stream), 561000, "executor value is ");
    const TensorHandle weight({.dims = {2, 3}}), rows({.dims = {4, 3}});
    const TensorHandle indices({.dims = {4}, .dtype = ACL_INT32});
    const bool is_embedding = std::string_view(problem_.api()) == "aclnnEmbedding";
    const Planned other = Planned::Plan([&](uint64_t* size, aclOpExecutor** executor) {
      if (is_embedding) {
        return aclnnEmbeddingDenseBackwardGetWorkspaceSize(rows.get(), indices.get(), 2, 0, false,
                                                           weight.get(), size, executor);
      }
      return aclnnEmbeddingGetWorkspaceSize(weight.get(), indices.get(), rows.get(), size,
                                            executor);
    });
    ASSERT_EQ(other.outcome().message, "");
    ExpectError(Run(workspace, size_, other.executor()), 561000,
                std::string("executor operator is aclnnEmbedding") +
                    (is_embedding ? "DenseBackward" : "") + ", expected " + problem_.api());
  }

  void Workspaces() {
    aclOpExecutor* const executor = planned_.executor();
    ExpectError(Run(nullptr, size_, executor), 161001, "workspace value is null");
    ExpectError(Run(workspace_.address(), size_ - 1, executor), 161002,
                "workspaceSize value is " + std::to_string(size_ - 1) + ", expected at least " +
                    std::to_string(size_));
    ExpectError(Run(workspace_.address(), 0, executor), 161002, "workspaceSize value is 0");
    ExpectError(Run(out().data(), size_, executor), 161002, "workspace ");
    std::vector<std::byte> host(size_);
    ExpectError(Run(host.data(), size_, executor), 161002, "workspace data is ");
    const DeviceBuffer small(size_ - 1);
    ExpectError(Run(small.address(), size_, executor), 161002,
                "workspace data is " + std::to_string(size_) + " bytes");
  }

  /// Gives the operand another address for one run, which is refused.
  void ExpectAddressRefused(const CallOperand& operand, void* address, int code,
                            const std::string& text) {
    auto* const any = const_cast<aclTensor*>(out().handle());
    EXPECT_EQ(aclSetTensorAddr(planned_.executor(), operand.index, any, address), 0);
    ExpectError(Run(), code, text);
    EXPECT_EQ(aclSetTensorAddr(planned_.executor(), operand.index, any, operand.tensor->data()), 0);
  }

  void Addresses(const CallOperand& operand) {
    const std::string name = operand.name;
    const size_t bytes = operand.bytes();
    std::vector<std::byte> host(bytes);
    const DeviceBuffer small(bytes - 1);
    void *freed = nullptr, *pinned = nullptr;
    ASSERT_EQ(aclrtMallocHost(&pinned, bytes), 0);
    ASSERT_EQ(aclrtMalloc(&freed, bytes, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
    ASSERT_EQ(aclrtFree(freed), 0);
    ExpectAddressRefused(operand, nullptr, 161001, name + " data is null");
    ExpectAddressRefused(operand, host.data(), 161002, name + " data is 0x");
    ExpectAddressRefused(operand, freed, 161002, name + " data is 0x");
    ExpectAddressRefused(operand, pinned, 161002, name + " data is 0x");
    ASSERT_EQ(aclrtFreeHost(pinned), 0);
    ExpectAddressRefused(operand, small.address(), 161002,
                         name + " data is " + std::to_string(bytes) + " bytes from 0x");
  }

  /// The one where the other begins or ends, and an element before; only what fits.
  void Overlap(const CallOperand& input) {
    const std::string shared = std::string(output_.name) + " memory is shared with " + input.name;
    const bool may = input.role == CallOperand::kInputOrOutput;
    const size_t element = aclDataTypeSize(output_.tensor->dtype());
    auto* const in_data = static_cast<std::byte*>(input.tensor->data());
    auto* const out_data = static_cast<std::byte*>(output_.tensor->data());
    const size_t in_bytes = input.bytes(), out_bytes = output_.bytes();
    if (out_bytes <= in_bytes) {
      if (!may) ExpectAddressRefused(output_, in_data, 161002, shared);
      ExpectAddressRefused(output_, in_data - element, 161002, shared);
      if (!may) ExpectAddressRefused(output_, in_data + (in_bytes - out_bytes), 161002, shared);
    }
    if (in_bytes <= out_bytes) {
      if (!may) ExpectAddressRefused(input, out_data, 161002, shared);
      ExpectAddressRefused(input, out_data - element, 161002, shared);
    }
  }

  void Streams() {
    aclrtStream gone = nullptr;
    ASSERT_EQ(aclrtCreateStream(&gone), 0);
    ASSERT_EQ(aclrtDestroyStream(gone), 0);
    for (const aclrtStream stream : {gone, reinterpret_cast<aclrtStream>(uintptr_t{0x980})}) {
      ExpectError(
          TakeOutcome(problem_.phase2()(workspace_.address(), size_, planned_.executor(), stream)),
          107017, "stream value is ");
    }
  }

  const Device& device_;
  const OperatorProblem& problem_;
  const Planned planned_;
  const uint64_t size_;
  const DeviceBuffer workspace_;
  CallOperand output_ = {};
  std::vector<CallOperand> inputs_;
};

}  // namespace

void ExpectMisuseIsRefused(const Device& device, const OperatorProblem& problem, size_t output) {
  Misuse(device, problem, output).Walk();
}

}  // namespace openaclnn::test
