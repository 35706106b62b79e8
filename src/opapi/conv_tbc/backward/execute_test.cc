// SPDX-License-Identifier: Apache-2.0
// How ConvTbcBackward runs: equal bits, views, repeated calls, misuse of phase 2.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "conv_tbc/backward/test_case.h"
#include "tests/support/bits.h"
#include "tests/support/misuse.h"

namespace openaclnn::test::conv_tbc::backward {
namespace {

using Bytes = std::vector<std::byte>;

const ConvCase kShape = {"", kEdge, 60, 5, 20, 35, 3, 1};

std::tuple<Bytes, Bytes, Bytes> Outputs(const Problem& problem) {
  return {problem.dx.Read(), problem.dw.Read(), problem.db.Read()};
}

// The baseline has no FMA: its bits are its own, and within the bound.
TEST(ConvTbcBackwardBits, AreThoseOfOneThreadAndEveryFusedInstructionSet) {
  std::map<std::string, std::tuple<Bytes, Bytes, Bytes>> first;
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
      const auto [entry, added] = first.emplace(shape.name, Outputs(problem));
      EXPECT_TRUE(added || entry->second == Outputs(problem)) << shape.name << " " << setting;
    }
  });
}

// A view gives the bits that its dense copy gives.
TEST(ConvTbcBackwardBits, AreThoseOfDenseViews) {
  const Device device;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Problem strided(kShape, kFloatDtypes[seed % 3], {seed, kNormal, true});
    Problem dense(kShape, kFloatDtypes[seed % 3], {seed, kNormal, false});
    dense.dy.Write(strided.dy.Read());
    dense.x.Write(strided.x.Read());
    dense.w.Write(strided.w.Read());
    ASSERT_EQ(strided.Run(device).message, "");
    ASSERT_EQ(dense.Run(device).message, "");
    EXPECT_EQ(Outputs(strided), Outputs(dense));
  }
}

// dy is packed as narrow as it is, not padded to a tile.
TEST(ConvTbcBackwardWorkspace, OfOneOutputChannelIsThatOfDy) {
  const Device device;
  const Problem problem({"", kEdge, 20000, 16, 20, 1, 3, 1}, ACL_FLOAT);
  const auto dy_bytes = static_cast<uint64_t>(problem.dy.layout().count()) * sizeof(float);
  EXPECT_LT(problem.Plan().workspace_size(), 2 * dy_bytes);
}

TEST(ConvTbcBackwardExecutor, RunsAgainWithNewAddresses) {
  const Device device;
  Problem first(kShape, ACL_FLOAT, {1, kNormal, false});
  Problem second(kShape, ACL_FLOAT, {2, kNormal, false});
  const Planned planned = first.Plan();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor()), 0);
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(Execute(device, planned, aclnnConvTbcBackward).message, "");
    EXPECT_TRUE(first.IsRight());
    for (DeviceTensor* output : {&first.dx, &first.dw, &first.db}) output->Scramble();
  }
  auto* const any = const_cast<aclTensor*>(first.x.handle());
  const DeviceTensor* operands[] = {&second.dy, &second.x,  &second.w, &second.bias,
                                    &second.dx, &second.dw, &second.db};
  for (size_t i = 0; i < std::size(operands); ++i) {
    ASSERT_EQ(aclSetTensorAddr(planned.executor(), i, any, operands[i]->data()), 0);
  }
  ASSERT_EQ(Execute(device, planned, aclnnConvTbcBackward).message, "");
  EXPECT_TRUE(second.IsRight());
  for (const DeviceTensor* output : {&first.dx, &first.dw, &first.db}) {
    EXPECT_EQ(output->Change(), "");
  }
}

TEST(ConvTbcBackwardMisuse, IsRefused) {
  const Device device;
  for (size_t i = 0; i < 3; ++i) {
    const Problem problem(kShape, ACL_BF16);
    const MisusedOperand output[] = {{"gradInput", 4, &problem.dx},
                                     {"gradWeight", 5, &problem.dw},
                                     {"gradBias", 6, &problem.db}};
    ExpectMisuseIsRefused(device, {kApi,
                                   aclnnConvTbcBackward,
                                   [&] { return problem.Plan(); },
                                   {{"self", 0, &problem.dy},
                                    {"input", 1, &problem.x},
                                    {"weight", 2, &problem.w},
                                    {"bias", 3, &problem.bias},
                                    output[i]}});
    EXPECT_TRUE(problem.IsRight());
  }
}

}  // namespace
}  // namespace openaclnn::test::conv_tbc::backward
