// SPDX-License-Identifier: Apache-2.0
// How NsaCompressGrad runs: equal bits, views, repeated and queued calls, misuse of phase 2.
#include <gtest/gtest.h>

#include <map>

#include "nsa_compress/backward/test_case.h"
#include "tests/support/bits.h"
#include "tests/support/misuse.h"

namespace openaclnn::test::nsa_compress::backward {
namespace {

using Bytes = std::vector<std::byte>;

const WindowCase kShape = {"", kEdge, {0, 70, 83, 171}, 171, 5, 48, 48, 32};

// The baseline has no FMA: its bits are its own, and within the bound.
TEST(NsaCompressGradBits, AreThoseOfOneThreadAndEveryFusedInstructionSet) {
  std::map<std::string, std::pair<Bytes, Bytes>> first;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    uint64_t number = 0;
    for (const WindowCase& shape : Cases()) {
      if (shape.group != kSmoke && shape.group != kEdge) continue;
      const aclDataType dtype = number % 2 == 0 ? ACL_FLOAT16 : ACL_BF16;
      const Problem problem(shape, dtype, {++number, kWide, number % 3 == 0});
      ASSERT_EQ(problem.Run(device).message, "");
      if (setting == "OPENACLNN_SIMD=baseline") {
        EXPECT_TRUE(problem.IsRight()) << shape.name;
        continue;
      }
      const std::pair<Bytes, Bytes> got = {problem.dx.Read(), problem.dw.Read()};
      const auto [entry, added] = first.emplace(shape.name, got);
      EXPECT_TRUE(added || entry->second == got) << shape.name << " " << setting;
    }
  });
}

// A view gives the bits that its dense copy gives.
TEST(NsaCompressGradBits, AreThoseOfDenseViews) {
  const Device device;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Problem strided(kShape, ACL_BF16, {seed, kNormal, true});
    Problem dense(kShape, ACL_BF16, {seed, kNormal, false});
    dense.dy.Write(strided.dy.Read());
    dense.x.Write(strided.x.Read());
    dense.w.Write(strided.w.Read());
    ASSERT_EQ(strided.Run(device).message, "");
    ASSERT_EQ(dense.Run(device).message, "");
    EXPECT_EQ(strided.dx.Read(), dense.dx.Read());
    EXPECT_EQ(strided.dw.Read(), dense.dw.Read());
  }
}

// The stride of a dimension of 1 means nothing, however large.
TEST(NsaCompressGradViews, StridesOfOneElementMeanNothing) {
  const Device device;
  Problem problem({"", kEdge, {}, 40, 1, 16, 32, 16}, ACL_FLOAT16);
  for (const int64_t any : {INT64_MAX, INT64_MIN, int64_t{0}}) {
    const auto spec = [](const DeviceTensor& tensor, const Dims& strides) {
      return TensorSpec{.dims = tensor.layout().dims,
                        .dtype = tensor.dtype(),
                        .strides = strides,
                        .data = tensor.data()};
    };
    Spec call;
    call.output_grad = spec(problem.dy, {any, any, 1});
    call.input = spec(problem.x, {16, any, 1});
    call.weight = spec(problem.w, {1, any});
    call.list.given = IntListSpec::kNull;
    call.block = 32;
    call.stride = 16;
    call.input_grad = spec(problem.dx, {16, any, 1});
    call.weight_grad = spec(problem.dw, {1, any});
    problem.dx.Scramble();
    problem.dw.Scramble();
    ASSERT_EQ(Execute(device, Plan(call), aclnnNsaCompressGrad).message, "") << any;
    EXPECT_TRUE(problem.IsRight()) << any;
  }
}

TEST(NsaCompressGradExecutor, RunsAgainWithNewAddresses) {
  const Device device;
  Problem first(kShape, ACL_FLOAT16, {1, kNormal, false});
  Problem second(kShape, ACL_FLOAT16, {2, kNormal, false});
  const Planned planned = first.Plan();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor()), 0);
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(Execute(device, planned, aclnnNsaCompressGrad).message, "");
    EXPECT_TRUE(first.IsRight());
    first.dx.Scramble();
    first.dw.Scramble();
  }
  auto* const any = const_cast<aclTensor*>(first.dy.handle());
  const DeviceTensor* operands[] = {&second.dy, &second.x, &second.w, &second.dx, &second.dw};
  for (size_t i = 0; i < std::size(operands); ++i) {
    ASSERT_EQ(aclSetTensorAddr(planned.executor(), i, any, operands[i]->data()), 0);
  }
  ASSERT_EQ(Execute(device, planned, aclnnNsaCompressGrad).message, "");
  EXPECT_TRUE(second.IsRight());
  EXPECT_EQ(first.dx.Change(), "");
  EXPECT_EQ(first.dw.Change(), "");
}

