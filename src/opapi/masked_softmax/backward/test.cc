// SPDX-License-Identifier: Apache-2.0
// Results of ScaledMaskedSoftmaxBackward: against the reference, and the reference against the
// derivative of the forward.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <complex>
#include <limits>

#include "masked_softmax/backward/reference.h"
#include "masked_softmax/backward/test_case.h"
#include "masked_softmax/forward/reference.h"
#include "tests/support/bits.h"
#include "tests/support/numbers.h"
#include "tests/support/room_runs.h"
#include "tests/support/tables.h"

namespace openaclnn::test::masked_softmax::backward {
namespace {

namespace room = openaclnn::masked_softmax::backward;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Rows without a mask.
std::vector<double> Softmax(const Case& shape, const std::vector<double>& x) {
  const auto n = static_cast<size_t>(shape.dims[3]);
  const std::vector<uint8_t> mask(n);
  std::vector<double> y(x.size());
  for (size_t row = 0; row < x.size(); row += n) {
    openaclnn::masked_softmax::forward::Reference(shape.dims[3], &x[row], mask.data(), 1, &y[row]);
  }
  return y;
}

TEST(Reference, IsTheFormula) {
  const std::vector<double> dy = {1, 2, 3}, y = {4, 5, 6};
  const std::vector<uint8_t> mask = {0, 7, 0};
  std::vector<double> dx(3, kNaN);
  room::Reference(3, dy.data(), y.data(), mask.data(), 0.5, dx.data());
  // The sum is 4 + 10 + 18, masked or not.
  EXPECT_EQ(dx, (std::vector<double>{0.5 * (4 - 4 * 32), 0, 0.5 * (18 - 6 * 32)}));
}

// With a step of i*h on x_k, the imaginary part of y over h is the derivative to full precision.
TEST(Reference, IsTheDerivativeOfTheForward) {
  using Complex = std::complex<double>;
  constexpr double kStep = 1e-100;
  EXPECT_TRUE(rc::check([] {
    const auto n = *rc::gen::inRange<size_t>(1, 24);
    const double scale = *rc::gen::element(1.0, 0.125, -2.0, 0.0, 1.0 / 3);
    const int64_t percent = *rc::gen::element(0, 30, 100);
    Random random(*rc::gen::arbitrary<uint32_t>());
    const auto count = static_cast<int64_t>(n);
    const std::vector<double> x = RandomValues(random, count, kNormal);
    const std::vector<double> dy = RandomValues(random, count, kNormal);
    std::vector<uint8_t> mask;
    for (const std::byte byte : RandomMask(random, count, percent)) {
      mask.push_back(static_cast<uint8_t>(byte));
    }
    std::vector<double> y(n), dx(n);
    openaclnn::masked_softmax::forward::Reference(count, x.data(), mask.data(), scale, y.data());
    room::Reference(count, dy.data(), y.data(), mask.data(), scale, dx.data());
    for (size_t k = 0; k < n; ++k) {
      std::vector<Complex> stepped(x.begin(), x.end()), result(n);
      stepped[k] += Complex(0, kStep);
      openaclnn::masked_softmax::forward::Reference(count, stepped.data(), mask.data(), scale,
                                                    result.data());
      double derivative = 0;
      for (size_t j = 0; j < n; ++j) derivative += dy[j] * result[j].imag() / kStep;
      RC_ASSERT(std::abs(derivative - dx[k]) < 1e-14 * (1 + std::abs(scale)) * 10);
    }
  }));
}

TEST(ScaledMaskedSoftmaxBackward, WorkedExample) {
  const Device device;
  for (const aclDataType dtype : kFloatDtypes) {
    Problem problem({"", kSmoke, {2, 2, 2, 2}, kMaskOfEach, 0, 1}, dtype);
    std::vector<double> values(16);
    std::vector<std::byte> mask(16);
    for (size_t i = 0; i < 16; ++i) {
      values[i] = static_cast<double>(i + 1);
      mask[i] = std::byte{i % 4 < 2};
    }
    problem.SetGradOutput(values);
    problem.SetY(values);
    problem.SetMask(mask);
    ExpectRight(device, problem);
    if (dtype != ACL_FLOAT) continue;
    EXPECT_EQ(ValuesOf(problem.out), (std::vector<double>{0, 0, -66, -84, 0, 0, -742, -840, 0, 0,
                                                          -2794, -3036, 0, 0, -6990, -7440}));
  }
}

// Any byte but 0 is true.
TEST(ScaledMaskedSoftmaxBackward, EveryByteOfTheMask) {
  const Device device;
  std::vector<std::byte> bytes(256);
  for (size_t i = 0; i < 256; ++i) bytes[i] = static_cast<std::byte>(i);
  for (const aclDataType dtype : kFloatDtypes) {
    Problem problem({"", kEdge, {1, 1, 1, 256}, kMaskOfEach, 0, 1}, dtype);
    problem.SetGradOutput(std::vector<double>(256, 1));
    problem.SetY(std::vector<double>(256, 1));
    problem.SetMask(bytes);
    ASSERT_EQ(problem.Run(device).message, "");
    const std::vector<double> got = ValuesOf(problem.out);
    EXPECT_EQ(got[0], -255);
    for (size_t i = 1; i < 256; ++i) EXPECT_EQ(got[i], 0) << i;
  }
}

/// One row of 20 ones in y, masked at 3; returns the output.
std::vector<double> Row(aclDataType dtype, std::vector<double> grad, double y3, double scale = 1) {
  const Device device;
  grad.resize(20);
  std::vector<double> y(20, 1);
  y[3] = y3;
  Problem problem({"", kEdge, {1, 1, 1, 20}, kMaskOfAll, 0, scale}, dtype);
  problem.SetGradOutput(grad);
  problem.SetY(y);
  std::vector<std::byte> mask(20);
  mask[3] = std::byte{1};
  problem.SetMask(mask);
  EXPECT_EQ(problem.Run(device).message, "");
  EXPECT_TRUE(problem.IsRight());
  return ValuesOf(problem.out);
}

// The mask selects: what is masked is 0, while the row's sum has it all the same.
TEST(ScaledMaskedSoftmaxBackward, NonFiniteValuesFlow) {
  for (const aclDataType dtype : kFloatDtypes) {
    for (const double bad : {kNaN, kInfinity, -kInfinity}) {
      for (const size_t place : {0, 3, 17}) {
        std::vector<double> grad(20, 1);
        grad[place] = bad;
        const std::vector<double> got = Row(dtype, grad, 1);
        for (size_t i = 0; i < 20; ++i) {
          if (i == 3) {
            EXPECT_EQ(got[i], 0);
          } else if (std::isnan(bad) || i == place) {
            EXPECT_TRUE(std::isnan(got[i])) << place << " " << i;
          } else {
            EXPECT_EQ(got[i], -bad) << place << " " << i;
          }
        }
      }
    }
    EXPECT_TRUE(std::isnan(Row(dtype, {1}, kNaN)[0]));
    EXPECT_EQ(Row(dtype, {1}, kNaN)[3], 0);
    EXPECT_TRUE(std::isnan(Row(dtype, {1}, 1, kNaN)[1]));
    EXPECT_EQ(Row(dtype, {1}, 1, kNaN)[3], 0);
    // Scale is narrowed to float, which makes this one infinite: 1 - 1 = 0 of it is NaN.
    EXPECT_TRUE(std::isnan(Row(dtype, {1}, 1, 1e300)[0]));
    EXPECT_EQ(Row(dtype, {1}, 1, 1e300)[1], -kInfinity);
  }
}

// A NaN stays in its row.
TEST(ScaledMaskedSoftmaxBackward, RowsAreApart) {
  const Device device;
  Problem problem({"", kEdge, {1, 2, 3, 5}, kMaskOfAll, 0, 1}, ACL_FLOAT);
  std::vector<double> grad(30, 1);
  grad[12] = kNaN;
  problem.SetGradOutput(grad);
  ASSERT_EQ(problem.Run(device).message, "");
  const std::vector<double> got = ValuesOf(problem.out);
  for (size_t i = 0; i < 30; ++i) EXPECT_EQ(std::isnan(got[i]), i / 5 == 2) << i;
}

// g*y = 256 and a sum of 257: BFLOAT16 products would lose the 1.
TEST(ScaledMaskedSoftmaxBackward, RoundsOnce) {
  const Device device;
  for (const aclDataType dtype : {ACL_FLOAT16, ACL_BF16}) {
    Problem problem({"", kEdge, {1, 1, 1, 2}, kMaskOfAll, 0, 1}, dtype);
    problem.SetGradOutput({4096, 1});
    problem.SetY({0.0625, 1});
    ASSERT_EQ(problem.Run(device).message, "");
    // 256 - 257/16 = 239.9375; 1 - 257 = -256.
    const BinaryFormat& format = dtype == ACL_FLOAT16 ? kHalf : kBFloat16;
    EXPECT_EQ(ValuesOf(problem.out), (std::vector<double>{Round(format, 239.9375), -256}));
  }
}

// The output may be the very view of gradOutput or of y.
TEST(ScaledMaskedSoftmaxBackward, OutputMayBeAnInput) {
  const Device device;
  for (const aclDataType dtype : kFloatDtypes) {
    for (uint64_t seed = 0; seed < 12; ++seed) {
      for (const bool into_y : {false, true}) {
        SCOPED_TRACE(testing::Message() << dtype << " " << seed << into_y);
        const Problem problem({"", kEdge, {2, 3, 5, 150}, kMaskOfHead, 30, 0.5}, dtype,
                              {seed, kNormal, seed > 0, false});
        ExpectRight(device, problem);
        const DeviceTensor& input = into_y ? problem.y : problem.grad_output;
        ASSERT_EQ(problem.RunInto(device, input).message, "");
        EXPECT_EQ(input.Read(), problem.out.Read());
        EXPECT_EQ(input.Damage(), "");
      }
    }
  }
}

struct Where {
  int64_t gap, offset;  // elements between rows, and before the first one
  size_t after;         // bytes from the view to the end of its memory
};

/// A gradient of more than 4 MiB has the same bits wherever it lies, and nothing is written beside.
void ExpectAnywhere(const Device& device, aclDataType dtype, int64_t width,
                    std::initializer_list<Where> places) {
  constexpr int64_t kRows = int64_t{2} * 3 * 350;
  const Problem problem({"", kEdge, {2, 3, 350, width}, kMaskOfHead, 30, 0.5}, dtype);
  ExpectRight(device, problem);
  const std::vector<std::byte> expected = problem.out.Read();
  for (const auto& [gap, offset, after] : places) {
    const int64_t step = width + gap;
    const Layout layout = {.dims = {2, 3, 350, width},
                           .strides = {3 * 350 * step, 350 * step, step, 1},
                           .offset = offset,
                           .storage = offset + (kRows - 1) * step + width};
    const DeviceTensor out(dtype, layout, after);
    ASSERT_EQ(problem.RunInto(device, out).message, "");
    EXPECT_TRUE(out.Read() == expected) << gap << ", " << offset << ", " << after;
    EXPECT_EQ(out.Damage(), "");
  }
}

// Rows that are whole cache lines go past the caches, and so do the whole lines of long ones.
TEST(ScaledMaskedSoftmaxBackward, LargeGradientsWhereverTheyLie) {
  ExpectAnywhere(
      Device(), ACL_BF16, 1056,
      {{0, 0, 64}, {0, 0, 32}, {0, 0, 2}, {32, 0, 0}, {16, 0, 0}, {0, 32, 0}, {0, 5, 0}});
  UnderEachSetting([](const std::string& setting, const Device& device) {
    SCOPED_TRACE(setting);
    ExpectAnywhere(device, ACL_BF16, 1003, {{0, 0, 1}, {7, 0, 0}});
    ExpectAnywhere(device, ACL_FLOAT, 527, {{0, 0, 4}, {0, 5, 0}});
  });
}

TEST(ScaledMaskedSoftmaxBackward, EveryMaskInEveryView) { ExpectEveryMaskInEveryView<Room>(); }

TEST(ScaledMaskedSoftmaxBackward, RowsOf8192On950) { ExpectRowsOf8192On950<Room>(); }

TEST(ScaledMaskedSoftmaxBackward, NeedsLittleWorkspaceAndStack) {
  ExpectLittleWorkspaceAndStack<Room>();
}

// The operand y is the forward's result for x, as in models.
TEST(ScaledMaskedSoftmaxBackward, OfRealSoftmaxes) {
  const Device device;
  for (const Case& shape : Room::Cases()) {
    if (shape.group != kReal) continue;
    for (const aclDataType dtype : kFloatDtypes) {
      Problem problem(shape, dtype);
      problem.SetY(Softmax(shape, ValuesOf(problem.y)));
      ExpectRight(device, problem);
    }
  }
}

INSTANTIATE_TYPED_TEST_SUITE_P(ScaledMaskedSoftmaxBackward, RoomRuns, Room);

}  // namespace
}  // namespace openaclnn::test::masked_softmax::backward
