// SPDX-License-Identifier: Apache-2.0
// How ScaledMaskedSoftmax runs: equal bits, misuse of phase 2.
#include <gtest/gtest.h>

#include <map>

#include "masked_softmax/forward/test_case.h"
#include "tests/support/bits.h"
#include "tests/support/misuse.h"
#include "tests/support/small_stack.h"
#include "tests/support/tables.h"

namespace openaclnn::test::masked_softmax::forward {
namespace {

Case Shape(const Dims& dims) { return {"", kEdge, dims, kMaskOfEach, 30, 0.5}; }

// The exponential uses no fused operation, so that the baseline gives the same bits as well.
TEST(ScaledMaskedSoftmaxBits, AreThoseOfOneThreadAndEveryInstructionSet) {
  std::map<std::string, std::vector<std::byte>> first;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    size_t number = 0;
    for (const Case& shape : Cases()) {
      if (shape.group == kPerf) continue;
      const aclDataType dtype = kFloatDtypes[number % 3];
      const Problem problem(shape, dtype, {++number, kNormal, number % 2 == 0, true});
      ASSERT_EQ(problem.Run(device).message, "");
      const auto [entry, added] = first.emplace(shape.name, problem.y.Read());
      EXPECT_TRUE(added || entry->second == problem.y.Read()) << shape.name << " " << setting;
    }
  });
}

// A view gives the bits that its dense copy gives.
TEST(ScaledMaskedSoftmaxBits, AreThoseOfDenseViews) {
  const Device device;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Case shape = Shape({2, 3, 5, 301});
    const Problem strided(shape, ACL_FLOAT, {seed, kNormal, true, true});
    Problem dense(shape, ACL_FLOAT, {seed, kNormal, false, false});
    dense.x.Write(strided.x.Read());
    dense.mask.Write(strided.mask.Read());
    ASSERT_EQ(strided.Run(device).message, "");
    ASSERT_EQ(dense.Run(device).message, "");
    EXPECT_EQ(strided.y.Read(), dense.y.Read());
  }
}

TEST(ScaledMaskedSoftmaxExecutor, NeedsNoWorkspace) {
  const Device device;
  for (const bool strided : {false, true}) {
    const Problem problem(Shape({2, 3, 5, 30}), ACL_BF16, {1, kNormal, strided, true});
    EXPECT_EQ(problem.Plan().workspace_size(), 0u);
  }
}

// Whoever synchronises may run the task: on its own stack, however small.
TEST(ScaledMaskedSoftmaxExecutor, RunsOnASmallStack) {
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

// The output may not be x, not even the very same view.
TEST(ScaledMaskedSoftmaxMisuse, IsRefused) {
  const Device device;
  for (const aclDataType dtype : kFloatDtypes) {
    const Problem problem(Shape({2, 3, 5, 30}), dtype);
    ExpectMisuseIsRefused(
        device, {kApi,
                 aclnnScaledMaskedSoftmax,
                 [&] { return problem.Plan(); },
                 {{"x", 0, &problem.x}, {"mask", 1, &problem.mask}, {"y", 2, &problem.y}}});
    EXPECT_TRUE(problem.IsRight());
  }
}

}  // namespace
}  // namespace openaclnn::test::masked_softmax::forward
