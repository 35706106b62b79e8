// SPDX-License-Identifier: Apache-2.0
// Normalisations against their formulas, and their gradients against differences of them.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(Norm, LayerNormIsThatOfItsFormula) {
  const Device device;
  Random random(41);
  const IntListHandle normalized({{3, 4}});
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    SCOPED_TRACE(dtype);
    const DeviceTensor x = Make(dtype, {5, 3, 4}, RealValues(random, 60), random),
                       w = Make(dtype, {3, 4}, RealValues(random, 12), random),
                       b = Make(dtype, {3, 4}, RealValues(random, 12), random);
    const DeviceTensor y(dtype, RandomLayout(random, {5, 3, 4}, false)),
        mean(ACL_FLOAT, RandomLayout(random, {5, 1, 1}, false)),
        rstd(ACL_FLOAT, RandomLayout(random, {5, 1, 1}, false));
    EXPECT_RUN(device, LayerNorm, x.handle(), normalized.get(), w.handle(), b.handle(), 1e-5,
               Handle(y), Handle(mean), Handle(rstd));
    const Doubles xs = ValuesOf(x), ws = ValuesOf(w), bs = ValuesOf(b);
    Doubles want, means, scales;
    for (size_t row = 0; row < 5; ++row) {
      double sum = 0, squares = 0;
      for (size_t i = 0; i < 12; ++i) sum += xs[row * 12 + i];
      for (size_t i = 0; i < 12; ++i) squares += std::pow(xs[row * 12 + i] - sum / 12, 2);
      means.push_back(sum / 12);
      scales.push_back(1 / std::sqrt(squares / 12 + 1e-5));
      for (size_t i = 0; i < 12; ++i) {
        want.push_back((xs[row * 12 + i] - sum / 12) * scales.back() * ws[i] + bs[i]);
      }
    }
    ExpectNear(ValuesOf(y), want, dtype, 0, 1e-6);
    ExpectNear(ValuesOf(mean), means, ACL_FLOAT, 0, 1e-7);
    ExpectNear(ValuesOf(rstd), scales, ACL_FLOAT);
    EXPECT_EQ(y.Damage(), "");
  }
}

TEST(Norm, GradientsOfLayerNorm) {
  const Device device;
  Random random(42);
  const IntListHandle normalized({{4}});
  const FlagsHandle all({true, true, true}), weight_only({false, true, false});
  const Doubles x = Held(ACL_FLOAT, RealValues(random, 12)), w = RealValues(random, 4),
                g = Held(ACL_FLOAT, RealValues(random, 12));
  const DeviceTensor mean = Empty({3, 1}), rstd = Empty({3, 1});
  const auto forward = [&](const Doubles& xs, const Doubles& ws, const Doubles& bs) {
    const DeviceTensor y = Empty({3, 4});
    const DeviceTensor tx = Of({3, 4}, xs), tw = Of({4}, ws), tb = Of({4}, bs);
    EXPECT_RUN(device, LayerNorm, tx.handle(), normalized.get(), tw.handle(), tb.handle(), 1e-5,
               Handle(y), Handle(mean), Handle(rstd));
    return ValuesOf(y);
  };
  const Doubles b(4, 0.5);
  const Doubles want_x = Slopes(x, g, [&](const Doubles&at) { return forward(at, w, b); }),
                want_w = Slopes(w, g, [&](const Doubles&at) { return forward(x, at, b); }),
                want_b = Slopes(b, g, [&](const Doubles&at) { return forward(x, w, at); });
  forward(x, w, b);
  const DeviceTensor tg = Floats({3, 4}, g), tx = Floats({3, 4}, x), tw = Of({4}, w),
                     tb = Of({4}, b), dx = Empty({3, 4}), dw = Empty({4}), db = Empty({4});
  EXPECT_RUN(device, LayerNormBackward, tg.handle(), tx.handle(), normalized.get(), mean.handle(),
             rstd.handle(), tw.handle(), tb.handle(), all.get(), Handle(dx), Handle(dw),
             Handle(db));
  ExpectNear(ValuesOf(dx), want_x, ACL_DOUBLE, 1e-6, 1e-7);
  ExpectNear(ValuesOf(dw), want_w, ACL_DOUBLE, 1e-6, 1e-7);
  ExpectNear(ValuesOf(db), want_b, ACL_DOUBLE, 1e-6, 1e-7);
  EXPECT_RUN(device, LayerNormBackward, tg.handle(), tx.handle(), normalized.get(), mean.handle(),
             rstd.handle(), tw.handle(), tb.handle(), weight_only.get(), nullptr, Handle(dw),
             nullptr);
  EXPECT_REFUSED(161001, "gradInputOut value is null", LayerNormBackward, tg.handle(), tx.handle(),
                 normalized.get(), mean.handle(), rstd.handle(), tw.handle(), tb.handle(),
                 all.get(), nullptr, Handle(dw), Handle(db));
  const FlagsHandle two({true, true});
  EXPECT_REFUSED(161002, "outputMask size is 2", LayerNormBackward, tg.handle(), tx.handle(),
                 normalized.get(), mean.handle(), rstd.handle(), tw.handle(), tb.handle(),
                 two.get(), Handle(dx), Handle(dw), Handle(db));
}

