// SPDX-License-Identifier: Apache-2.0
// Calls that EmbeddingDenseBackward refuses in phase 1: every check, their order, every product and
// type.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "embedding/backward/test_case.h"
#include "tests/support/room_checks.h"
#include "tests/support/tables.h"

namespace openaclnn::test::embedding::backward {
namespace {

using Row = CheckRow<Spec>;

Spec GoodSpec() {
  Spec spec;
  spec.grad = {.dims = {2, 3}};
  spec.indices = {.dims = {2}, .dtype = ACL_INT64};
  spec.num_weights = 4;
  spec.out = {.dims = {4, 3}};
  return spec;
}

const Dims kRank9 = {1, 1, 1, 1, 1, 1, 1, 1, 2};

const std::vector<Family> kFamiliesOfIt = {Family::k910, Family::kA2, Family::kA3, Family::k950};

const SpecOperands<Spec> kOperands = {
    {.name = "grad",
     .member = &Spec::grad,
     .dtypes = {kFloatDtypes.begin(), kFloatDtypes.end()},
     .no_bf16_on_910 = true},
    {"indices", &Spec::indices, {kIndexDtypes.begin(), kIndexDtypes.end()}},
    {.name = "out",
     .member = &Spec::out,
     .dtypes = {kFloatDtypes.begin(), kFloatDtypes.end()},
     .is_output = true,
     .no_bf16_on_910 = true}};

/// The checks that §"checks" lists, in its order, then views.
std::vector<Row> OperatorRows() {
  const std::string floats = "one of FLOAT, FLOAT16, BFLOAT16 on Ascend910B1";
  const std::string plain = "one of UNDEFINED, ND, NCHW, NHWC, HWCN, NDHWC, NCDHW, NCL";
  return {
      {"grad dtype is INT8", floats, 161002, [](Spec* s) { s->grad.dtype = ACL_INT8; }},
      {"indices dtype is BFLOAT16",
       "one of FLOAT, FLOAT16, INT8, INT32, UINT8, INT16, INT64, DOUBLE, BOOL on Ascend910B1",
       161002, [](Spec* s) { s->indices.dtype = ACL_BF16; }},
      {"out dtype is DOUBLE", floats, 161002, [](Spec* s) { s->out.dtype = ACL_DOUBLE; }},
      {"grad rank is 0", "1 to 8", 161002, [](Spec* s) { s->grad.dims = {}; }},
      {"grad rank is 9", "1 to 8", 161002, [](Spec* s) { s->grad.dims = kRank9; }},
      {"indices rank is 9", "0 to 8", 161002, [](Spec* s) { s->indices.dims = kRank9; }},
      {"out rank is 9", "0 to 8", 161002, [](Spec* s) { s->out.dims = kRank9; }},
      {"indices shape is (5)", "as many elements as grad has rows (grad shape (2, 3))", 161002,
       [](Spec* s) { s->indices.dims = {5}; }},
      {"out rank is 3 (shape (4, 3, 1))", "2", 161002,
       [](Spec* s) {
         s->out.dims = {4, 3, 1};
       }},
      {"out shape is (6, 3)", "(4, 3)", 161002,
       [](Spec* s) {
         s->out.dims = {6, 3};
       }},
      {"grad format is number 29", plain, 161002,
       [](Spec* s) { s->grad.format = ACL_FORMAT_FRACTAL_NZ; }},
      {"indices format is number 3", plain, 161002,
       [](Spec* s) { s->indices.format = ACL_FORMAT_NC1HWC0; }},
      {"out format is number 4", plain, 161002,
       [](Spec* s) { s->out.format = ACL_FORMAT_FRACTAL_Z; }},
      {"grad view is (2, 3) with strides (3, 1) and offset 1",
       "one inside its storage of shape (6)", 161002,
       [](Spec* s) {
         s->grad.storage = Dims{6};
         s->grad.offset = 1;
       }},
      {"indices view is (2) with strides (-1) and offset 0", "one inside its storage of shape (2)",
       161002, [](Spec* s) { s->indices.strides = Dims(s->indices.dims.size(), -1); }},
      {"out view is (4, 3) with strides (3, 1) and offset 0",
       "one inside its storage of shape (11)", 161002, [](Spec* s) { s->out.storage = Dims{11}; }},
  };
}

std::vector<Row> AllRows() {
  std::vector<Row> rows = NullRows(kOperands);
  for (Row& row : OperatorRows()) rows.push_back(std::move(row));
  return rows;
}

TEST(EmbeddingDenseBackwardChecks, EveryRank) {
  const Device device;
  for (size_t rank = 0; rank <= 12; ++rank) {
    Spec spec = GoodSpec();
    spec.indices.dims = Dims(rank, 1);
    spec.grad.dims = {1, 3};
    EXPECT_EQ(Plan(spec).outcome().code, rank <= 8 ? 0 : 161002) << rank;
    spec = GoodSpec();
    spec.grad.dims = Dims(rank, 1);
    spec.indices.dims = {1};
    spec.out.dims = {4, 1};
    EXPECT_EQ(Plan(spec).outcome().code, rank >= 1 && rank <= 8 ? 0 : 161002) << rank;
    spec = GoodSpec();
    spec.out.dims = Dims(rank, 1);
    EXPECT_EQ(Plan(spec).outcome().code, 161002) << rank;
  }
}

TEST(EmbeddingDenseBackwardChecks, CountsAndShapes) {
  const Device device;
  const auto code = [](const Dims& grad, const Dims& indices, uint64_t num_weights,
                       const Dims& out) {
    Spec spec = GoodSpec();
    spec.grad.dims = grad;
    spec.indices.dims = indices;
    spec.num_weights = num_weights;
    spec.out.dims = out;
    return Plan(spec).outcome().code;
  };
  EXPECT_EQ(code({2, 3, 5}, {6}, 4, {4, 5}), 0);
  EXPECT_EQ(code({6, 5}, {3, 1, 2}, 4, {4, 5}), 0);
  EXPECT_EQ(code({5}, {}, 4, {4, 5}), 0);
  EXPECT_EQ(code({5}, {1, 1}, 4, {4, 5}), 0);
  EXPECT_EQ(code({2, 3, 5}, {5}, 4, {4, 5}), 161002);
  EXPECT_EQ(code({5}, {2}, 4, {4, 5}), 161002);
  EXPECT_EQ(code({2, 5}, {0}, 4, {4, 5}), 161002);
  EXPECT_EQ(code({0, 5}, {2}, 4, {4, 5}), 161002);
  // Counts are not compared when D is 0.
  EXPECT_EQ(code({2, 0}, {7}, 4, {4, 0}), 0);
  EXPECT_EQ(code({2, 0}, {}, 4, {4, 0}), 0);
  EXPECT_EQ(code({0, 5}, {0}, 4, {4, 5}), 0);
  EXPECT_EQ(code({0, 5}, {3, 0}, 0, {0, 5}), 0);
  EXPECT_EQ(code({2, 5}, {2}, 4, {4, 6}), 161002);
  EXPECT_EQ(code({2, 5}, {2}, 4, {5, 4}), 161002);
  EXPECT_EQ(code({2, 5}, {2}, UINT64_MAX, {-1, 5}), 161002);
  EXPECT_EQ(code({2, 5}, {2}, uint64_t{1} << 63, {INT64_MIN, 5}), 161002);
}

// Shapes that agree with each other but overflow together.
TEST(EmbeddingDenseBackwardChecks, SizesThatOverflowTogether) {
  const Device device;
  constexpr int64_t kHuge = int64_t{1} << 40;
  Spec spec = GoodSpec();
  spec.grad.dims = {kHuge, kHuge, 3};
  spec.indices.dims = {kHuge, kHuge};
  EXPECT_EQ(Plan(spec).outcome().code, 161002);
}

TEST(EmbeddingDenseBackwardChecks, ViewsWithoutElementsReachNothing) {
  const Device device;
  Spec spec = GoodSpec();
  spec.grad = {.dims = {0, 3}, .strides = Dims{0, -7}, .offset = 99, .storage = Dims{1}};
  spec.indices = {.dims = {0}, .dtype = ACL_INT32, .offset = -4, .storage = Dims{0}};
  EXPECT_EQ(Plan(spec).outcome().message, "");
}

TEST(EmbeddingDenseBackwardChecks, OutputThatOverlapsItself) {
  const Device device;
  const auto code = [](const Dims& strides) {
    Spec spec = GoodSpec();
    spec.out.strides = strides;
    spec.out.storage = Dims{100};
    const Planned planned = Plan(spec);
    if (planned.outcome().ok()) return 0;
    ExpectRefused(planned, kApi, 161002, "out strides are (", "elements that do not overlap");
    return planned.outcome().code;
  };
  EXPECT_EQ(code({3, 1}), 0);
  EXPECT_EQ(code({1, 4}), 0);
  EXPECT_EQ(code({2, 7}), 0);
  EXPECT_EQ(code({2, 1}), 161002);
  EXPECT_EQ(code({0, 1}), 161002);
  EXPECT_EQ(code({3, 0}), 161002);
  EXPECT_EQ(code({1, 3}), 161002);
  // Inputs may.
  Spec spec = GoodSpec();
  spec.grad.strides = Dims{0, 0};
  spec.indices.strides = Dims{0};
  EXPECT_EQ(Plan(spec).outcome().message, "");
}

/// The limit of the 910 family, by its documented formula.
bool FitsOnChip(int64_t width, uint64_t num_weights, int cores, bool wide_indices) {
  const auto count = static_cast<uint64_t>(cores);
  const __int128 counters = static_cast<__int128>(num_weights / count) + num_weights % count;
  const __int128 bytes = wide_indices ? 20 * static_cast<__int128>(width) + 8 * counters
                                      : 36 * static_cast<__int128>(width) + 4 * counters;
  return bytes < 180192;
}

Spec LimitSpec(int64_t width, uint64_t num_weights, aclDataType indices) {
  Spec spec = GoodSpec();
  spec.scale = true;
  spec.grad.dims = {2, width};
  spec.indices.dtype = indices;
  spec.num_weights = num_weights;
  spec.out.dims = {static_cast<int64_t>(num_weights), width};
  return spec;
}

TEST(EmbeddingDenseBackwardChecks, LimitOf910AtItsBoundary) {
  for (const ProductEntry& product : kProducts) {
    if (product.family != Family::k910) continue;
    const Device device{{"OPENACLNN_SOC", product.name}};
    const auto cores = static_cast<uint64_t>(product.cores);
    const auto code = [&](int64_t width, uint64_t rows, aclDataType indices) {
      return Plan(LimitSpec(width, rows, indices)).outcome().code;
    };
    // D 1: 36 + 4c < 180192 up to c = 45038; D 4: 80 + 8c < 180192 up to c = 22513.
    EXPECT_EQ(code(1, cores * 45038, ACL_INT32), 0);
    EXPECT_EQ(code(1, cores * 45038 + 1, ACL_INT32), 561002);
    EXPECT_EQ(code(1, cores * 45039, ACL_INT32), 561002);
    EXPECT_EQ(code(4, cores * 22513, ACL_INT64), 0);
    EXPECT_EQ(code(4, cores * 22513 + 1, ACL_INT64), 561002);
    EXPECT_EQ(code(4, cores * 22514, ACL_INT64), 561002);
    // One row, c = 1: D 5005 gives 180184 of 36-byte columns, D 9009 gives 180188 of 20-byte ones.
    EXPECT_EQ(code(5005, 1, ACL_FLOAT), 0);
    EXPECT_EQ(code(5006, 1, ACL_FLOAT), 561002);
    EXPECT_EQ(code(9009, 1, ACL_INT64), 0);
    EXPECT_EQ(code(9010, 1, ACL_INT64), 561002);
    ExpectRefused(Plan(LimitSpec(5006, 1, ACL_UINT8)), kApi, 561002,
                  "numWeights value is 1 with rows of 5006 elements",
                  std::string("fewer or shorter rows on ") + product.name);
  }
}

TEST(EmbeddingDenseBackwardChecks, LimitOf910Everywhere) {
  const Device device{{"OPENACLNN_SOC", "Ascend910ProB"}};
  EXPECT_TRUE(rc::check([] {
    const auto width = *rc::gen::inRange<int64_t>(1, 10000);
    const auto rows = *rc::gen::inRange<uint64_t>(0, 2000000);
    const aclDataType indices = *rc::gen::elementOf(kIndexDtypes);
    const int code = Plan(LimitSpec(width, rows, indices)).outcome().code;
    RC_ASSERT(code == (FitsOnChip(width, rows, 30, indices == ACL_INT64) ? 0 : 561002));
  }));
}

TEST(EmbeddingDenseBackwardChecks, LimitOf910IsForIt) {
  Spec far = LimitSpec(1, uint64_t{1} << 40, ACL_INT32);
  {
    const Device device{{"OPENACLNN_SOC", "Ascend910A"}};
    EXPECT_EQ(Plan(far).outcome().code, 561002);
    // It comes after formats and before views.
    Spec spec = far;
    spec.out.storage = Dims{1};
    EXPECT_EQ(Plan(spec).outcome().code, 561002);
    spec.out.format = ACL_FORMAT_FRACTAL_NZ;
    EXPECT_EQ(Plan(spec).outcome().code, 161002);
    spec = far;
    spec.scale = false;
    EXPECT_EQ(Plan(spec).outcome().code, 0);
    spec = far;
    spec.grad.dims = {0, 1};
    spec.indices.dims = {0};
    EXPECT_EQ(Plan(spec).outcome().code, 0);
    spec = far;
    spec.grad.dims = {2, 0};
    spec.out.dims = {int64_t{1} << 40, 0};
    EXPECT_EQ(Plan(spec).outcome().code, 0);
  }
  for (const char* product : {"Ascend910B1", "Ascend910_9391", "Ascend950PR_9579"}) {
    const Device device{{"OPENACLNN_SOC", product}};
    EXPECT_EQ(Plan(far).outcome().message, "") << product;
  }
}

// Nulls come before everything, also before handles that are none.
TEST(EmbeddingDenseBackwardChecks, NullsBeforeDeadHandles) {
  int64_t none = 0;
  const auto* dead = reinterpret_cast<const aclTensor*>(&none);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  const auto plan = [&](const aclTensor* out) {
    return aclnnEmbeddingDenseBackwardGetWorkspaceSize(dead, dead, 4, 0, false, out, &bytes,
                                                       &executor);
  };
  EXPECT_EQ(plan(nullptr), 161001);
  EXPECT_EQ(plan(dead), 161002);
}

// One element, repeated by strides of 0, is as many as one likes: the size may not wrap around.
TEST(EmbeddingDenseBackwardChecks, WorkspaceOfHugeViewsSaturates) {
  const Device device;
  for (const int64_t tokens : {int64_t{575337047133241376}, int64_t{1} << 60}) {
    Spec spec = GoodSpec();
    spec.grad = {.dims = {tokens, 4}, .strides = Dims{0, 0}, .storage = Dims{1}};
    spec.indices = {.dims = {tokens}, .dtype = ACL_INT64, .strides = Dims{0}, .storage = Dims{1}};
    spec.num_weights = 1;
    spec.out.dims = {1, 4};
    const Planned planned = Plan(spec);
    EXPECT_EQ(planned.outcome().message, "");
    EXPECT_EQ(planned.workspace_size(), uint64_t{INT64_MAX});
  }
}

INSTANTIATE_TYPED_TEST_SUITE_P(EmbeddingDenseBackward, RoomChecks, Room);

}  // namespace

std::vector<test::Refusals<Spec>> Room::Refusals() {
  return {{kApi, GoodSpec(), kOperands, AllRows(), kFamiliesOfIt}};
}

}  // namespace openaclnn::test::embedding::backward
