// SPDX-License-Identifier: Apache-2.0
// Results of NsaCompressGrad: against the reference, and the reference against its law.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "nsa_compress/backward/reference.h"
#include "nsa_compress/backward/test_case.h"
#include "nsa_compress/forward/reference.h"
#include "tests/support/numbers.h"
#include "tests/support/room_runs.h"
#include "tests/support/tables.h"

namespace openaclnn::test::nsa_compress::backward {
namespace {

namespace room = openaclnn::nsa_compress::backward;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr aclDataType kHalves[] = {ACL_FLOAT16, ACL_BF16};

TEST(Reference, IsTheFormula) {
  // Windows at 0, 1 and 4, which end where the list says.
  const std::vector<int64_t> start = {0, 1, 4};
  const std::vector<double> dy = {1, 2, 3}, x = {1, 2, 3, 4, 5, 6}, w = {10, 1};
  std::vector<double> dx(6), dw(2);
  room::Reference({6, 1, 1, 2, 3}, start.data(), dy.data(), x.data(), w.data(), dx.data(),
                  dw.data());
  EXPECT_EQ(dx, (std::vector<double>{10, 21, 2, 0, 30, 3}));
  EXPECT_EQ(dw, (std::vector<double>{1 * 1 + 2 * 2 + 5 * 3, 2 * 1 + 3 * 2 + 6 * 3}));
}

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// NsaCompress is linear in x and in w: <dy, NsaCompress(x, w)> = <dx, x> = <dw, w>.
TEST(Reference, IsTheAdjointOfNsaCompress) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    WindowCase shape = RandomWindowCase(random, true);
    shape.heads = Uniform(random, 1, 3);
    shape.width = Uniform(random, 1, 4);
    const std::vector<int64_t> start = WindowStarts(shape);
    const auto windows = static_cast<int64_t>(start.size());
    // Whole numbers, so that all three are exact.
    const auto whole = [&](int64_t count) {
      std::vector<double> values(static_cast<size_t>(count));
      for (double& value : values) value = static_cast<double>(Uniform(random, -1000, 1000));
      return values;
    };
    const int64_t row = shape.heads * shape.width;
    const auto dy = whole(windows * row), x = whole(shape.tokens * row);
    const auto w = whole(shape.block * shape.heads);
    std::vector<double> y(dy.size()), dx(x.size(), kNaN), dw(w.size(), kNaN);
    openaclnn::nsa_compress::forward::Reference({shape.heads, shape.width, shape.block, windows},
                                                start.data(), x.data(), w.data(), y.data());
    room::Reference({shape.tokens, shape.heads, shape.width, shape.block, windows}, start.data(),
                    dy.data(), x.data(), w.data(), dx.data(), dw.data());
    RC_ASSERT(Dot(dy, y) == Dot(dx, x));
    RC_ASSERT(Dot(dy, y) == Dot(dw, w));
  }));
}

TEST(NsaCompressGrad, WorkedExample) {
  const Device device;
  for (const aclDataType dtype : kHalves) {
    Problem problem({"", kSmoke, {0, 128, 272}, 272, 64, 128, 32, 16}, dtype);
    ASSERT_EQ(problem.dy.layout().dims, (Dims{7 + 8, 64, 128}));
    for (DeviceTensor* input : {&problem.dy, &problem.x, &problem.w}) {
      Problem::Set(input, std::vector<double>(static_cast<size_t>(input->layout().count()), 1));
    }
    ASSERT_EQ(problem.Run(device).message, "");
    const std::vector<double> dx = ValuesOf(problem.dx);
    for (size_t i = 0; i < dx.size(); ++i) {
      const size_t token = i / (64 * 128);
      const bool at_an_end = token < 16 || (token >= 112 && token < 144) || token >= 256;
      ASSERT_EQ(dx[i], at_an_end ? 1 : 2) << "token " << token;
    }
    EXPECT_EQ(ValuesOf(problem.dw), std::vector<double>(32 * 64, 15 * 128));
  }
}

