// SPDX-License-Identifier: Apache-2.0
// Losses against their formulas, and their gradients against differences of them.
#include <numeric>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

/// The inputs of a loss, and a target that is no input of the differences. Results are DOUBLE.
struct Losses {
  Device device;
  Random random{44};
  Doubles x = Numbers(6, 0.1, 0.9), t = Numbers(6, 0.1, 0.9);
  DeviceTensor target = Floats({2, 3}, t);

  Doubles Numbers(int64_t count, double low, double high) {
    return Held(ACL_FLOAT, RealValues(random, count, low, high));
  }

  /// loss(self, reduction, out); gradient(upstream, self, reduction, out); want(x, t).
  template <class Loss, class Gradient, class Want>
  void Check(const Loss& loss, const Gradient& gradient, const Want& want) {
    for (const int64_t reduction : {0, 1, 2}) {
      SCOPED_TRACE(reduction);
      const Dims shape = reduction == 0 ? Dims{2, 3} : Dims{};
      const auto forward = [&](const Doubles& at) {
        Doubles each;
        double sum = 0;
        for (size_t i = 0; i < 6; ++i) sum += each.emplace_back(want(at[i], t[i]));
        return reduction == 0 ? each : Doubles{reduction == 1 ? sum / 6 : sum};
      };
      const Doubles g = Numbers(reduction == 0 ? 6 : 1, -2, 2);
      const DeviceTensor self = Floats({2, 3}, x), upstream = Floats(shape, g), out = Empty(shape),
                         slopes = Empty({2, 3});
      loss(self.handle(), reduction, Handle(out));
      ExpectNear(ValuesOf(out), forward(x), ACL_DOUBLE, 1e-10);
      gradient(upstream.handle(), self.handle(), reduction, Handle(slopes));
      ExpectNear(ValuesOf(slopes), Slopes(x, g, forward), ACL_DOUBLE, 1e-6, 1e-8);
    }
  }
};

using Self = const aclTensor*;

TEST(Loss, OfDistances) {
  Losses losses;
  const Device& device = losses.device;
  const Self t = losses.target.handle();
  losses.Check(
      [&](Self x, int64_t r, aclTensor* out) { EXPECT_RUN(device, MseLoss, x, t, r, out); },
      [&](Self g, Self x, int64_t r, aclTensor* out) {
        EXPECT_RUN(device, MseLossBackward, g, x, t, r, out);
      },
      [](double a, double b) { return (a - b) * (a - b); });
  losses.Check([&](Self x, int64_t r, aclTensor* out) { EXPECT_RUN(device, L1Loss, x, t, r, out); },
               [&](Self g, Self x, int64_t r, aclTensor* out) {
                 EXPECT_RUN(device, L1LossBackward, g, x, t, r, out);
               },
               [](double a, double b) { return std::abs(a - b); });
  losses.Check([&](Self x, int64_t r,
                   aclTensor* out) { EXPECT_RUN(device, SmoothL1Loss, x, t, r, 0.25f, out); },
               [&](Self g, Self x, int64_t r, aclTensor* out) {
                 EXPECT_RUN(device, SmoothL1LossBackward, g, x, t, r, 0.25f, out);
               },
               [](double a, double b) {
                 const double d = std::abs(a - b);
                 return d < 0.25 ? d * d / 0.5 : d - 0.125;
               });
}

TEST(Loss, OfDistributions) {
  Losses losses;
  const Device& device = losses.device;
  const Self t = losses.target.handle();
  losses.Check(
      [&](Self x, int64_t r, aclTensor* out) { EXPECT_RUN(device, SoftMarginLoss, x, t, r, out); },
      [&](Self g, Self x, int64_t r, aclTensor* out) {
        EXPECT_RUN(device, SoftMarginLossBackward, g, x, t, r, out);
      },
      [](double a, double b) { return std::log1p(std::exp(-a * b)); });
  for (const bool logarithm : {false, true}) {
    losses.Check([&](Self x, int64_t r,
                     aclTensor* out) { EXPECT_RUN(device, KlDiv, x, t, r, logarithm, out); },
                 [&](Self g, Self x, int64_t r, aclTensor* out) {
                   EXPECT_RUN(device, KlDivBackward, g, x, t, r, logarithm, out);
                 },
                 [&](double a, double b) {
                   return logarithm ? std::exp(b) * (b - a) : b * (std::log(b) - a);
                 });
  }
}

