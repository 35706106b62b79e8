// SPDX-License-Identifier: Apache-2.0
// How NsaCompressGrad runs: strides that mean nothing, its list, outputs in one place.
#include <gtest/gtest.h>

#include "nsa_compress/backward/test_case.h"

namespace openaclnn::test::nsa_compress::backward {
namespace {

const WindowCase kShape = {"", kEdge, {0, 70, 83, 171}, 171, 5, 48, 48, 32};

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

// Gradients of 4 MiB and more go past the caches where heads are whole cache lines: the same bits
// wherever they lie, and nothing beside them.
TEST(NsaCompressGradViews, LargeGradientsWhereverTheyLie) {
  const Device device;
  struct Row {
    int64_t token, head;
    size_t after;  // bytes from the view to the end of its memory
  };
  constexpr int64_t kHeads = 64, kWidth = 128;
  const Row rows[] = {{kHeads * kWidth, kWidth, 64},
                      {kHeads * kWidth, kWidth, 32},
                      {kHeads * kWidth, kWidth, 2},
                      {kHeads * kWidth + 32, kWidth, 0},
                      {kHeads * kWidth + 16, kWidth, 0},
                      {kHeads * 160, 160, 0},
                      {kHeads * 144, 144, 0},
                      {kWidth, 272 * kWidth, 0}};
  for (const WindowCase& shape : {WindowCase{"", kEdge, {0, 128, 272}, 272, kHeads, kWidth, 32, 16},
                                  WindowCase{"", kEdge, {}, 272, kHeads, kWidth, 64, 16}}) {
    Problem problem(shape, ACL_BF16);
    ASSERT_EQ(problem.Run(device).message, "");
    ASSERT_TRUE(problem.IsRight());
    const std::vector<std::byte> expected = problem.dx.Read();
    for (const Row& row : rows) {
      const Layout layout = {.dims = {272, kHeads, kWidth},
                             .strides = {row.token, row.head, 1},
                             .storage = 271 * row.token + (kHeads - 1) * row.head + kWidth};
      DeviceTensor dx(ACL_BF16, layout, row.after);
      const IntListHandle list(ListOf(shape));
      const Planned planned = Planned::Plan([&](auto... outputs) {
        return aclnnNsaCompressGradGetWorkspaceSize(
            problem.dy.handle(), problem.x.handle(), problem.w.handle(), list.get(), shape.block,
            shape.stride, 0, nullptr, dx.handle(), problem.dw.handle(), outputs...);
      });
      ASSERT_EQ(Execute(device, planned, aclnnNsaCompressGrad).message, "");
      EXPECT_TRUE(dx.Read() == expected) << row.token << ", " << row.head << ", " << row.after;
      EXPECT_EQ(dx.Damage(), "");
    }
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
