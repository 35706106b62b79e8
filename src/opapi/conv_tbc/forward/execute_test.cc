// SPDX-License-Identifier: Apache-2.0
// How ConvTbc runs: equal bits, views, repeated calls, misuse of phase 2.
#include <gtest/gtest.h>

#include <map>

#include "conv_tbc/forward/test_case.h"
#include "tests/support/bits.h"
#include "tests/support/misuse.h"

namespace openaclnn::test::conv_tbc::forward {
namespace {

using Bytes = std::vector<std::byte>;

const ConvCase kShape = {"", kEdge, 60, 5, 20, 35, 3, 1};

// The baseline has no FMA: its bits are its own, and within the bound.
TEST(ConvTbcBits, AreThoseOfOneThreadAndEveryFusedInstructionSet) {
  std::map<std::string, Bytes> first;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    uint64_t number = 0;
    for (const ConvCase& shape : Cases()) {
      if (shape.group == kPerf) continue;
      const aclDataType dtype = kFloatDtypes[number % 3];
      const Problem problem(shape, dtype, {++number, kWide, number % 3 == 0});
      ASSERT_EQ(problem.Run(device).message, "");
      if (setting == "OPENACLNN_SIMD=baseline") {
        EXPECT_TRUE(problem.IsRight()) << shape.name;
        continue;
      }
      const auto [entry, added] = first.emplace(shape.name, problem.y.Read());
      EXPECT_TRUE(added || entry->second == problem.y.Read()) << shape.name << " " << setting;
    }
  });
}

// A view gives the bits that its dense copy gives.
TEST(ConvTbcBits, AreThoseOfDenseViews) {
  const Device device;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Problem strided(kShape, kFloatDtypes[seed % 3], {seed, kNormal, true});
    Problem dense(kShape, kFloatDtypes[seed % 3], {seed, kNormal, false});
    dense.x.Write(strided.x.Read());
    dense.w.Write(strided.w.Read());
    dense.bias.Write(strided.bias.Read());
    ASSERT_EQ(strided.Run(device).message, "");
    ASSERT_EQ(dense.Run(device).message, "");
    EXPECT_EQ(strided.y.Read(), dense.y.Read());
  }
}

TEST(ConvTbcExecutor, RunsAgainWithNewAddresses) {
  const Device device;
  Problem first(kShape, ACL_FLOAT, {1, kNormal, false});
  Problem second(kShape, ACL_FLOAT, {2, kNormal, false});
  const Planned planned = first.Plan();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor()), 0);
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(Execute(device, planned, aclnnConvTbc).message, "");
    EXPECT_TRUE(first.IsRight());
    first.y.Scramble();
  }
  auto* const any = const_cast<aclTensor*>(first.x.handle());
  const DeviceTensor* operands[] = {&second.x, &second.w, &second.bias, &second.y};
  for (size_t i = 0; i < std::size(operands); ++i) {
    ASSERT_EQ(aclSetTensorAddr(planned.executor(), i, any, operands[i]->data()), 0);
  }
  ASSERT_EQ(Execute(device, planned, aclnnConvTbc).message, "");
  EXPECT_TRUE(second.IsRight());
  EXPECT_EQ(first.y.Change(), "");
}

TEST(ConvTbcMisuse, IsRefused) {
  const Device device;
  const Problem problem(kShape, ACL_FLOAT16);
  ExpectMisuseIsRefused(device, {kApi,
                                 aclnnConvTbc,
                                 [&] { return problem.Plan(); },
                                 {{"self", 0, &problem.x},
                                  {"weight", 1, &problem.w},
                                  {"bias", 2, &problem.bias},
                                  {"out", 3, &problem.y}}});
  EXPECT_TRUE(problem.IsRight());
}

}  // namespace
}  // namespace openaclnn::test::conv_tbc::forward