// 131,072 equal terms: a running sum would be far outside the bound.
TEST(NsaCompressGrad, LongSumsStayAccurate) {
  const Device device;
  for (const aclDataType dtype : kHalves) {
    Problem problem({"", kEdge, {}, 8192 + 16, 1, 256, 32, 16}, dtype, {1, kEqual, false});
    // The whole sum is near 13, where FLOAT16 still shows an error of 2^-10.
    Problem::Set(&problem.dy, std::vector<double>(512 * 256, 0.001));
    ExpectRight(device, problem);
  }
}

// A NaN reaches what it is a factor of and nothing else; a token under no window is a factor of
// nothing.
TEST(NsaCompressGrad, NaNStaysWhereItBelongs) {
  const Device device;
  Problem problem({"", kEdge, {48, 63}, 63, 1, 16, 32, 16}, ACL_BF16);
  std::vector<double> x(63 * 16, 1), w(32, 1);
  x[50 * 16] = kNaN;
  w[5] = kNaN;
  Problem::Set(&problem.x, x);
  Problem::Set(&problem.w, w);
  Problem::Set(&problem.dy, std::vector<double>(2 * 16, 1));
  ASSERT_EQ(problem.Run(device).message, "");
  const std::vector<double> dx = ValuesOf(problem.dx);
  for (size_t token = 0; token < 63; ++token) {
    EXPECT_EQ(std::isnan(dx[token * 16]), token == 5 || token == 21) << token;
  }
  EXPECT_EQ(ValuesOf(problem.dw), std::vector<double>(32, 32));
}

// Sums are FP32; only the result is rounded, once.
TEST(NsaCompressGrad, RoundsOnce) {
  const Device device;
  // Three windows at 0, 16 and 32; all three lie over token 32.
  const auto token32 = [&](aclDataType dtype, const std::vector<double>& dy, double weight) {
    Problem problem({"", kEdge, {}, 80, 1, 16, 48, 16}, dtype);
    std::vector<double> rows;
    for (const double value : dy) rows.insert(rows.end(), 16, value);
    Problem::Set(&problem.dy, rows);
    Problem::Set(&problem.w, std::vector<double>(48, weight));
    Problem::Set(&problem.x, std::vector<double>(80 * 16, 1));
    EXPECT_EQ(problem.Run(device).message, "");
    return ValuesOf(problem.dx)[32 * 16];
  };
  // 2048 + 1 + 1: rounding after each addition would stay at 2048.
  EXPECT_EQ(token32(ACL_FLOAT16, {2048, 1, 1}, 1), 2050);
  EXPECT_EQ(token32(ACL_FLOAT16, {1, 2048, 1}, 1), 2050);
  // Ties to even.
  EXPECT_EQ(token32(ACL_FLOAT16, {2048, 1, 0}, 1), 2048);
  EXPECT_EQ(token32(ACL_FLOAT16, {2050, 1, 0}, 1), 2052);
  EXPECT_EQ(token32(ACL_BF16, {256, 1, 0}, 1), 256);
  EXPECT_EQ(token32(ACL_BF16, {258, 1, 0}, 1), 260);
  EXPECT_EQ(token32(ACL_FLOAT16, {65504, -65504, 5}, 2), 10);
  EXPECT_EQ(token32(ACL_FLOAT16, {65504, 65504, 0}, 1), kInfinity);
  EXPECT_EQ(token32(ACL_BF16, {0x1p127, -0x1p127, 1}, 1), 1);
}

TEST(NsaCompressGrad, NonFiniteValuesFlow) { ExpectNonFiniteValuesFlow<Room>(); }

INSTANTIATE_TYPED_TEST_SUITE_P(NsaCompressGrad, RoomRuns, Room);

}  // namespace
}  // namespace openaclnn::test::nsa_compress::backward