// As the vendor's page says it; PyTorch has 0 for a target of 0.
TEST(Loss, KlDivOfATargetThatHasNoLogarithm) {
  const Device device;
  const DeviceTensor self = Of({4}, {-1, -2, -3, 0.5}), target = Of({4}, {0, -0.5, 0.25, 2}),
                     out = Empty({4});
  EXPECT_RUN(device, KlDiv, self.handle(), target.handle(), 0, false, Handle(out));
  const double nan = std::nan("");
  ExpectNear(ValuesOf(out), {nan, nan, 0.25 * (std::log(0.25) + 3), 2 * (std::log(2.0) - 0.5)},
             ACL_DOUBLE);
  EXPECT_RUN(device, KlDiv, self.handle(), target.handle(), 0, true, Handle(out));
  ExpectNear(ValuesOf(out), {1.0, std::exp(-0.5) * 1.5, std::exp(0.25) * 3.25, std::exp(2.0) * 1.5},
             ACL_DOUBLE);
}

TEST(Loss, OfTruths) {
  Losses losses;
  const Device& device = losses.device;
  const Self t = losses.target.handle();
  losses.Check(
      [&](Self x, int64_t r, aclTensor* out) {
        EXPECT_RUN(device, BinaryCrossEntropy, x, t, nullptr, r, out);
      },
      [&](Self g, Self x, int64_t r, aclTensor* out) {
        EXPECT_RUN(device, BinaryCrossEntropyBackward, g, x, t, nullptr, r, out);
      },
      [](double a, double b) { return -(b * std::log(a) + (1 - b) * std::log(1 - a)); });
  const DeviceTensor weight = Floats({3}, {2, 2, 2}), positive = Floats({3}, {3, 3, 3});
  losses.Check(
      [&](Self x, int64_t r, aclTensor* out) {
        EXPECT_RUN(device, BinaryCrossEntropyWithLogits, x, t, weight.handle(), positive.handle(),
                   r, out);
      },
      [&](Self g, Self x, int64_t r, aclTensor* out) {
        EXPECT_RUN(device, BinaryCrossEntropyWithLogitsBackward, g, x, t, weight.handle(),
                   positive.handle(), r, out);
      },
      [](double a, double b) {
        const double s = 1 / (1 + std::exp(-a));
        return -2 * (3 * b * std::log(s) + (1 - b) * std::log(1 - s));
      });
}

// More than a block of the sum, and none of its size: runs end with each row of the broadcast.
TEST(Loss, OfManyElements) {
  const Device device;
  Random random(71);
  for (const Dims& dims : {Dims{5, 1025}, Dims{1023}, Dims{700, 7}, Dims{0, 3}}) {
    const Dims row = {dims.back()};
    const int64_t count = dims.size() == 1 ? dims[0] : dims[0] * dims[1];
    const DeviceTensor x = Make(ACL_FLOAT, dims, RealValues(random, count), random),
                       target = Make(ACL_FLOAT, row, RealValues(random, row[0]), random);
    const Doubles a = ValuesOf(x), b = ValuesOf(target);
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += std::pow(a[i] - b[i % b.size()], 2);
    const DeviceTensor out = Empty({});
    EXPECT_RUN(device, MseLoss, x.handle(), target.handle(), 2, Handle(out));
    ExpectNear(ValuesOf(out), {sum}, ACL_DOUBLE);
    EXPECT_RUN(device, MseLoss, x.handle(), target.handle(), 1, Handle(out));
    ExpectNear(ValuesOf(out), {sum / static_cast<double>(count)}, ACL_DOUBLE);
  }
}

