// SPDX-License-Identifier: Apache-2.0
// Results of EmbeddingDenseBackward: against the reference, and the reference against its law.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "embedding/backward/reference.h"
#include "embedding/backward/test_case.h"
#include "embedding/forward/reference.h"
#include "tests/support/numbers.h"
#include "tests/support/room_runs.h"
#include "tests/support/tables.h"

namespace openaclnn::test::embedding::backward {
namespace {

namespace room = openaclnn::embedding::backward;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> Output(const Problem& problem) {
  return ToDoubles(problem.out.dtype(), problem.out.Read());
}

/// Rows {0, 0, …} or as given, one column; returns the output.
std::vector<double> Sum(const Types& types, const std::vector<double>& grad,
                        std::vector<double> rows, uint64_t num_weights, bool scale = false) {
  const Device device;
  rows.resize(grad.size());
  const Dims dims = {static_cast<int64_t>(grad.size())};
  Problem problem({"", kEdge, dims, 1, num_weights, kNoPadding, scale, kUniformRows}, types);
  problem.SetGrad(grad);
  problem.SetIndices(rows);
  EXPECT_EQ(problem.Run(device).message, "");
  EXPECT_EQ(problem.out.Damage(), "");
  return Output(problem);
}

TEST(Reference, IsTheFormula) {
  const std::vector<double> dy = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<int64_t> idx = {2, 0, 2, 1};
  std::vector<double> dw(8);
  std::vector<int64_t> count(4);
  room::Reference({4, 2, 4, 1, false}, dy.data(), idx.data(), dw.data(), count.data());
  EXPECT_EQ(dw, (std::vector<double>{3, 4, 0, 0, 6, 8, 0, 0}));
  EXPECT_EQ(count, (std::vector<int64_t>{1, 0, 2, 0}));
  room::Reference({4, 2, 4, kNoPadding, true}, dy.data(), idx.data(), dw.data(), count.data());
  EXPECT_EQ(dw, (std::vector<double>{3, 4, 7, 8, 3, 4, 0, 0}));
}

// <dy, Embedding(w)> = <EmbeddingDenseBackward(dy), w> for every dy and w.
TEST(Reference, IsTheAdjointOfEmbedding) {
  EXPECT_TRUE(rc::check([] {
    const int64_t tokens = *rc::gen::inRange(0, 50), width = *rc::gen::inRange(0, 9);
    const int64_t rows = *rc::gen::inRange(1, 20);
    Random random(*rc::gen::arbitrary<uint32_t>());
    // Whole numbers, so that both sides are exact.
    const auto whole = [&](int64_t count) {
      std::vector<double> values(static_cast<size_t>(count));
      for (double& value : values) value = static_cast<double>(Uniform(random, -1000, 1000));
      return values;
    };
    const auto dy = whole(tokens * width), w = whole(rows * width);
    const auto idx = RandomRows(random, tokens, rows, kUniformRows);
    std::vector<double> y(dy.size()), dw(w.size());
    std::vector<int64_t> count(static_cast<size_t>(rows));
    openaclnn::embedding::forward::Reference(tokens, width, w.data(), idx.data(), y.data());
    room::Reference({tokens, width, static_cast<uint64_t>(rows), kNoPadding, false}, dy.data(),
                    idx.data(), dw.data(), count.data());
    double left = 0, right = 0;
    for (size_t i = 0; i < dy.size(); ++i) left += dy[i] * y[i];
    for (size_t i = 0; i < w.size(); ++i) right += dw[i] * w[i];
    RC_ASSERT(left == right);
  }));
}

TEST(EmbeddingDenseBackward, WorkedExample) {
  const Device device;
  Problem problem({"", kSmoke, {2}, 3, 4, 0, false, kUniformRows}, {});
  problem.SetGrad({1, 2, 3, 4, 5, 6});
  problem.SetIndices({1, 2});
  ASSERT_EQ(problem.Run(device).message, "");
  EXPECT_EQ(Output(problem), (std::vector<double>{0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0}));
}

TEST(EmbeddingDenseBackward, EveryCombinationOfTypes) {
  const Device device;
  uint64_t seed = 0;
  for (const aclDataType grad : kFloatDtypes) {
    for (const aclDataType indices : kIndexDtypes) {
      for (const aclDataType out : kFloatDtypes) {
        for (const bool strided : {false, true}) {
          SCOPED_TRACE(testing::Message() << grad << " " << indices << " " << out << strided);
          const Problem problem({"", kSmoke, {3, 57}, 21, 40, 3, false, kUniformRows},
                                {grad, indices, out}, {++seed, kWide, strided});
          ExpectRight(device, problem);
        }
      }
    }
  }
}

// 100,003 equal terms: a running sum would be far outside the bound.
TEST(EmbeddingDenseBackward, LongSumsStayAccurate) {
  const Device device;
  for (const aclDataType out : kFloatDtypes) {
    const Problem problem({"", kEdge, {100003}, 3, 1, kNoPadding, true, kUniformRows},
                          {ACL_FLOAT, ACL_INT32, out}, {1, kEqual, false});
    ExpectRight(device, problem);
  }
}

// From 4 MiB on, in rows of 8 KiB and more, zeros go past the caches.
TEST(EmbeddingDenseBackward, ZeroRowsOfALargeTable) {
  const Device device;
  ExpectRight(device, Problem({"", kEdge, {9}, 2053, 4099, 7, false, kUniformRows}, {}));
}

// So do their other rows, and shorter ones that are whole cache lines.
TEST(EmbeddingDenseBackward, LargeTablesWhereverTheyLie) {
  const Device device;
  // Two tiles, with long segments.
  ExpectRight(device, Problem({"", kEdge, {3000}, 4128, 4100, kNoPadding, false, kZipfRows},
                              {ACL_BF16, ACL_INT64, ACL_BF16}));
  constexpr int64_t kRows = 66000, kWidth = 256;
  const Problem problem({"", kEdge, {3000}, kWidth, kRows, 5, true, kZipfRows},
                        {ACL_BF16, ACL_INT64, ACL_BF16});
  ExpectRight(device, problem);
  const std::vector<std::byte> expected = problem.out.Read();
  const std::pair<int64_t, size_t> places[] = {{0, 2}, {32, 32}, {32, 0}};
  for (const auto& [gap, after] : places) {
    const Layout layout = {.dims = {kRows, kWidth},
                           .strides = {kWidth + gap, 1},
                           .storage = (kRows - 1) * (kWidth + gap) + kWidth};
    const DeviceTensor out(ACL_BF16, layout, after);
    const Planned planned = Planned::Plan([&](auto... outputs) {
      return aclnnEmbeddingDenseBackwardGetWorkspaceSize(problem.grad.handle(),
                                                         problem.indices.handle(), kRows, 5, true,
                                                         out.handle(), outputs...);
    });
    ASSERT_EQ(Execute(device, planned, aclnnEmbeddingDenseBackward).message, "");
    EXPECT_TRUE(out.Read() == expected) << "gap " << gap << ", " << after << " bytes behind";
  }
}

TEST(EmbeddingDenseBackward, NonFiniteValuesFlow) {
  const auto sum = [](std::vector<double> grad) { return Sum({}, grad, {}, 1)[0]; };
  EXPECT_TRUE(std::isnan(sum({1, kNaN, 2})));
  EXPECT_TRUE(std::isnan(sum({kInfinity, -kInfinity})));
  EXPECT_EQ(sum({1, kInfinity, 2}), kInfinity);
  EXPECT_EQ(sum({-kInfinity, 5}), -kInfinity);
  EXPECT_EQ(sum({3e38, 3e38}), kInfinity);
  // A NaN stays in its row and column.
  EXPECT_EQ(Sum({}, {kNaN, 5, 6}, {0, 1, 1}, 3)[1], 11);
  EXPECT_TRUE(std::isnan(Sum({ACL_BF16, ACL_INT64, ACL_FLOAT16}, {kNaN}, {}, 1)[0]));
  EXPECT_TRUE(std::isnan(Sum({ACL_FLOAT16, ACL_INT64, ACL_BF16}, {kNaN}, {}, 1, true)[0]));
}

// Sums are FP32 whatever the types; only the result is rounded, once.
TEST(EmbeddingDenseBackward, RoundsOnce) {
  const Types half = {ACL_FLOAT16, ACL_INT64, ACL_FLOAT16};
  EXPECT_EQ(Sum(half, {65504, 65504}, {}, 1)[0], kInfinity);
  EXPECT_EQ(Sum(half, {65504, 65504}, {}, 1, true)[0], 65504);
  EXPECT_EQ(Sum({ACL_FLOAT16, ACL_INT64, ACL_FLOAT}, {65504, 65504}, {}, 1)[0], 131008);
  // 2048 + 1 + 1: rounding after each addition would stay at 2048.
  EXPECT_EQ(Sum(half, {2048, 1, 1}, {}, 1)[0], 2050);
  // Halfway between 2048 and 2050, and between 2050 and 2052: ties to even.
  EXPECT_EQ(Sum(half, {2048, 1}, {}, 1)[0], 2048);
  EXPECT_EQ(Sum(half, {2050, 1}, {}, 1)[0], 2052);
  const Types bfloat = {ACL_BF16, ACL_INT64, ACL_BF16};
  EXPECT_EQ(Sum(bfloat, {256, 1}, {}, 1)[0], 256);
  EXPECT_EQ(Sum(bfloat, {258, 1}, {}, 1)[0], 260);
}

TEST(EmbeddingDenseBackward, OneHitIsACopy) {
  const float denormal = 0x1p-149f;
  const std::vector<double> values = {-0.0, denormal, -denormal, 1, 0x1.fffffep127};
  const std::vector<double> got = Sum({}, values, {0, 1, 2, 3, 4}, 5);
  EXPECT_EQ(std::memcmp(got.data(), values.data(), values.size() * sizeof(double)), 0);
}

TEST(EmbeddingDenseBackward, IndicesAreTruncated) {
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE}) {
    const std::vector<double> got =
        Sum({ACL_FLOAT, dtype, ACL_FLOAT}, {1, 2, 4, 8, 16}, {-0.5, 0.75, 1.0, 1.5, -0.0}, 2);
    EXPECT_EQ(got, (std::vector<double>{19, 12})) << dtype;
  }
}

// Every byte but 0 is true.
TEST(EmbeddingDenseBackward, BooleanIndices) {
  const Device device;
  Problem problem({"", kEdge, {4}, 1, 2, kNoPadding, false, kUniformRows},
                  {ACL_FLOAT, ACL_BOOL, ACL_FLOAT});
  problem.SetGrad({1, 2, 4, 8});
  problem.indices.Write({std::byte{0}, std::byte{1}, std::byte{2}, std::byte{255}});
  ASSERT_EQ(problem.Run(device).message, "");
  EXPECT_EQ(Output(problem), (std::vector<double>{1, 14}));
}

// Indices of an empty grad are not looked at.
TEST(EmbeddingDenseBackward, EmptyGradNeedsNoIndices) {
  const Device device;
  Problem problem({"", kEdge, {3}, 0, 2, kNoPadding, false, kUniformRows}, {});
  problem.SetIndices({0, 77, -5});
  EXPECT_EQ(problem.Run(device).message, "");
}

INSTANTIATE_TYPED_TEST_SUITE_P(EmbeddingDenseBackward, RoomRuns, Room);

}  // namespace
}  // namespace openaclnn::test::embedding::backward
