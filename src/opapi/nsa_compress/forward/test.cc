// SPDX-License-Identifier: Apache-2.0
// Results of NsaCompress: against the reference, and the reference against its law.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <limits>

#include "nsa_compress/forward/reference.h"
#include "nsa_compress/forward/test_case.h"
#include "tests/support/numbers.h"
#include "tests/support/room_runs.h"
#include "tests/support/small_stack.h"

namespace openaclnn::test::nsa_compress::forward {
namespace {

namespace room = openaclnn::nsa_compress::forward;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr aclDataType kHalves[] = {ACL_FLOAT16, ACL_BF16};

TEST(Reference, IsTheFormula) {
  // Two heads; windows at 0, 1 and 4.
  const std::vector<int64_t> start = {0, 1, 4};
  const std::vector<double> x = {1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6}, w = {10, 100, 1, 7};
  std::vector<double> y(6, kNaN);
  room::Reference({2, 1, 2, 3}, start.data(), x.data(), w.data(), y.data());
  EXPECT_EQ(y, (std::vector<double>{12, -114, 23, -221, 56, -542}));
}

// Whole numbers: NsaCompress(x + x', w) = NsaCompress(x, w) + NsaCompress(x', w), and so in w.
TEST(Reference, IsLinearInBoth) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    const WindowCase shape = RandomWindowCase(random, true);
    const std::vector<int64_t> start = WindowStarts(shape);
    const auto windows = static_cast<int64_t>(start.size());
    const room::ReferenceSizes sizes = {2, 3, shape.block, windows};
    // Two at random and their sum.
    const auto three = [&](int64_t count) {
      std::array<std::vector<double>, 3> values;
      for (int64_t k = 0; k < count; ++k) {
        values[0].push_back(static_cast<double>(Uniform(random, -1000, 1000)));
        values[1].push_back(static_cast<double>(Uniform(random, -1000, 1000)));
        values[2].push_back(values[0].back() + values[1].back());
      }
      return values;
    };
    const auto x = three(shape.tokens * 6), w = three(shape.block * 2);
    const auto compress = [&](const std::vector<double>& a, const std::vector<double>& b) {
      std::vector<double> y(static_cast<size_t>(windows * 6), kNaN);
      room::Reference(sizes, start.data(), a.data(), b.data(), y.data());
      return y;
    };
    const auto sum = [](std::vector<double> a, const std::vector<double>& b) {
      for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
      return a;
    };
    RC_ASSERT(compress(x[2], w[0]) == sum(compress(x[0], w[0]), compress(x[1], w[0])));
    RC_ASSERT(compress(x[0], w[2]) == sum(compress(x[0], w[0]), compress(x[0], w[1])));
  }));
}

TEST(NsaCompress, WorkedExample) {
  const Device device;
  for (const aclDataType dtype : kHalves) {
    Problem problem({"", kSmoke, {0, 128, 272}, 272, 64, 128, 32, 16}, dtype);
    Problem::Set(&problem.x, std::vector<double>(272 * 64 * 128, 1));
    Problem::Set(&problem.w, std::vector<double>(32 * 64, 1));
    ASSERT_EQ(problem.Run(device).message, "");
    EXPECT_EQ(ValuesOf(problem.y), std::vector<double>(15 * 64 * 128, 32));
  }
}

// Whoever synchronises may run the task: on its own stack, however small.
TEST(NsaCompress, RunsOnASmallStack) {
  const Device device({{"OPENACLNN_NUM_THREADS", "1"}});
  for (const bool strided : {false, true}) {
    const WindowCase shape = {"", kEdge, {}, 200, 2, 256, 128, 16};
    const Problem problem(shape, ACL_BF16, {1, kNormal, strided});
    OnSmallStack([&] {
      ASSERT_EQ(aclrtSetDevice(0), 0);
      for (int i = 0; i < 50; ++i) ASSERT_EQ(problem.Run(device).message, "");
      EXPECT_EQ(aclrtResetDevice(0), 0);
    });
    EXPECT_TRUE(problem.IsRight());
  }
}

// Sums are FP32; only the result is rounded, once.
TEST(NsaCompress, RoundsOnce) {
  const Device device;
  const auto sum = [&](aclDataType dtype, std::vector<double> weight) {
    weight.resize(16);
    Problem problem({"", kEdge, {}, 16, 1, 16, 16, 16}, dtype);
    Problem::Set(&problem.x, std::vector<double>(16 * 16, 1));
    Problem::Set(&problem.w, weight);
    EXPECT_EQ(problem.Run(device).message, "");
    return ValuesOf(problem.y)[0];
  };
  // 2048 + 1 + 1: rounding after each addition would stay at 2048.
  EXPECT_EQ(sum(ACL_FLOAT16, {2048, 1, 1}), 2050);
  // Ties to even.
  EXPECT_EQ(sum(ACL_FLOAT16, {2048, 1}), 2048);
  EXPECT_EQ(sum(ACL_FLOAT16, {2050, 1}), 2052);
  EXPECT_EQ(sum(ACL_BF16, {256, 1}), 256);
  EXPECT_EQ(sum(ACL_BF16, {258, 1}), 260);
  EXPECT_EQ(sum(ACL_FLOAT16, {65504, 65504, -65504}), 65504);
  EXPECT_EQ(sum(ACL_FLOAT16, {65504, 65504}), kInfinity);
}

// The stride of a dimension of 1 means nothing, however large.
TEST(NsaCompressViews, StridesOfOneElementMeanNothing) {
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
    call.input = spec(problem.x, {16, any, 1});
    call.weight = spec(problem.w, {1, any});
    call.block = 32;
    call.stride = 16;
    call.output = spec(problem.y, {any, any, 1});
    problem.y.Scramble();
    ASSERT_EQ(Execute(device, Plan(call), aclnnNsaCompress).message, "") << any;
    EXPECT_TRUE(problem.IsRight()) << any;
  }
}

TEST(NsaCompress, NonFiniteValuesFlow) { ExpectNonFiniteValuesFlow<Room>(); }

INSTANTIATE_TYPED_TEST_SUITE_P(NsaCompress, RoomRuns, Room);

}  // namespace
}  // namespace openaclnn::test::nsa_compress::forward
