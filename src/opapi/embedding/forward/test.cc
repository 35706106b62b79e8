// SPDX-License-Identifier: Apache-2.0
// Results of Embedding, and how it runs: rows bit for bit, bad indices, repeated and queued
// calls.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "embedding/forward/reference.h"
#include "embedding/forward/test_case.h"
#include "tests/support/checks.h"
#include "tests/support/numbers.h"
#include "tests/support/room_runs.h"
#include "tests/support/tables.h"

namespace openaclnn::test::embedding::forward {
namespace {

Case Shape(int64_t tokens, int64_t width, int64_t num_rows) {
  return {"", kEdge, {tokens}, width, num_rows, kUniformRows};
}

TEST(Reference, IsTheFormula) {
  const std::vector<double> w = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> idx = {2, 0, 2};
  std::vector<double> y(6);
  openaclnn::embedding::forward::Reference(3, 2, w.data(), idx.data(), y.data());
  EXPECT_EQ(y, (std::vector<double>{5, 6, 1, 2, 5, 6}));
}

TEST(Embedding, WorkedExample) {
  const Device device;
  Problem problem(Shape(3, 2, 3), {});
  problem.weight.Write(ToBytes(ACL_FLOAT, {1, 2, 3, 4, 5, 6}));
  problem.SetIndices({2, 0, 2});
  ASSERT_EQ(problem.Run(device).message, "");
  EXPECT_EQ(ToDoubles(ACL_FLOAT, problem.out.Read()), (std::vector<double>{5, 6, 1, 2, 5, 6}));
}

// Bits are moved, so every type that has whole bytes is right, NaNs of any payload included.
TEST(Embedding, EveryCombinationOfTypes) {
  const Device device;
  uint64_t seed = 0;
  for (const DtypeEntry& weight : kDtypes) {
    if (aclDataTypeSize(weight.type) < 1 || aclDataTypeSize(weight.type) > 8) continue;
    for (const aclDataType indices : kIndexDtypes) {
      for (const bool strided : {false, true}) {
        SCOPED_TRACE(testing::Message() << weight.name << " " << indices << " " << strided);
        const Problem problem({"", kSmoke, {3, 57}, 21, 40, kUniformRows}, {weight.type, indices},
                              {++seed, kNormal, strided});
        ExpectRight(device, problem);
      }
    }
  }
}

TEST(Embedding, IndicesAreTruncated) {
  const Device device;
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE}) {
    Problem problem(Shape(5, 1, 2), {ACL_FLOAT, dtype});
    problem.weight.Write(ToBytes(ACL_FLOAT, {5, 6}));
    problem.SetIndices({-0.5, 0.75, 1.0, 1.5, -0.0});
    ASSERT_EQ(problem.Run(device).message, "");
    EXPECT_EQ(ToDoubles(ACL_FLOAT, problem.out.Read()), (std::vector<double>{5, 5, 6, 6, 5}));
  }
}

// From 4 MiB on, rows that are whole cache lines go past the caches: the same bits wherever they
// lie, and nothing beside them.
TEST(Embedding, LargeOutputsWhereverTheyLie) {
  const Device device;
  constexpr int64_t kTokens = 21000, kWidth = 160;
  const Problem problem(Shape(kTokens, kWidth, 300), {ACL_BF16, ACL_INT64});
  ExpectRight(device, problem);
  const std::vector<std::byte> expected = problem.out.Read();
  // Elements between rows, bytes behind the view; the first row begins a cache line only by the
  // first and the fourth.
  const std::pair<int64_t, size_t> places[] = {{0, 64}, {0, 32}, {0, 2}, {32, 0}, {16, 0}};
  for (const auto& [gap, after] : places) {
    const Layout layout = {.dims = {kTokens, kWidth},
                           .strides = {kWidth + gap, 1},
                           .storage = (kTokens - 1) * (kWidth + gap) + kWidth};
    const DeviceTensor out(ACL_BF16, layout, after);
    const Planned planned = Planned::Plan([&](auto... outputs) {
      return aclnnEmbeddingGetWorkspaceSize(problem.weight.handle(), problem.indices.handle(),
                                            out.handle(), outputs...);
    });
    ASSERT_EQ(Execute(device, planned, aclnnEmbedding).message, "");
    EXPECT_TRUE(out.Read() == expected) << "gap " << gap << ", " << after << " bytes behind";
    EXPECT_EQ(out.Damage(), "");
  }
}

TEST(Embedding, LargeOutputsOfColumns) {
  const Device device;
  ExpectRight(device, Problem(Shape(21000, 160, 300), {ACL_BF16, ACL_INT64}, {3, kNormal, true}));
}

TEST(EmbeddingIndices, FirstPositionIsNamed) {
  for (const char* threads : {"1", "2", "3", "7"}) {
    const Device device{{"OPENACLNN_NUM_THREADS", threads}};
    Problem problem(Shape(100000, 2, 3), {ACL_INT8, ACL_INT64});
    std::vector<double> rows(100000, 1);
    std::fill(rows.begin() + 49990, rows.end(), 3);
    rows[49990] = 4294967296.0;
    problem.SetIndices(rows);
    for (int run = 0; run < 10; ++run) {
      ExpectTaskError(problem.Run(device), kApi,
                      "indices value 49990 is 4294967296, expected 0 <= value < 3");
    }
    EXPECT_EQ(problem.out.Change(), "");
    problem.SetIndices(std::vector<double>(100000, 2));
    ExpectRight(device, problem);
  }
}

// A weight without rows has no valid index; without columns, there is still nothing to look up.
TEST(EmbeddingIndices, WeightWithoutElements) {
  const Device device;
  Problem problem(Shape(2, 3, 0), {});
  problem.SetIndices({0, 0});
  ExpectTaskError(problem.Run(device), kApi, "indices value 0 is 0, expected 0 <= value < 0");
  EXPECT_EQ(problem.out.Change(), "");
}

TEST(EmbeddingExecutor, RunsAgainWithNewAddressesAndWithoutTensors) {
  const Device device;
  const Case shape = Shape(200, 9, 7);
  Problem first(shape, {}, {1}), second(shape, {}, {2});
  const Planned planned = first.Plan();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor()), 0);
  const DeviceBuffer workspace(4096);
  ASSERT_LE(planned.workspace_size(), 4096u);
  const auto run = [&] {
    return aclnnEmbedding(workspace.address(), planned.workspace_size(), planned.executor(),
                          device.stream());
  };
  {
    const Gate gate(device.stream());
    ASSERT_EQ(run(), 0);
    auto* any = const_cast<aclTensor*>(second.out.handle());
    ASSERT_EQ(aclSetInputTensorAddr(planned.executor(), 0, any, second.weight.data()), 0);
    ASSERT_EQ(aclSetInputTensorAddr(planned.executor(), 1, any, second.indices.data()), 0);
    ASSERT_EQ(aclSetTensorAddr(planned.executor(), 2, any, second.out.data()), 0);
    ASSERT_EQ(run(), 0);
    for (Problem* problem : {&first, &second}) {
      problem->weight.DestroyHandle();
      problem->indices.DestroyHandle();
      problem->out.DestroyHandle();
      EXPECT_EQ(problem->out.Change(), "");
    }
  }
  ASSERT_EQ(device.Synchronize().message, "");
  EXPECT_TRUE(first.IsRight());
  EXPECT_TRUE(second.IsRight());
}

INSTANTIATE_TYPED_TEST_SUITE_P(Embedding, RoomRuns, Room);

}  // namespace
}  // namespace openaclnn::test::embedding::forward