// Several runs are in the queue when list, tensors and executor go.
TEST(NsaCompressGradExecutor, ArgumentsMayGoBeforeTheWorkRuns) {
  const Device device;
  Problem problem(kShape, ACL_BF16, {3, kNormal, true});
  {
    const Planned planned = problem.Plan();
    const DeviceBuffer workspace(planned.workspace_size());
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor()), 0);
    Gate gate(device.stream());
    for (int run = 0; run < 3; ++run) {
      ASSERT_EQ(aclnnNsaCompressGrad(workspace.address(), planned.workspace_size(),
                                     planned.executor(), device.stream()),
                0);
    }
    for (DeviceTensor* tensor : {&problem.dy, &problem.x, &problem.w, &problem.dx, &problem.dw}) {
      tensor->DestroyHandle();
    }
    ASSERT_EQ(aclDestroyAclOpExecutor(planned.executor()), 0);
    EXPECT_EQ(problem.dx.Change(), "") << "the work ran behind a closed gate";
  }
  ASSERT_EQ(device.Synchronize().message, "");
  EXPECT_TRUE(problem.IsRight());
}

// The list may go as soon as phase 2 has returned, its memory used for something else.
TEST(NsaCompressGradExecutor, TheListMayGoAfterPhase2) {
  const Device device;
  Problem problem(kShape, ACL_FLOAT16);
  std::vector<int64_t> values = kShape.ends;
  aclIntArray* list = aclCreateIntArray(values.data(), values.size());
  const Planned planned = Planned::Plan([&](uint64_t* workspace_size, aclOpExecutor** executor) {
    return aclnnNsaCompressGradGetWorkspaceSize(problem.dy.handle(), problem.x.handle(),
                                                problem.w.handle(), list, kShape.block,
                                                kShape.stride, 0, nullptr, problem.dx.handle(),
                                                problem.dw.handle(), workspace_size, executor);
  });
  ASSERT_EQ(planned.outcome().message, "");
  const DeviceBuffer workspace(planned.workspace_size());
  Gate gate(device.stream());
  ASSERT_EQ(aclnnNsaCompressGrad(workspace.address(), planned.workspace_size(), planned.executor(),
                                 device.stream()),
            0);
  ASSERT_EQ(aclDestroyIntArray(list), 0);
  std::fill(values.begin(), values.end(), -1);
  gate.Open();
  ASSERT_EQ(device.Synchronize().message, "");
  EXPECT_TRUE(problem.IsRight());
}

TEST(NsaCompressGradMisuse, IsRefused) {
  const Device device;
  // The output that overlaps is the last one, each in its turn.
  for (const bool weight_last : {false, true}) {
    const Problem problem(kShape, ACL_FLOAT16);
    std::vector<MisusedOperand> operands = {{"outputGrad", 0, &problem.dy},
                                            {"input", 1, &problem.x},
                                            {"weight", 2, &problem.w},
                                            {"inputGradOut", 3, &problem.dx}};
    if (weight_last) operands.back() = {"weightGradOut", 4, &problem.dw};
    ExpectMisuseIsRefused(device,
                          {kApi, aclnnNsaCompressGrad, [&] { return problem.Plan(); }, operands});
    EXPECT_TRUE(problem.IsRight());
  }
}

TEST(NsaCompressGradMisuse, OutputsThatShareMemory) {
  const Device device;
  const Problem problem(kShape, ACL_FLOAT16);
  const Planned planned = problem.Plan();
  const DeviceBuffer workspace(planned.workspace_size());
  auto* const any = const_cast<aclTensor*>(problem.dx.handle());
  ASSERT_EQ(aclSetTensorAddr(planned.executor(), 4, any, problem.dx.data()), 0);
  const Outcome outcome = TakeOutcome(aclnnNsaCompressGrad(
      workspace.address(), planned.workspace_size(), planned.executor(), device.stream()));
  EXPECT_EQ(outcome.code, 161002);
  EXPECT_EQ(outcome.message,
            "EZ1001: aclnnNsaCompressGrad: inputGradOut memory is shared with weightGradOut, "
            "expected memory of its own");
  EXPECT_EQ(problem.dx.Change(), "");
}

}  // namespace
}  // namespace openaclnn::test::nsa_compress::backward
