// SPDX-License-Identifier: Apache-2.0
// Softmax, its logarithm and their gradients: rows about as long as lanes, blocks and pieces are.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kWidths[] = {1, 7, 15, 16, 17, 63, 64, 65, 1025, 4095, 4096, 4097, 12301};

/// The operators by number: Softmax, LogSoftmax, and the gradients of both.
constexpr int kOperators = 4;

/// The type that an operator takes for results of a type: the gradients take no DOUBLE.
aclDataType Given(int which, aclDataType dtype) {
  return which >= 2 && dtype == ACL_DOUBLE ? ACL_FLOAT : dtype;
}

void RunAlong(const Device& device, int which, const DeviceTensor& first,
              const DeviceTensor& second, int64_t dim, const DeviceTensor& out) {
  const aclTensor *x = first.handle(), *y = second.handle();
  switch (which) {
    case 0:
      EXPECT_RUN(device, Softmax, x, dim, Handle(out));
      break;
    case 1:
      EXPECT_RUN(device, LogSoftmax, x, dim, Handle(out));
      break;
    case 2:
      EXPECT_RUN(device, SoftmaxBackward, x, y, dim, Handle(out));
      break;
    default:
      EXPECT_RUN(device, LogSoftmaxBackward, x, y, dim, Handle(out));
  }
}

struct Wanted {
  Doubles values, scales;  // what an error is relative to
};

/// The results of one row; `first` is x or the gradient, `second` the result of the forward.
Wanted WantedOf(int which, const double* first, const double* second, int64_t n) {
  const double max = *std::max_element(first, first + n);
  double powers = 0, sum = 0, magnitude = 0;
  for (int64_t i = 0; i < n; ++i) {
    powers += std::exp(first[i] - max);
    const double term = which == 2 ? first[i] * second[i] : first[i];
    sum += term;
    magnitude += std::abs(term);
  }
  Wanted wanted;
  for (int64_t i = 0; i < n; ++i) {
    const double x = first[i], y = which >= 2 ? second[i] : 0;
    const double power = std::exp(which == 3 ? y : x - max);
    const double values[] = {power / powers, x - max - std::log(powers), y * (x - sum),
                             x - power * sum};
    const double scales[] = {values[0] * (max - x + 1), max - x + std::log(powers) + 1,
                             std::abs(y) * (std::abs(x) + magnitude),
                             std::abs(x) + power * magnitude};
    wanted.values.push_back(values[which]);
    wanted.scales.push_back(scales[which]);
  }
  return wanted;
}

TEST(Softmax, WidthsAroundLanesAndPieces) {
  const Device device;
  Random random(71);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE}) {
    const double unit = dtype == ACL_DOUBLE    ? 0x1p-49
                        : dtype == ACL_FLOAT   ? 0x1p-24
                        : dtype == ACL_FLOAT16 ? 0x1p-11
                                               : 0x1p-8;
    const double least = dtype == ACL_FLOAT16 ? 0x1p-24 : 0;
    for (const int64_t n : kWidths) {
      const DeviceTensor out(dtype, RandomLayout(random, {3, n}, false));
      for (int which = 0; which < kOperators; ++which) {
        SCOPED_TRACE(testing::Message() << dtype << ", width " << n << ", operator " << which);
        const aclDataType given = Given(which, dtype);
        const DeviceTensor first = Make(given, {3, n}, RealValues(random, 3 * n, -9, 9), random),
                           second = Make(given, {3, n}, RealValues(random, 3 * n, -9, 1), random);
        const Doubles x = ValuesOf(first), y = ValuesOf(second);
        RunAlong(device, which, first, second, 1, out);
        const Doubles got = ValuesOf(out);
        for (int64_t row = 0; row < 3; ++row) {
          const Wanted wanted = WantedOf(which, &x[static_cast<size_t>(row * n)],
                                         &y[static_cast<size_t>(row * n)], n);
          for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
            ASSERT_NEAR(got[static_cast<size_t>(row * n) + i], wanted.values[i],
                        8 * unit * wanted.scales[i] + least)
                << row << ", " << i;
          }
        }
        EXPECT_EQ(out.Damage(), "");
      }
    }
  }
}