/// The results of losses and their gradients for inputs of a type: of (3, n), dense or as columns.
std::vector<Doubles> ResultsOf(const Device& device, aclDataType dtype, const Layout& layout,
                               const Doubles& x, const Doubles& t) {
  DeviceTensor self(dtype, layout), target(dtype, layout);
  self.Write(ToBytes(dtype, x));
  target.Write(ToBytes(dtype, t));
  const DeviceTensor upstream = Make(dtype, {}, {0.75});
  std::vector<Doubles> results;
  for (const int64_t r : {0, 1, 2}) {
    const DeviceTensor out(ACL_FLOAT, DenseLayout(r == 0 ? layout.dims : Dims{})),
        grad(ACL_FLOAT, layout);
    const Self a = self.handle(), b = target.handle(), g = upstream.handle();
    const auto keep = [&](const DeviceTensor& tensor) { results.push_back(ValuesOf(tensor)); };
    EXPECT_RUN(device, MseLoss, a, b, r, Handle(out));
    keep(out);
    EXPECT_RUN(device, MseLossBackward, g, a, b, r, Handle(grad));
    keep(grad);
    EXPECT_RUN(device, SmoothL1Loss, a, b, r, 0.5f, Handle(out));
    keep(out);
    EXPECT_RUN(device, SmoothL1LossBackward, g, a, b, r, 0.5f, Handle(grad));
    keep(grad);
    EXPECT_RUN(device, BinaryCrossEntropyWithLogits, a, b, b, nullptr, r, Handle(out));
    keep(out);
    EXPECT_RUN(device, BinaryCrossEntropyWithLogitsBackward, g, a, b, nullptr, b, r, Handle(grad));
    keep(grad);
  }
  return results;
}

/// The results in double, apart from sums, which go by the one tree.
std::vector<Doubles> PlainResults(const Doubles& x, const Doubles& t) {
  std::vector<Doubles> elements(6);
  for (size_t i = 0; i < x.size(); ++i) {
    const double d = x[i] - t[i], sigmoid = 1 / (1 + std::exp(-x[i]));
    const bool near = std::abs(d) < 0.5;
    const double each[] = {
        d * d,
        0.75 * 2 * d,
        near ? d * d : std::abs(d) - 0.25,
        0.75 * (near ? d / 0.5 : std::copysign(1, d)),
        t[i] * ((1 - t[i]) * x[i] + std::max(-x[i], 0.0) + std::log1p(std::exp(-std::abs(x[i])))),
        0.75 * ((1 - t[i]) * sigmoid - t[i] * t[i] * (1 - sigmoid))};
    for (size_t k = 0; k < 6; ++k) elements[k].push_back(each[k]);
  }
  std::vector<Doubles> results;
  const auto count = static_cast<double>(x.size());
  for (const int r : {0, 1, 2}) {
    for (size_t k = 0; k < 6; ++k) {
      const double sum = std::accumulate(elements[k].begin(), elements[k].end(), 0.0);
      Doubles all = elements[k];
      if (k % 2 == 0 && r > 0) all = {sum};
      for (double& value : all) value /= r == 1 ? count : 1;
      results.push_back(all);
    }
  }
  return results;
}

// They are computed in double whatever the type and wherever the elements are: rounding to float,
// once, is all that they lose.
TEST(Loss, OfFloatsIsThatOfDoubles) {
  for (const int64_t n : {1, 15, 17, 513, 1100}) {
    Random random(72);
    for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
      const Doubles x = Held(dtype, RealValues(random, 3 * n, -9, 9)),
                    t = Held(dtype, RealValues(random, 3 * n, 0, 1));
      const std::vector<Doubles> want = PlainResults(x, t);
      UnderEachSetting([&, n = n](const std::string& setting, const Device& device) {
        SCOPED_TRACE(testing::Message() << setting << ", " << dtype << ", width " << n);
        const Layout dense = DenseLayout({3, n}), columns{{3, n}, {1, 4}, 0, 4 * n};
        for (const Layout& layout : {dense, columns}) {
          const auto got = ResultsOf(device, dtype, layout, x, t);
          ASSERT_EQ(got.size(), want.size());
          for (size_t i = 0; i < got.size(); ++i) {
            EXPECT_EQ(got[i], Held(ACL_FLOAT, want[i])) << "result " << i;
          }
        }
      });
    }
  }
}