/// A plain reference for (2, 4, 3): the moments of a group, a function that says in which group a
/// place is, and the results for x.
struct Normalization {
  Doubles w, b;
  std::function<size_t(size_t)> group;

  Doubles operator()(const Doubles& x) const {
    Doubles count(4), mean(4), variance(4);
    for (size_t i = 0; i < x.size(); ++i) count[group(i)] += 1;
    for (size_t i = 0; i < x.size(); ++i) mean[group(i)] += x[i] / count[group(i)];
    for (size_t i = 0; i < x.size(); ++i) {
      variance[group(i)] += std::pow(x[i] - mean[group(i)], 2) / count[group(i)];
    }
    return By(x, mean, variance);
  }

  Doubles By(const Doubles& x, const Doubles& mean, const Doubles& variance) const {
    Doubles y;
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t channel = i / 3 % 4, of = group(i);
      y.push_back((x[i] - mean[of]) / std::sqrt(variance[of] + 1e-5) * w[channel] + b[channel]);
    }
    return y;
  }
};

TEST(Norm, GradientsOfGroupAndBatchNorm) {
  const Device device;
  Random random(43);
  const FlagsHandle all({true, true, true});
  const auto drawn = [&](int64_t n) { return Held(ACL_FLOAT, RealValues(random, n)); };
  const Doubles x = drawn(24), w = drawn(4), b = drawn(4), g = drawn(24);
  const DeviceTensor tw = Floats({4}, w), tb = Floats({4}, b), tg = Floats({2, 4, 3}, g),
                     tx = Floats({2, 4, 3}, x), y = Empty({2, 4, 3}), dx = Empty({2, 4, 3}),
                     dw = Empty({4}), db = Empty({4}), mean = EmptyFloats({2, 2}),
                     rstd = Empty({2, 2});
  const Normalization group = {w, b, [](size_t i) { return i / 6; }};
  EXPECT_RUN(device, GroupNorm, tx.handle(), tw.handle(), tb.handle(), 2, 4, 3, 2, 1e-5, Handle(y),
             Handle(mean), Handle(rstd));
  ExpectNear(ValuesOf(y), group(x), ACL_DOUBLE);
  EXPECT_RUN(device, GroupNormBackward, tg.handle(), tx.handle(), mean.handle(), rstd.handle(),
             tw.handle(), 2, 4, 3, 2, all.get(), Handle(dx), Handle(dw), Handle(db));
  ExpectNear(ValuesOf(dx), Slopes(x, g, group), ACL_DOUBLE, 1e-6, 1e-7);
  const Doubles means = {1, 2, 3, 4}, variances = {1, 1, 2, 2};
  const DeviceTensor running_mean = Of({4}, means), running_var = Of({4}, variances),
                     save_mean = Empty({4}), save_rstd = Empty({4});
  const Normalization batch = {w, b, [](size_t i) { return i / 3 % 4; }};
  for (const bool training : {true, false}) {
    const auto want = [&](const Doubles& at) {
      return training ? batch(at) : batch.By(at, means, variances);
    };
    EXPECT_RUN(device, BatchNorm, tx.handle(), tw.handle(), tb.handle(), Handle(running_mean),
               Handle(running_var), training, 0.0, 1e-5, Handle(y), Handle(save_mean),
               Handle(save_rstd));
    ExpectNear(ValuesOf(y), want(x), ACL_DOUBLE);
    EXPECT_RUN(device, BatchNormBackward, tg.handle(), tx.handle(), tw.handle(),
               running_mean.handle(), running_var.handle(), save_mean.handle(), save_rstd.handle(),
               training, 1e-5, all.get(), Handle(dx), Handle(dw), Handle(db));
    ExpectNear(ValuesOf(dx), Slopes(x, g, want), ACL_DOUBLE, 1e-6, 1e-7);
  }
  EXPECT_EQ(ValuesOf(running_mean), means) << "momentum 0";
}

TEST(Norm, RunningMomentsMove) {
  const Device device;
  const DeviceTensor x = Floats({3, 1}, {1, 2, 6}), mean = Of({1}, {1}), variance = Of({1}, {1}),
                     y = Empty({3, 1}), save_mean = Empty({1}), save_rstd = Empty({1});
  EXPECT_RUN(device, BatchNorm, x.handle(), nullptr, nullptr, Handle(mean), Handle(variance), true,
             0.1, 0.0, Handle(y), Handle(save_mean), Handle(save_rstd));
  EXPECT_NEAR(ValuesOf(mean)[0], 0.9 + 0.1 * 3, 1e-12);
  EXPECT_NEAR(ValuesOf(variance)[0], 0.9 + 0.1 * 7, 1e-12);
  EXPECT_NEAR(ValuesOf(save_mean)[0], 3, 1e-12);
  EXPECT_REFUSED(161001, "runningMean value is null", BatchNorm, x.handle(), nullptr, nullptr,
                 nullptr, Handle(variance), false, 0.1, 0.0, Handle(y), nullptr, nullptr);
}

}  // namespace
}  // namespace openaclnn::test