TEST(Softmax, NoSettingAndNoStrideChangesABit) {
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16, ACL_DOUBLE}) {
    // Results under the first setting, and those without FMA, whose bits are their own.
    std::vector<Doubles> first_of[2];
    UnderEachSetting([&](const std::string& setting, const Device& device) {
      std::vector<Doubles>& first = first_of[IsFused(setting) ? 0 : 1];
      Random random(72);
      size_t at = 0;
      for (const int64_t n : {7, 65, 4097, 9001}) {
        const Doubles x = RealValues(random, 8 * n, -90, 9), y = RealValues(random, 8 * n, -9, 1);
        for (int which = 0; which < kOperators; ++which, ++at) {
          SCOPED_TRACE(testing::Message()
                       << setting << ", " << dtype << ", width " << n << ", operator " << which);
          for (const Layout& layout : {DenseLayout({8, n}), Layout{{8, n}, {1, 9}, 0, 9 * n},
                                       RandomLayout(random, {8, n}, false)}) {
            const aclDataType given = Given(which, dtype);
            DeviceTensor left(given, layout), right(given, layout);
            left.Write(ToBytes(given, x));
            right.Write(ToBytes(given, y));
            const DeviceTensor out(dtype, layout);
            RunAlong(device, which, left, right, 1, out);
            if (at == first.size()) first.push_back(ValuesOf(out));
            EXPECT_EQ(ValuesOf(out), first[at]);
          }
        }
      }
    });
  }
}

// As torch-npu calls Softmax with out = self, and its gradient with gradInput = output.
TEST(Softmax, MayWriteOverWhatItReads) {
  const Device device;
  Random random(89);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16}) {
    for (const int64_t n : {7, 4097, 9001}) {
      const Doubles x = RealValues(random, 3 * n, -90, 9), y = RealValues(random, 3 * n, -9, 1);
      for (int which = 0; which < kOperators; ++which) {
        SCOPED_TRACE(testing::Message() << dtype << ", width " << n << ", operator " << which);
        const Layout layout = RandomLayout(random, {3, n}, false);
        DeviceTensor left(dtype, layout), right(dtype, layout);
        left.Write(ToBytes(dtype, x));
        right.Write(ToBytes(dtype, y));
        const DeviceTensor out(dtype, layout);
        RunAlong(device, which, left, right, 1, out);
        const DeviceTensor& over = which < 2 ? left : right;
        RunAlong(device, which, left, right, 1, over);
        EXPECT_EQ(over.Read(), out.Read());
      }
    }
  }
}

TEST(Softmax, NanAndInfinityFillTheirRow) {
  const Device device;
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16, ACL_DOUBLE}) {
    for (const int64_t n : {1, 7, 40, 5000}) {
      for (const double odd : {double{NAN}, double{INFINITY}}) {
        for (const int64_t place : {int64_t{0}, n / 2, n - 1}) {
          Doubles values(static_cast<size_t>(2 * n), 1);
          values[static_cast<size_t>(place)] = odd;
          const DeviceTensor x = Make(dtype, {2, n}, values), out(dtype, DenseLayout({2, n}));
          for (int which = 0; which < 2; ++which) {
            SCOPED_TRACE(testing::Message() << dtype << ", width " << n << ", " << odd << " at "
                                            << place << ", operator " << which);
            RunAlong(device, which, x, x, -1, out);
            const Doubles got = ValuesOf(out);
            for (size_t i = 0; i < got.size(); ++i) {
              ASSERT_EQ(std::isnan(got[i]), i < static_cast<size_t>(n)) << i;
            }
          }
        }
      }
    }
  }
}

TEST(Softmax, ALogarithmKeepsDigitsOfLargeNumbers) {
  const Device device;
  Random random(73);
  for (const int64_t n : {7, 40, 5000}) {
    const DeviceTensor x = Make(ACL_FLOAT, {n}, RealValues(random, n, 9990, 10000)),
                       out(ACL_FLOAT, DenseLayout({n}));
    EXPECT_RUN(device, LogSoftmax, x.handle(), 0, Handle(out));
    const Wanted wanted = WantedOf(1, ValuesOf(x).data(), nullptr, n);
    ExpectNear(ValuesOf(out), wanted.values, ACL_FLOAT, 1e-6, 1e-6);
  }
}

TEST(Softmax, WhatIsMinusInfinityHasNoPart) {
  const Device device;
  for (const int64_t n : {7, 40, 5000}) {
    Doubles values(static_cast<size_t>(n), -INFINITY), want(values.size());
    values[5] = -3;
    want[5] = 1;
    const DeviceTensor x = Make(ACL_FLOAT, {n}, values), out(ACL_FLOAT, DenseLayout({n}));
    EXPECT_RUN(device, Softmax, x.handle(), 0, Handle(out));
    EXPECT_EQ(ValuesOf(out), want);
    EXPECT_RUN(device, LogSoftmax, x.handle(), 0, Handle(out));
    for (size_t i = 0; i < want.size(); ++i) want[i] = i == 5 ? 0 : -INFINITY;
    EXPECT_EQ(ValuesOf(out), want);
  }
}

}  // namespace
}  // namespace openaclnn::test