// These means lie half-way between two floats. Times the inverse of the count, which is not exact,
// they would be on one side.
TEST(Loss, MeansAreDividedWhereverTheyAre) {
  for (const int64_t n : {49, 107, 161}) {
    Doubles x, t, want;
    for (int64_t i = 0; i < n; ++i) {
      constexpr int64_t kFloat = 1 << 24;
      const int64_t mean = 2 * kFloat - 1 - 2 * i, sum = mean * n, low = sum % kFloat;
      x.push_back(static_cast<double>(sum - low));
      t.push_back(static_cast<double>(-low));
      want.push_back(static_cast<float>(mean));
    }
    UnderEachSetting([&](const std::string& setting, const Device& device) {
      SCOPED_TRACE(testing::Message() << setting << ", " << n);
      const DeviceTensor self = Make(ACL_FLOAT, {n}, x), target = Make(ACL_FLOAT, {n}, t),
                         half = Make(ACL_FLOAT, {}, {0.5});
      for (const Layout& layout : {DenseLayout({n}), Layout{{n}, {2}, 1, 2 * n}}) {
        const DeviceTensor out(ACL_FLOAT, layout);
        EXPECT_RUN(device, MseLossBackward, half.handle(), self.handle(), target.handle(), 1,
                   Handle(out));
        EXPECT_EQ(ValuesOf(out), want);
      }
    });
  }
}

// Weights that are left out are 1.
TEST(Loss, WeightsOfOneChangeNoBit) {
  const Device device;
  Random random(73);
  const Dims dims = {3, 600};
  const DeviceTensor a = Make(ACL_FLOAT, dims, RealValues(random, 1800, -9, 9)),
                     t = Make(ACL_FLOAT, dims, RealValues(random, 1800, 0, 1)),
                     g = Make(ACL_FLOAT, {}, {0.75}), one = Make(ACL_FLOAT, {}, {1});
  const auto gradient = [&](const aclTensor* weight, const aclTensor* positive) {
    const DeviceTensor out(ACL_FLOAT, DenseLayout(dims));
    EXPECT_RUN(device, BinaryCrossEntropyWithLogitsBackward, g.handle(), a.handle(), t.handle(),
               weight, positive, 1, Handle(out));
    return out.Read();
  };
  const std::vector<std::byte> plain = gradient(nullptr, nullptr);
  EXPECT_TRUE(gradient(one.handle(), nullptr) == plain);
  EXPECT_TRUE(gradient(nullptr, one.handle()) == plain);
  EXPECT_TRUE(gradient(one.handle(), one.handle()) == plain);
}

TEST(Loss, RefuseWhatDoesNotFit) {
  const Device device;
  const DeviceTensor x = EmptyFloats({2, 3}), row = EmptyFloats({2}), one = EmptyFloats({});
  EXPECT_REFUSED(161002, "reduction value is 3", MseLoss, x.handle(), x.handle(), 3, Handle(one));
  EXPECT_REFUSED(161002, "out shape is (2, 3), expected one element", MseLoss, x.handle(),
                 x.handle(), 1, Handle(x));
  EXPECT_REFUSED(161002, "result shape is (2, 3), expected one element", SmoothL1Loss, x.handle(),
                 x.handle(), 1, 1.0F, Handle(x));
  EXPECT_REFUSED(161002, "target shape is (2), expected one that can be broadcast", L1Loss,
                 x.handle(), row.handle(), 0, Handle(x));
  EXPECT_REFUSED(161002, "out shape is (2), expected (2, 3)", MseLossBackward, one.handle(),
                 x.handle(), x.handle(), 1, Handle(row));
}

