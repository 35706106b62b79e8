// SPDX-License-Identifier: Apache-2.0
// How ScaledMaskedSoftmaxBackward runs: equal bits, misuse of phase 2, outputs in inputs.
#include <gtest/gtest.h>

#include <map>

#include "masked_softmax/backward/test_case.h"
#include "tests/support/bits.h"
#include "tests/support/checks.h"
#include "tests/support/misuse.h"
#include "tests/support/small_stack.h"
#include "tests/support/tables.h"

namespace openaclnn::test::masked_softmax::backward {
namespace {

Case Shape(const Dims& dims) { return {"", kEdge, dims, kMaskOfBatch, 30, 0.5}; }

// No sum is fused with a product, so that the baseline gives the same bits as well.
TEST(ScaledMaskedSoftmaxBackwardBits, AreThoseOfOneThreadAndEveryInstructionSet) {
  std::map<std::string, std::vector<std::byte>> first;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    size_t number = 0;
    for (const Case& shape : Cases()) {
      if (shape.group == kPerf) continue;
      const aclDataType dtype = kFloatDtypes[number % 3];
      const Problem problem(shape, dtype, {++number, kWide, number % 2 == 0, true});
      ASSERT_EQ(problem.Run(device).message, "");
      const auto [entry, added] = first.emplace(shape.name, problem.out.Read());
      EXPECT_TRUE(added || entry->second == problem.out.Read()) << shape.name << " " << setting;
    }
  });
}

// A view gives the bits that its dense copy gives.
TEST(ScaledMaskedSoftmaxBackwardBits, AreThoseOfDenseViews) {
  const Device device;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Case shape = Shape({2, 3, 5, 301});
    const Problem strided(shape, ACL_FLOAT, {seed, kNormal, true, true});
    Problem dense(shape, ACL_FLOAT, {seed, kNormal, false, false});
    dense.grad_output.Write(strided.grad_output.Read());
    dense.y.Write(strided.y.Read());
    dense.mask.Write(strided.mask.Read());
    ASSERT_EQ(strided.Run(device).message, "");
    ASSERT_EQ(dense.Run(device).message, "");
    EXPECT_EQ(strided.out.Read(), dense.out.Read());
  }
}

TEST(ScaledMaskedSoftmaxBackwardExecutor, NeedsNoWorkspace) {
  const Device device;
  for (const bool strided : {false, true}) {
    const Problem problem(Shape({2, 3, 5, 30}), ACL_BF16, {1, kNormal, strided, true});
    EXPECT_EQ(problem.Plan().workspace_size(), 0u);
  }
}

// Whoever synchronises may run the task: on its own stack, however small.
TEST(ScaledMaskedSoftmaxBackwardExecutor, RunsOnASmallStack) {
  const Device device({{"OPENACLNN_NUM_THREADS", "1"}});
  for (const bool strided : {false, true}) {
    const Problem problem(Shape({1, 1, 2, 4096}), ACL_FLOAT, {1, kNormal, strided, true});
    OnSmallStack([&] {
      ASSERT_EQ(aclrtSetDevice(0), 0);
      for (int i = 0; i < 50; ++i) ASSERT_EQ(problem.Run(device).message, "");
      EXPECT_EQ(aclrtResetDevice(0), 0);
    });
    EXPECT_TRUE(problem.IsRight());
  }
}

TEST(ScaledMaskedSoftmaxBackwardMisuse, IsRefused) {
  const Device device;
  for (const aclDataType dtype : kFloatDtypes) {
    Case shape = Shape({2, 3, 5, 30});
    shape.mask = kMaskOfEach;
    const Problem problem(shape, dtype);
    ExpectMisuseIsRefused(device, {kApi,
                                   aclnnScaledMaskedSoftmaxBackward,
                                   [&] { return problem.Plan(); },
                                   {{"gradOutput", 0, &problem.grad_output, true},
                                    {"y", 1, &problem.y, true},
                                    {"mask", 2, &problem.mask},
                                    {"out", 3, &problem.out}}});
    EXPECT_TRUE(problem.IsRight());
  }
}

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
  // The same elements, said in another way.
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
