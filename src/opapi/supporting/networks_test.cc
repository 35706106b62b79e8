// SPDX-License-Identifier: Apache-2.0
// Normalisations, losses, attention, dropout, random numbers and steps of training, against plain
// loops in double and against differences of the function.

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(SupportingNetworks, LayerNormIsThatOfItsFormula) {
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

TEST(SupportingNetworks, GradientsOfLayerNorm) {
  const Device device;
  Random random(42);
  const IntListHandle normalized({{4}});
  const FlagsHandle all({true, true, true}), weight_only({false, true, false});
  const Doubles x = RealValues(random, 12), w = RealValues(random, 4), g = RealValues(random, 12);
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
  const DeviceTensor tg = Of({3, 4}, g), tx = Of({3, 4}, x), tw = Of({4}, w), tb = Of({4}, b),
                     dx = Empty({3, 4}), dw = Empty({4}), db = Empty({4});
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

TEST(SupportingNetworks, GradientsOfGroupAndBatchNorm) {
  const Device device;
  Random random(43);
  const FlagsHandle all({true, true, true});
  const Doubles x = RealValues(random, 24), w = RealValues(random, 4), b = RealValues(random, 4),
                g = RealValues(random, 24);
  const DeviceTensor tw = Of({4}, w), tb = Of({4}, b), tg = Of({2, 4, 3}, g), tx = Of({2, 4, 3}, x),
                     y = Empty({2, 4, 3}), dx = Empty({2, 4, 3}), dw = Empty({4}), db = Empty({4});
  const DeviceTensor mean = Empty({2, 2}), rstd = Empty({2, 2});
  const auto group = [&](const Doubles& at) {
    const DeviceTensor in = Of({2, 4, 3}, at);
    EXPECT_RUN(device, GroupNorm, in.handle(), tw.handle(), tb.handle(), 2, 4, 3, 2, 1e-5,
               Handle(y), Handle(mean), Handle(rstd));
    return ValuesOf(y);
  };
  Doubles want = Slopes(x, g, group);
  group(x);
  EXPECT_RUN(device, GroupNormBackward, tg.handle(), tx.handle(), mean.handle(), rstd.handle(),
             tw.handle(), 2, 4, 3, 2, all.get(), Handle(dx), Handle(dw), Handle(db));
  ExpectNear(ValuesOf(dx), want, ACL_DOUBLE, 1e-6, 1e-7);
  const DeviceTensor running_mean = Of({4}, {1, 2, 3, 4}), running_var = Of({4}, {1, 1, 2, 2}),
                     save_mean = Empty({4}), save_rstd = Empty({4});
  for (const bool training : {true, false}) {
    const auto batch = [&](const Doubles& at) {
      const DeviceTensor in = Of({2, 4, 3}, at);
      EXPECT_RUN(device, BatchNorm, in.handle(), tw.handle(), tb.handle(), Handle(running_mean),
                 Handle(running_var), training, 0.0, 1e-5, Handle(y), Handle(save_mean),
                 Handle(save_rstd));
      return ValuesOf(y);
    };
    want = Slopes(x, g, batch);
    batch(x);
    EXPECT_RUN(device, BatchNormBackward, tg.handle(), tx.handle(), tw.handle(),
               running_mean.handle(), running_var.handle(), save_mean.handle(), save_rstd.handle(),
               training, 1e-5, all.get(), Handle(dx), Handle(dw), Handle(db));
    ExpectNear(ValuesOf(dx), want, ACL_DOUBLE, 1e-6, 1e-7);
  }
  EXPECT_EQ(ValuesOf(running_mean), (Doubles{1, 2, 3, 4})) << "momentum 0";
}

TEST(SupportingNetworks, RunningMomentsMove) {
  const Device device;
  const DeviceTensor x = Of({3, 1}, {1, 2, 6}), mean = Of({1}, {1}), variance = Of({1}, {1}),
                     y = Empty({3, 1}), save_mean = Empty({1}), save_rstd = Empty({1});
  EXPECT_RUN(device, BatchNorm, x.handle(), nullptr, nullptr, Handle(mean), Handle(variance), true,
             0.1, 0.0, Handle(y), Handle(save_mean), Handle(save_rstd));
  EXPECT_NEAR(ValuesOf(mean)[0], 0.9 + 0.1 * 3, 1e-12);
  EXPECT_NEAR(ValuesOf(variance)[0], 0.9 + 0.1 * 7, 1e-12);
  EXPECT_NEAR(ValuesOf(save_mean)[0], 3, 1e-12);
  EXPECT_REFUSED(161001, "runningMean value is null", BatchNorm, x.handle(), nullptr, nullptr,
                 nullptr, Handle(variance), false, 0.1, 0.0, Handle(y), nullptr, nullptr);
}

TEST(SupportingNetworks, GatesAndTheirGradient) {
  const Device device;
  Random random(45);
  const Doubles x = RealValues(random, 12), g = RealValues(random, 6);
  const auto forward = [&](const Doubles& at) {
    const DeviceTensor self = Of({2, 6}, at), out = Empty({2, 3});
    EXPECT_RUN(device, Glu, self.handle(), 1, Handle(out));
    return ValuesOf(out);
  };
  const DeviceTensor self = Of({2, 6}, x), upstream = Of({2, 3}, g), out = Empty({2, 6}),
                     odd = Empty({2, 5});
  EXPECT_NEAR(forward(x)[4], x[7] / (1 + std::exp(-x[10])), 1e-12);
  EXPECT_RUN(device, GluBackward, upstream.handle(), self.handle(), 1, Handle(out));
  ExpectNear(ValuesOf(out), Slopes(x, g, forward), ACL_DOUBLE, 1e-6, 1e-8);
  EXPECT_REFUSED(161002, "expected an even length", Glu, odd.handle(), 1, Handle(out));
}

/// softmax(q k^T / 2, masked) v of one batch, plainly.
struct AttentionProblem {
  int64_t heads = 2, kv_heads = 1, rows = 3, keys = 4, width = 2;
  std::function<bool(int64_t, int64_t)> hidden = [](int64_t, int64_t) { return false; };

  Doubles Forward(const Doubles& q, const Doubles& k, const Doubles& v) const {
    Doubles out;
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t kv = h / (heads / kv_heads) * keys * width;
      for (int64_t i = 0; i < rows; ++i) {
        Doubles weights(static_cast<size_t>(keys), 0);
        double sum = 0;
        for (int64_t j = 0; j < keys; ++j) {
          double score = 0;
          for (int64_t d = 0; d < width; ++d) {
            score += q[static_cast<size_t>((h * rows + i) * width + d)] *
                     k[static_cast<size_t>(kv + j * width + d)];
          }
          if (!hidden(i, j)) sum += weights[static_cast<size_t>(j)] = std::exp(score / 2);
        }
        for (int64_t d = 0; d < width; ++d) {
          double value = 0;
          for (int64_t j = 0; j < keys && sum > 0; ++j) {
            value +=
                weights[static_cast<size_t>(j)] / sum * v[static_cast<size_t>(kv + j * width + d)];
          }
          out.push_back(value);
        }
      }
    }
    return out;
  }
};

TEST(SupportingNetworks, AttentionAndItsGradient) {
  const Device device;
  Random random(46);
  char layout[] = "BNSD";
  const int64_t far = 2147483647;
  const DeviceTensor causal_mask(ACL_BOOL, DenseLayout({2048, 2048})),
      mask = Make(ACL_BOOL, {3, 4}, {1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0});
  for (const int kind : {0, 1, 2}) {
    SCOPED_TRACE(kind);
    AttentionProblem problem;
    if (kind == 1) problem.hidden = [](int64_t i, int64_t j) { return j > i; };
    if (kind == 2) {
      problem.hidden = [](int64_t i, int64_t j) {
        return i == 1 || (i == 0 ? j == 0 || j == 3 : j == 2);
      };
    }
    const aclTensor* hides = kind == 0 ? nullptr : kind == 1 ? causal_mask.handle() : mask.handle();
    const Doubles q = RealValues(random, 12), k = RealValues(random, 8), v = RealValues(random, 8),
                  g = RealValues(random, 12);
    const auto f = [&](const Doubles& values, const Dims& dims) {
      return Make(ACL_FLOAT, dims, values, random);
    };
    const DeviceTensor tq = f(q, {1, 2, 3, 2}), tk = f(k, {1, 1, 4, 2}), tv = f(v, {1, 1, 4, 2}),
                       tg = f(g, {1, 2, 3, 2});
    const DeviceTensor out(ACL_FLOAT, RandomLayout(random, {1, 2, 3, 2}, false)),
        max(ACL_FLOAT, DenseLayout({1, 2, 3, 8})), sum(ACL_FLOAT, DenseLayout({1, 2, 3, 8})),
        dq(ACL_FLOAT, RandomLayout(random, {1, 2, 3, 2}, false)),
        dk(ACL_FLOAT, RandomLayout(random, {1, 1, 4, 2}, false)),
        dv(ACL_FLOAT, RandomLayout(random, {1, 1, 4, 2}, false));
    const int64_t mode = kind == 1 ? 2 : 0;
    EXPECT_RUN(device, FlashAttentionScore, tq.handle(), tk.handle(), tv.handle(), nullptr, nullptr,
               nullptr, hides, nullptr, 0.5, 1.0, far, far, 2, layout, 0, mode, Handle(max),
               Handle(sum), nullptr, Handle(out));
    ExpectNear(ValuesOf(out), problem.Forward(q, k, v), ACL_FLOAT, 0, 1e-6);
    EXPECT_RUN(device, FlashAttentionScoreGrad, tq.handle(), tk.handle(), tv.handle(), tg.handle(),
               nullptr, nullptr, nullptr, hides, max.handle(), sum.handle(), nullptr, out.handle(),
               nullptr, 0.5, 1.0, far, far, 2, layout, 0, mode, Handle(dq), Handle(dk), Handle(dv),
               nullptr);
    const auto by = [&](const Doubles& at, auto&& forward) { return Slopes(at, g, forward); };
    ExpectNear(ValuesOf(dq), by(q, [&](auto& x) { return problem.Forward(x, k, v); }), ACL_FLOAT,
               1e-5, 1e-6);
    ExpectNear(ValuesOf(dk), by(k, [&](auto& x) { return problem.Forward(q, x, v); }), ACL_FLOAT,
               1e-5, 1e-6);
    ExpectNear(ValuesOf(dv), by(v, [&](auto& x) { return problem.Forward(q, k, x); }), ACL_FLOAT,
               1e-5, 1e-6);
  }
  const DeviceTensor q(ACL_FLOAT, DenseLayout({1, 2, 3, 2})),
      odd(ACL_FLOAT, DenseLayout({1, 3, 4, 2})), max(ACL_FLOAT, DenseLayout({1, 2, 3, 8}));
  char other[] = "TND";
  EXPECT_REFUSED(161002, "inputLayout value is another", FlashAttentionScore, q.handle(),
                 q.handle(), q.handle(), nullptr, nullptr, nullptr, nullptr, nullptr, 0.5, 1.0, far,
                 far, 2, other, 0, 0, Handle(max), Handle(max), nullptr, Handle(q));
  EXPECT_REFUSED(161002, "key shape is (1, 3, 4, 2)", FlashAttentionScore, q.handle(), odd.handle(),
                 odd.handle(), nullptr, nullptr, nullptr, nullptr, nullptr, 0.5, 1.0, far, far, 2,
                 layout, 0, 0, Handle(max), Handle(max), nullptr, Handle(q));
}

/// Chunks of 64 terms in sequence, then neighbours pairwise.
double SumByTree(const Doubles& terms) {
  Doubles sums((terms.size() + 63) / 64, 0.0);
  for (size_t i = 0; i < terms.size(); ++i) sums[i / 64] += terms[i];
  for (size_t half = 1; half < sums.size(); half *= 2) {
    for (size_t i = 0; i + half < sums.size(); i += 2 * half) sums[i] += sums[i + half];
  }
  return sums[0];
}

Doubles Product(const Doubles& a, const Doubles& b) {
  Doubles product;
  for (size_t i = 0; i < a.size(); ++i) product.push_back(a[i] * b[i]);
  return product;
}

// All weights are a power of two, so that products are exact and only the order of sums counts:
// 4,096 of 5,000 keys are seen, and q is 0.
TEST(SupportingNetworks, AttentionSumsKeysByTheTree) {
  const Device device;
  Random random(48);
  char layout[] = "BNSD";
  const int64_t keys = 5000, far = 2147483647;
  const double weight = 1.0 / 4096;
  Doubles hidden(keys, 0), signs(keys), v = RealValues(random, keys), k = RealValues(random, keys);
  for (size_t j = 1000; j < 1904; ++j) hidden[j] = 1;
  for (size_t j = 0; j < signs.size(); ++j) signs[j] = j % 2 == 0 ? 1 : -1;
  Doubles weights(keys, weight);
  for (size_t j = 0; j < weights.size(); ++j) weights[j] *= 1 - hidden[j];
  const DeviceTensor tq = Of({1, 1, 1, 1}, {0}), tg = Of({1, 1, 1, 1}, {1}),
                     tk = Of({1, 1, keys, 1}, k), tv = Of({1, 1, keys, 1}, v),
                     tsigns = Of({1, 1, keys, 1}, signs), mask = Make(ACL_BOOL, {keys}, hidden),
                     max(ACL_FLOAT, DenseLayout({1, 1, 1, 8})),
                     sum(ACL_FLOAT, DenseLayout({1, 1, 1, 8})), out = Empty({1, 1, 1, 1}),
                     dq = Empty({1, 1, 1, 1}), dk = Empty({1, 1, keys, 1}),
                     dv = Empty({1, 1, keys, 1});
  EXPECT_RUN(device, FlashAttentionScore, tq.handle(), tk.handle(), tv.handle(), nullptr, nullptr,
             nullptr, mask.handle(), nullptr, 1.0, 1.0, far, far, 1, layout, 0, 0, Handle(max),
             Handle(sum), nullptr, Handle(out));
  EXPECT_EQ(ValuesOf(out)[0], SumByTree(Product(weights, v)));
  // Slopes are +-1, their mean is 0.
  EXPECT_RUN(device, FlashAttentionScoreGrad, tq.handle(), tk.handle(), tsigns.handle(),
             tg.handle(), nullptr, nullptr, nullptr, mask.handle(), max.handle(), sum.handle(),
             nullptr, out.handle(), nullptr, 1.0, 1.0, far, far, 1, layout, 0, 0, Handle(dq),
             Handle(dk), Handle(dv), nullptr);
  EXPECT_EQ(ValuesOf(dq)[0], SumByTree(Product(Product(weights, signs), k)));
}

// Two equal keys with weights of a half, and 5,000 rows of the two heads of q that they serve.
TEST(SupportingNetworks, AttentionSumsQueriesByTheTree) {
  const Device device;
  Random random(49);
  char layout[] = "BNSD";
  const int64_t rows = 2500, far = 2147483647;
  const size_t terms = 2 * rows;
  const Doubles q = RealValues(random, 2 * terms);
  Doubles dy = RealValues(random, 2 * terms);
  for (size_t i = 0; i < terms; ++i) dy[2 * i] = i % 3 == 0 ? -1 : 1;
  const DeviceTensor tq = Of({1, 2, rows, 2}, q), tg = Of({1, 2, rows, 2}, dy),
                     tk = Of({1, 1, 2, 2}, {1, 0, 1, 0}), tv = Of({1, 1, 2, 2}, {1, 0, -1, 0}),
                     max(ACL_FLOAT, DenseLayout({1, 2, rows, 8})),
                     sum(ACL_FLOAT, DenseLayout({1, 2, rows, 8})), dq = Empty({1, 2, rows, 2}),
                     dk = Empty({1, 1, 2, 2}), dv = Empty({1, 1, 2, 2});
  EXPECT_RUN(device, FlashAttentionScoreGrad, tq.handle(), tk.handle(), tv.handle(), tg.handle(),
             nullptr, nullptr, nullptr, nullptr, max.handle(), sum.handle(), nullptr, tg.handle(),
             nullptr, 1.0, 1.0, far, far, 2, layout, 0, 0, Handle(dq), Handle(dk), Handle(dv),
             nullptr);
  for (const size_t d : {0, 1}) {
    Doubles slopes, shares;  // of the first key and of the first row of v
    for (size_t i = 0; i < terms; ++i) {
      slopes.push_back(dy[2 * i] / 2 * q[2 * i + d]);
      shares.push_back(dy[2 * i + d] / 2);
    }
    EXPECT_EQ(ValuesOf(dk)[d], SumByTree(slopes)) << d;
    EXPECT_EQ(ValuesOf(dv)[d], SumByTree(shares)) << d;
  }
}

// Every layout of the same numbers.
TEST(SupportingNetworks, LayoutsOfAttention) {
  const Device device;
  Random random(47);
  const Doubles given = RealValues(random, 2 * 3 * 4 * 2);  // B N S D
  Doubles first;
  for (const std::string layout : {"BNSD", "BSND", "BSH", "SBH"}) {
    SCOPED_TRACE(layout);
    const auto place = [&](size_t i) {
      const size_t d = i % 2, s = i / 2 % 4, n = i / 8 % 3, b = i / 24;
      return layout == "BNSD"  ? i
             : layout == "SBH" ? ((s * 2 + b) * 3 + n) * 2 + d
                               : ((b * 4 + s) * 3 + n) * 2 + d;
    };
    Doubles laid(given.size());
    for (size_t i = 0; i < given.size(); ++i) laid[place(i)] = given[i];
    const Dims dims = layout == "BNSD"   ? Dims{2, 3, 4, 2}
                      : layout == "BSND" ? Dims{2, 4, 3, 2}
                      : layout == "BSH"  ? Dims{2, 4, 6}
                                         : Dims{4, 2, 6};
    const DeviceTensor x = Make(ACL_FLOAT, dims, laid), out(ACL_FLOAT, DenseLayout(dims)),
                       max(ACL_FLOAT, DenseLayout({2, 3, 4, 8})),
                       sum(ACL_FLOAT, DenseLayout({2, 3, 4, 8}));
    EXPECT_RUN(device, FlashAttentionScore, x.handle(), x.handle(), x.handle(), nullptr, nullptr,
               nullptr, nullptr, nullptr, 1.0, 1.0, 9, 9, 3, const_cast<char*>(layout.c_str()), 0,
               0, Handle(max), Handle(sum), nullptr, Handle(out));
    const Doubles got = ValuesOf(out);
    Doubles sorted;
    for (size_t i = 0; i < got.size(); ++i) sorted.push_back(got[place(i)]);
    if (first.empty()) first = sorted;
    EXPECT_EQ(sorted, first);
  }
}

TEST(SupportingNetworks, DropoutKeepsItsShare) {
  const Device device;
  const int64_t count = 10000;
  const IntListHandle shape({{count}});
  const DeviceTensor x = Make(ACL_FLOAT, {count}, Doubles(count, 1)),
                     mask(ACL_UINT8, DenseLayout({count / 128 * 16 + 16})),
                     again(ACL_UINT8, DenseLayout({count / 128 * 16 + 16})),
                     y(ACL_FLOAT, DenseLayout({count}));
  EXPECT_RUN(device, DropoutGenMaskV2, shape.get(), 0.25, 7, 3, ACL_FLOAT, Handle(mask));
  EXPECT_RUN(device, DropoutGenMask, shape.get(), 0.25, 7, 3, Handle(again));
  EXPECT_EQ(mask.Read(), again.Read());
  EXPECT_RUN(device, DropoutDoMask, x.handle(), mask.handle(), 0.25, Handle(y));
  double kept = 0;
  for (const double value : ValuesOf(y)) {
    ASSERT_TRUE(value == 0 || std::abs(value - 4.0 / 3) < 1e-6) << value;
    kept += value != 0;
  }
  EXPECT_NEAR(kept / count, 0.75, 0.02);
  EXPECT_REFUSED(161002, "prob value is 1.5", DropoutGenMask, shape.get(), 1.5, 7, 3, Handle(mask));
  EXPECT_REFUSED(161002, "mask shape is (1), expected (1264)", DropoutDoMask, x.handle(),
                 Make(ACL_UINT8, {1}, {0}).handle(), 0.25, Handle(y));
}

TEST(SupportingNetworks, RandomNumbers) {
  const Device device;
  const DeviceTensor order(ACL_INT64, DenseLayout({100})), bits(ACL_FLOAT, DenseLayout({10000})),
      p = Make(ACL_FLOAT, {10000}, Doubles(10000, 0.3)), normal(ACL_FLOAT, DenseLayout({10000})),
      mean = Make(ACL_FLOAT, {}, {5}), five = Make(ACL_FLOAT, {1}, {5});
  EXPECT_RUN(device, Randperm, 100, 1, 2, Handle(order));
  Doubles drawn = ValuesOf(order);
  EXPECT_FALSE(std::is_sorted(drawn.begin(), drawn.end()));
  std::sort(drawn.begin(), drawn.end());
  for (size_t i = 0; i < 100; ++i) ASSERT_EQ(drawn[i], static_cast<double>(i));
  const auto average = [](const Doubles& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  EXPECT_RUN(device, InplaceBernoulliTensor, bits.handle(), p.handle(), 1, 2);
  EXPECT_NEAR(average(ValuesOf(bits)), 0.3, 0.02);
  EXPECT_RUN(device, NormalTensorFloat, mean.handle(), 0.5f, 1, 2, Handle(mean));
  EXPECT_RUN(device, NormalTensorTensor, five.handle(), p.handle(), 1, 2, Handle(normal));
  EXPECT_NEAR(average(ValuesOf(normal)), 5, 0.02);
  EXPECT_RUN(device, NormalFloatFloat, 5.0f, 0.3f, 1, 2, Handle(bits));
  EXPECT_EQ(ValuesOf(bits), ValuesOf(normal)) << "the same seed and deviation";
}

TEST(SupportingNetworks, DrawsByWeights) {
  const Device device;
  const DeviceTensor weights = Make(ACL_FLOAT, {2, 4}, {0, 1, 3, 0, 1, 1, 1, 1}),
                     many(ACL_INT64, DenseLayout({2, 4000})), all(ACL_INT64, DenseLayout({2, 4})),
                     none = Make(ACL_FLOAT, {4}, {0, 0, 0, 0}), one(ACL_INT64, DenseLayout({1}));
  EXPECT_RUN(device, Multinomial, weights.handle(), 4000, true, 5, 6, Handle(many));
  const Doubles drawn = ValuesOf(many);
  double twos = 0;
  for (size_t i = 0; i < 4000; ++i) {
    ASSERT_TRUE(drawn[i] == 1 || drawn[i] == 2) << "what has no weight is not drawn";
    twos += drawn[i] == 2;
  }
  EXPECT_NEAR(twos / 4000, 0.75, 0.03);
  EXPECT_REFUSED(161002, "numsamples value is 5", Multinomial, weights.handle(), 5, false, 5, 6,
                 Handle(all));
  EXPECT_EQ(RUN(device, Multinomial, none.handle(), 1, true, 5, 6, Handle(one)).code, 507035);
  const DeviceTensor even = Make(ACL_FLOAT, {4}, {1, 2, 3, 4}), each(ACL_INT64, DenseLayout({4}));
  EXPECT_RUN(device, Multinomial, even.handle(), 4, false, 5, 6, Handle(each));
  Doubles sorted = ValuesOf(each);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, (Doubles{0, 1, 2, 3}));
}

TEST(SupportingNetworks, ScalersAndAdamW) {
  const Device device;
  const DeviceTensor a = Make(ACL_FLOAT16, {2}, {2, 4}), b = Make(ACL_FLOAT, {1}, {INFINITY}),
                     fine = Make(ACL_FLOAT, {1}, {0}), inverse = Make(ACL_FLOAT, {1}, {0.5});
  {
    const ListHandle grads({&a});
    EXPECT_RUN(device, ForeachNonFiniteCheckAndUnscale, grads.get(), fine.handle(),
               inverse.handle());
  }
  EXPECT_EQ(ValuesOf(a), (Doubles{1, 2}));
  EXPECT_EQ(ValuesOf(fine), (Doubles{0}));
  const ListHandle grads({&a, &b});
  EXPECT_RUN(device, ForeachNonFiniteCheckAndUnscale, grads.get(), fine.handle(), inverse.handle());
  EXPECT_EQ(ValuesOf(fine), (Doubles{1}));
  const DeviceTensor scale = Make(ACL_FLOAT, {1}, {8}), tracker = Make(ACL_INT32, {1}, {4}),
                     zero = Make(ACL_FLOAT, {1}, {0});
  EXPECT_RUN(device, AmpUpdateScale, scale.handle(), tracker.handle(), zero.handle(), 2.0, 0.5, 5,
             Handle(scale), Handle(tracker));
  EXPECT_EQ(ValuesOf(scale), (Doubles{16}));
  EXPECT_EQ(ValuesOf(tracker), (Doubles{0}));
  EXPECT_RUN(device, AmpUpdateScale, scale.handle(), tracker.handle(), fine.handle(), 2.0, 0.5, 5,
             Handle(scale), Handle(tracker));
  EXPECT_EQ(ValuesOf(scale), (Doubles{8}));
  const DeviceTensor w = Of({1}, {1}), m = Of({1}, {0}), v = Of({1}, {0}), g = Of({1}, {0.5}),
                     step = Of({1}, {0}), second = Of({1}, {1}), top = Of({1}, {1});
  EXPECT_RUN(device, ApplyAdamWV2, Handle(w), Handle(m), Handle(v), nullptr, g.handle(),
             step.handle(), 0.5f, 0.5f, 0.75f, 0.25f, 0.0f, false, false);
  EXPECT_NEAR(ValuesOf(w)[0], 1 - 0.125 - 0.5, 1e-12) << "the first step is the rate";
  EXPECT_RUN(device, ApplyAdamWV2, Handle(w), Handle(m), Handle(v), Handle(top), g.handle(),
             second.handle(), 0.5f, 0.5f, 0.75f, 0.0f, 0.0f, true, true);
  const double first = 0.5 * 0.25 - 0.25, correction = std::sqrt(1 - 0.75 * 0.75);
  EXPECT_NEAR(ValuesOf(w)[0], 0.375 - 0.5 / 0.75 * first * correction, 1e-12);
  EXPECT_REFUSED(161001, "maxGradNormOptionalRef value is null", ApplyAdamWV2, Handle(w), Handle(m),
                 Handle(v), nullptr, g.handle(), step.handle(), 0.5f, 0.5f, 0.75f, 0.0f, 0.0f, true,
                 false);
}

}  // namespace
}  // namespace openaclnn::test