TEST(Loss, ClassesOfPlanes) {
  const Device device;
  const DeviceTensor self = Floats({1, 2, 1, 2}, {1, 2, 3, 4}),
                     target = Make(ACL_INT64, {1, 1, 2}, {1, 0}), weight = Floats({2}, {1, 10}),
                     out = EmptyFloats({1, 1, 2}), total = EmptyFloats({}),
                     grad = EmptyFloats({1, 2, 1, 2}), g = Floats({1, 1, 2}, {1, 2});
  EXPECT_RUN(device, NLLLoss2d, self.handle(), target.handle(), weight.handle(), 0, -100,
             Handle(out), Handle(total));
  EXPECT_EQ(ValuesOf(out), (Doubles{-30, -2}));
  EXPECT_RUN(device, NLLLoss2dBackward, g.handle(), self.handle(), target.handle(), weight.handle(),
             0, -100, total.handle(), Handle(grad));
  EXPECT_EQ(ValuesOf(grad), (Doubles{0, -2, -10, 0}));
}

// The loss is target * (log target - self), or exp(target) * (target - self).
TEST(Loss, DivergenceByItsTarget) {
  const Device device;
  Random random(71);
  const Doubles x = RealValues(random, 12), target = RealValues(random, 12, 0.1, 1);
  const DeviceTensor self = Of({3, 4}, x), t = Of({3, 4}, target), g = Of({}, {2}),
                     out = Empty({3, 4});
  for (const bool log_target : {false, true}) {
    EXPECT_RUN(device, KlDivTargetBackward, g.handle(), self.handle(), t.handle(), 2, log_target,
               Handle(out));
    const Doubles want = Slopes(target, {2}, [&](const Doubles& at) {
      Doubles loss;
      for (size_t i = 0; i < at.size(); ++i) {
        loss.push_back(log_target ? std::exp(at[i]) * (at[i] - x[i])
                                  : at[i] * (std::log(at[i]) - x[i]));
      }
      return loss;
    });
    ExpectNear(ValuesOf(out), want, ACL_DOUBLE, 1e-6, 1e-6);
  }
}

TEST(Loss, AClassOutOfRangeFailsTheTask) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {2, 3}, {1, 2, 3, 4, 5, 6});
  const DeviceTensor target = Make(ACL_INT64, {2}, {1, 3});
  const DeviceTensor weight = Make(ACL_FLOAT, {3}, {1, 1, 1});
  DeviceTensor out(ACL_FLOAT, DenseLayout({})), total(ACL_FLOAT, DenseLayout({}));
  out.Scramble();
  const Outcome outcome = Call(device, aclnnNLLLoss, [&](auto... o) {
    return aclnnNLLLossGetWorkspaceSize(self.handle(), target.handle(), weight.handle(), 1, -100,
                                        Handle(out), Handle(total), o...);
  });
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("target value 1 is 3"), std::string::npos) << outcome.message;
  EXPECT_EQ(out.Change(), "");
}

// Scores are far from 0, where powers of them would leave the type.
TEST(Loss, SoftmaxCrossEntropyWithLogits) {
  const Device device;
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    const double third = ToDoubles(dtype, ToBytes(dtype, {std::log(3)}))[0], far = 1024;
    const DeviceTensor x = Make(dtype, {2, 2}, {0, third, -far, far}),
                       y = Make(dtype, {2, 2}, {1, 0, 0.25, 0.75}), loss(dtype, DenseLayout({2})),
                       slopes(dtype, DenseLayout({2, 2}));
    EXPECT_RUN(device, SoftmaxCrossEntropyWithLogits, x.handle(), Handle(y), Handle(loss),
               Handle(slopes));
    const double first = 1 / (1 + std::exp(third));
    ExpectNear(ValuesOf(loss), {-std::log(first), 0.25 * 2 * far}, dtype);
    ExpectNear(ValuesOf(slopes), {first - 1, 1 - first, -0.25, 0.25}, dtype);
    EXPECT_REFUSED(161002, "loss shape is (2, 2), expected (2)", SoftmaxCrossEntropyWithLogits,
                   x.handle(), Handle(y), Handle(slopes), Handle(slopes));
    EXPECT_REFUSED(161002, "features rank is 1", SoftmaxCrossEntropyWithLogits, loss.handle(),
                   Handle(y), Handle(loss), Handle(slopes));
  }
}

}  // namespace
}  // namespace openaclnn::test
