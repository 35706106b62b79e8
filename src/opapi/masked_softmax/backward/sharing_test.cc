// SPDX-License-Identifier: Apache-2.0
// Outputs of ScaledMaskedSoftmaxBackward in its inputs: which views may be the same.
#include <gtest/gtest.h>

#include "masked_softmax/backward/test_case.h"

namespace openaclnn::test::masked_softmax::backward {
namespace {

/// A call of (2, 3, 4, 5) whose y and out lie in `memory`; the other inputs are their own.
Outcome RunIn(const Device& device, TensorSpec y, TensorSpec out) {
  const DeviceBuffer grad_memory(1024), mask_memory(1024);
  grad_memory.Write(std::vector<std::byte>(1024));
  mask_memory.Write(std::vector<std::byte>(1024));
  y.dims = out.dims = {2, 3, 4, 5};
  y.storage = out.storage = Dims{1000};
  const TensorHandle y_handle(y), out_handle(out);
  const TensorHandle grad({.dims = {2, 3, 4, 5}, .data = grad_memory.address()});
  const TensorHandle mask({.dims = {2, 1, 4, 5}, .dtype = ACL_BOOL, .data = mask_memory.address()});
  const Planned planned = Planned::Plan([&](uint64_t* size, aclOpExecutor** executor) {
    return aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(
        grad.get(), y_handle.get(), mask.get(), 1, false, out_handle.get(), size, executor);
  });
  return Execute(device, planned, aclnnScaledMaskedSoftmaxBackward);
}

// Only the very same view is allowed: a shifted, permuted or mirrored one is not.
TEST(ScaledMaskedSoftmaxBackwardMisuse, OutputInAnInput) {
  const Device device;
  const DeviceBuffer memory(8192);
  memory.Write(std::vector<std::byte>(8192));
  std::byte* const data = memory.address() + 64;
  const Dims dense = {60, 20, 5, 1};
  const auto run = [&](const Dims& strides, int64_t offset, std::byte* address) {
    return RunIn(device, {.strides = dense, .offset = 60, .data = data},
                 {.strides = strides, .offset = offset, .data = address});
  };
  EXPECT_EQ(run(dense, 60, data).message, "");
  // Describes the same elements in another way.
  EXPECT_EQ(run(dense, 59, data + 4).message, "");
  EXPECT_EQ(run(dense, 180, data).message, "");
  for (const Outcome& outcome :
       {run(dense, 61, data), run(dense, 60, data + 4), run(dense, 60, data - 4),
        run(dense, 179, data), run({60, 20, 1, 4}, 60, data), run({60, 20, 5, -1}, 64, data),
        run({-60, 20, 5, 1}, 120, data), run({120, 40, 10, 2}, 60, data)}) {
    EXPECT_EQ(outcome.code, 161002);
    EXPECT_EQ(outcome.message.substr(0, 8), "EZ1001: ") << outcome.message;
    EXPECT_NE(outcome.message.find(": out memory is shared with y, expected "), std::string::npos)
        << outcome.message;
  }
  // Elements between each other's: no byte is shared.
  const Outcome between = RunIn(device, {.strides = Dims{120, 40, 10, 2}, .data = data},
                                {.strides = Dims{120, 40, 10, 2}, .offset = 1, .data = data});
  EXPECT_EQ(between.message, "");
}

}  // namespace
}  // namespace openaclnn::test::masked_softmax::backward
