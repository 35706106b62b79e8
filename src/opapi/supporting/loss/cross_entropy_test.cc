// SPDX-License-Identifier: Apache-2.0
// CrossEntropyLoss by class and its gradient: what one has of the other, and refusals.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

struct Names {
  char mean[5] = "mean", sum[4] = "sum", none[5] = "none", other[6] = "batch";
};

double LossByFormula(const Doubles& x, const std::vector<int64_t>& target, const Doubles& w,
                     double smoothing) {
  const size_t classes = w.size();
  double loss = 0, total = 0;
  for (size_t n = 0; n < target.size(); ++n) {
    if (target[n] < 0) continue;
    double sum = 0;
    for (size_t c = 0; c < classes; ++c) sum += std::exp(x[n * classes + c]);
    const auto at = static_cast<size_t>(target[n]);
    for (size_t c = 0; c < classes; ++c) {
      const double share = smoothing / static_cast<double>(classes) + (c == at ? 1 - smoothing : 0);
      loss -= share * w[c] * (x[n * classes + c] - std::log(sum));
    }
    total += w[at];
  }
  return loss / total;
}

TEST(CrossEntropy, GradientIsTheSlopeOfTheMean) {
  const Device device;
  Random random(91);
  Names names;
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16}) {
    for (const double smoothing : {0.0, 0.25}) {
      SCOPED_TRACE(testing::Message() << dtype << ", " << smoothing);
      const std::vector<int64_t> targets = {2, -100, 0, 4, 1, 2};
      const DeviceTensor x = Make(dtype, {6, 5}, RealValues(random, 30), random),
                         w = Make(ACL_FLOAT, {5}, RealValues(random, 5, 0.5, 2)),
                         t = Make(ACL_INT64, {6}, Doubles(targets.begin(), targets.end())),
                         g = Floats({1}, {1});
      const DeviceTensor loss = EmptyFloats({1}), logs(ACL_FLOAT, DenseLayout({6, 5})),
                         dx(ACL_FLOAT, RandomLayout(random, {6, 5}, false));
      EXPECT_RUN(device, CrossEntropyLoss, x.handle(), t.handle(), w.handle(), names.mean, -100,
                 smoothing, 0.0, false, Handle(loss), Handle(logs), nullptr, nullptr);
      EXPECT_RUN(device, CrossEntropyLossGrad, g.handle(), logs.handle(), t.handle(), w.handle(),
                 nullptr, nullptr, names.mean, -100, smoothing, 0.0, Handle(dx));
      const Doubles xs = ValuesOf(x), ws = ValuesOf(w);
      const auto by_x = [&](const Doubles& at) {
        return Doubles{LossByFormula(at, targets, ws, smoothing)};
      };
      EXPECT_NEAR(ValuesOf(loss)[0], by_x(xs)[0], 1e-6);
      ExpectNear(ValuesOf(dx), Slopes(xs, {1}, by_x), ACL_FLOAT, 0, 2e-6);
      EXPECT_EQ(dx.Damage(), "");
    }
  }
}

TEST(CrossEntropy, NeitherStridesNorSettingsChangeABit) {
  Names names;
  constexpr int64_t kRows = 40, kClasses = 4500;  // more than a piece of a row
  std::vector<std::vector<std::byte>> first;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    SCOPED_TRACE(setting);
    Random random(92);
    const Doubles scores = RealValues(random, kRows * kClasses);
    const DeviceTensor t = Make(ACL_INT32, {kRows}, SmallValues(random, kRows)),
                       w = Make(ACL_FLOAT, {kClasses}, RealValues(random, kClasses, 0.5, 2));
    const Layout columns{{kRows, kClasses}, {1, kRows + 1}, 0, (kRows + 1) * kClasses};
    for (const Layout& layout : {DenseLayout({kRows, kClasses}), columns}) {
      DeviceTensor x(ACL_FLOAT16, layout);
      x.Write(ToBytes(ACL_FLOAT16, scores));
      const DeviceTensor loss = EmptyFloats({kRows}), logs(ACL_FLOAT16, layout),
                         dx(ACL_FLOAT16, layout);
      EXPECT_RUN(device, CrossEntropyLoss, x.handle(), t.handle(), w.handle(), names.none, 3, 0.25,
                 0.0, false, Handle(loss), Handle(logs), nullptr, nullptr);
      EXPECT_RUN(device, CrossEntropyLossGrad, loss.handle(), logs.handle(), t.handle(), w.handle(),
                 nullptr, nullptr, names.none, 3, 0.25, 0.0, Handle(dx));
      if (first.empty()) first = {loss.Read(), logs.Read(), dx.Read()};
      EXPECT_TRUE(loss.Read() == first[0]) << "other bits of the loss than before";
      EXPECT_TRUE(logs.Read() == first[1]) << "other bits of the logarithms than before";
      EXPECT_TRUE(dx.Read() == first[2]) << "other bits of the gradient than before";
    }
  });
}

TEST(CrossEntropy, RefusesShapesAndValues) {
  const Device device;
  Names names;
  const DeviceTensor x = EmptyFloats({2, 3}), wide = EmptyFloats({2, 4}), one = EmptyFloats({1}),
                     two = EmptyFloats({2}), t = Make(ACL_INT64, {2}, {0, 7});
  const auto refuse = [&](int code, const char* says, const DeviceTensor& target, char* reduction,
                          double smoothing, double zloss, bool returns, const DeviceTensor& loss,
                          const DeviceTensor& logs) {
    EXPECT_REFUSED(code, says, CrossEntropyLoss, x.handle(), target.handle(), nullptr, reduction,
                   -100, smoothing, zloss, returns, Handle(loss), Handle(logs), nullptr, nullptr);
  };
  refuse(161002, "target dtype is", two, names.mean, 0, 0, false, one, x);
  refuse(161002, "lossOut shape is", t, names.mean, 0, 0, false, two, x);
  refuse(161002, "lossOut shape is", t, names.none, 0, 0, false, one, x);
  refuse(161002, "logProbOut shape is", t, names.sum, 0, 0, false, one, wide);
  refuse(161002, "reductionOptional value is 'batch'", t, names.other, 0, 0, false, one, x);
  refuse(161002, "labelSmoothing value is 1", t, names.mean, 1, 0, false, one, x);
  refuse(161002, "lseSquareScaleForZloss value is 0.5", t, names.mean, 0, 0.5, false, one, x);
  refuse(161002, "returnZloss value is true", t, names.mean, 0, 0, true, one, x);
}

TEST(CrossEntropy, TargetsOutsideFailTheTask) {
  const Device device;
  Names names;
  const DeviceTensor x = Floats({2, 3}, Doubles(6, 0.5)), t = Make(ACL_INT64, {2}, {0, 7}),
                     loss = EmptyFloats({1}), logs = EmptyFloats({2, 3});
  const Outcome failed = RUN(device, CrossEntropyLoss, x.handle(), t.handle(), nullptr, names.mean,
                             -100, 0.0, 0.0, false, Handle(loss), Handle(logs), nullptr, nullptr);
  EXPECT_EQ(failed.code, 507035);
  EXPECT_NE(failed.message.find("target value 1 is 7, expected 0 <= value < 3"), std::string::npos)
      << failed.message;
}

}  // namespace
}  // namespace openaclnn::test
