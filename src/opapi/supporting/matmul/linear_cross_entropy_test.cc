// SPDX-License-Identifier: Apache-2.0
// The cross-entropy of a linear layer: on one device it is that of CrossEntropyLoss, and so is its
// gradient.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kRows = 13, kClasses = 37, kWidth = 24;

struct LayerTensors {
  explicit LayerTensors(Random& random)
      : x(Make(ACL_FLOAT16, {kRows, kWidth}, RealValues(random, kRows * kWidth), random)),
        w(Make(ACL_FLOAT16, {kClasses, kWidth}, RealValues(random, kClasses * kWidth, -0.5, 0.5),
               random)),
        target(Make(ACL_INT64, {kRows}, SmallValues(random, kRows, 0, kClasses - 1))) {}

  /// The loss of each row, and the gradients by both operands of its sum.
  void Run(const Device& device, bool has_softmax) {
    EXPECT_RUN(device, FusedLinearOnlineMaxSum, x.handle(), w.handle(), target.handle(), 0,
               kClasses - 1, Handle(top), Handle(sum), Handle(predicted), Handle(mask),
               Handle(local), Handle(logits));
    EXPECT_RUN(device, FusedCrossEntropyLossWithMaxSum, top.handle(), sum.handle(),
               predicted.handle(), 0.0, nullptr, nullptr, logits.handle(), Handle(loss),
               Handle(softmax));
    EXPECT_RUN(device, FusedLinearCrossEntropyLossGrad, g.handle(), x.handle(), w.handle(),
               mask.handle(), local.handle(), 0.0, top.handle(), sum.handle(),
               has_softmax ? softmax.handle() : nullptr, Handle(dx), Handle(dw));
  }

  DeviceTensor x, w, target;
  DeviceTensor g = Floats({kRows}, Doubles(kRows, 1)), top = EmptyFloats({kRows}),
               sum = EmptyFloats({kRows}), predicted = EmptyFloats({kRows}),
               loss = EmptyFloats({kRows}), softmax = EmptyFloats({kRows, kClasses});
  DeviceTensor mask = DeviceTensor(ACL_UINT8, DenseLayout({2})),
               local = DeviceTensor(ACL_INT64, DenseLayout({kRows})),
               logits = DeviceTensor(ACL_FLOAT16, DenseLayout({kRows, kClasses})),
               dx = DeviceTensor(ACL_FLOAT16, DenseLayout({kRows, kWidth})),
               dw = DeviceTensor(ACL_FLOAT16, DenseLayout({kClasses, kWidth}));
};

Doubles LossesByFormula(const Doubles& x, const Doubles& w, const Doubles& target) {
  Doubles losses;
  for (size_t n = 0; n < target.size(); ++n) {
    double sum = 0, own = 0;
    for (size_t c = 0; c < static_cast<size_t>(kClasses); ++c) {
      double score = 0;
      for (size_t k = 0; k < static_cast<size_t>(kWidth); ++k) {
        score += x[n * kWidth + k] * w[c * kWidth + k];
      }
      sum += std::exp(score);
      if (c == static_cast<size_t>(target[n])) own = score;
    }
    losses.push_back(std::log(sum) - own);
  }
  return losses;
}

TEST(LinearCrossEntropy, IsTheLossOfTheLayerAndItsSlopes) {
  const Device device;
  for (const bool has_softmax : {false, true}) {
    Random random(93);
    LayerTensors layer(random);
    layer.Run(device, has_softmax);
    const Doubles x = ValuesOf(layer.x), w = ValuesOf(layer.w), t = ValuesOf(layer.target);
    ExpectNear(ValuesOf(layer.loss), LossesByFormula(x, w, t), ACL_FLOAT, 1e-5, 1e-5);
    const auto by_x = [&](const Doubles& at) { return LossesByFormula(at, w, t); };
    const auto by_w = [&](const Doubles& at) { return LossesByFormula(x, at, t); };
    ExpectNear(ValuesOf(layer.dx), Slopes(x, {1}, by_x), ACL_FLOAT16, 2e-3, 2e-3);
    ExpectNear(ValuesOf(layer.dw), Slopes(w, {1}, by_w), ACL_FLOAT16, 2e-3, 2e-3);
    EXPECT_EQ(ValuesOf(layer.mask), (Doubles{0, 7}));  // 13 rows that are here, 3 bits behind them
    EXPECT_EQ(ValuesOf(layer.local), t);
  }
}

TEST(LinearCrossEntropy, NoSettingChangesABit) {
  std::vector<std::vector<std::byte>> first;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    if (!IsFused(setting)) return;  // without FMA products have other bits
    SCOPED_TRACE(setting);
    Random random(94);
    LayerTensors layer(random);
    layer.Run(device, false);
    const std::vector<std::vector<std::byte>> got = {layer.loss.Read(), layer.dx.Read(),
                                                     layer.dw.Read()};
    if (first.empty()) first = got;
    EXPECT_TRUE(got == first) << "other bits than before";
  });
}

TEST(LinearCrossEntropy, RefusesShapesAndValues) {
  const Device device;
  const DeviceTensor x(ACL_FLOAT16, DenseLayout({3, 4})), w(ACL_FLOAT16, DenseLayout({5, 4})),
      other(ACL_FLOAT16, DenseLayout({5, 6})),
      t = Make(ACL_INT64, {3}, {0, 1, 2}), rows = EmptyFloats({3}),
      bits(ACL_UINT8, DenseLayout({1})), wide(ACL_UINT8, DenseLayout({2}));
  const auto refuse = [&](const char* says, const DeviceTensor& weight, int64_t start, int64_t end,
                          const DeviceTensor& mask) {
    EXPECT_REFUSED(161002, says, FusedLinearOnlineMaxSum, x.handle(), weight.handle(), t.handle(),
                   start, end, Handle(rows), Handle(rows), Handle(rows), Handle(mask), Handle(t),
                   nullptr);
  };
  refuse("weight shape is", other, 0, 4, bits);
  refuse("vocabStartIndex value is -1", w, -1, 4, bits);
  refuse("vocabEndIndex value is 8", w, 3, 8, bits);
  refuse("targetMaskOut shape is", w, 0, 4, wide);
  EXPECT_REFUSED(161002, "labelSmoothing value is 0.5", FusedCrossEntropyLossWithMaxSum,
                 rows.handle(), rows.handle(), rows.handle(), 0.5, nullptr, nullptr, nullptr,
                 Handle(rows), nullptr);
  EXPECT_REFUSED(161001, "logitsMaxOptional value is null", FusedLinearCrossEntropyLossGrad,
                 rows.handle(), x.handle(), w.handle(), bits.handle(), t.handle(), 0.0, nullptr,
                 rows.handle(), nullptr, Handle(x), Handle(w));
}

}  // namespace
}  // namespace openaclnn::test
