// SPDX-License-Identifier: Apache-2.0
// Attention against plain loops in double, and its gradient against differences.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

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

TEST(Attention, AttentionAndItsGradient) {
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
  EXPECT_REFUSED(161002, "inputLayout value is 'TND', expected BNSD, BSND, BSH or SBH",
                 FlashAttentionScore, q.handle(), q.handle(), q.handle(), nullptr, nullptr, nullptr,
                 nullptr, nullptr, 0.5, 1.0, far, far, 2, other, 0, 0, Handle(max), Handle(max),
                 nullptr, Handle(q));
  EXPECT_REFUSED(161002, "key shape is (1, 3, 4, 2)", FlashAttentionScore, q.handle(), odd.handle(),
                 odd.handle(), nullptr, nullptr, nullptr, nullptr, nullptr, 0.5, 1.0, far, far, 2,
                 layout, 0, 0, Handle(max), Handle(max), nullptr, Handle(q));
}

// Rows of value may be narrower than those of key, not wider; the result is as wide as they are.
TEST(Attention, AttentionOfNarrowValues) {
  const Device device;
  const int64_t far = 2147483647;
  char layout[] = "BNSD";
  const DeviceTensor q(ACL_FLOAT, DenseLayout({1, 2, 3, 2})),
      max(ACL_FLOAT, DenseLayout({1, 2, 3, 8}));
  const DeviceTensor wide(ACL_FLOAT, DenseLayout({1, 2, 3, 3})),
      narrow(ACL_FLOAT, DenseLayout({1, 2, 3, 1}));
  EXPECT_REFUSED(161002, "value shape is (1, 2, 3, 3), expected that of key, (1, 2, 3, 2), but for",
                 FlashAttentionScore, q.handle(), q.handle(), wide.handle(), nullptr, nullptr,
                 nullptr, nullptr, nullptr, 0.5, 1.0, far, far, 2, layout, 0, 0, Handle(max),
                 Handle(max), nullptr, Handle(wide));
  EXPECT_REFUSED(161002, "attentionOutOut shape is (1, 2, 3, 2), expected (1, 2, 3, 1)",
                 FlashAttentionScore, q.handle(), q.handle(), narrow.handle(), nullptr, nullptr,
                 nullptr, nullptr, nullptr, 0.5, 1.0, far, far, 2, layout, 0, 0, Handle(max),
                 Handle(max), nullptr, Handle(q));
}

// Without keys nothing is attended to: every output is 0.
TEST(Attention, AttentionWithoutKeys) {
  const Device device;
  char layout[] = "BNSD";
  const int64_t far = 2147483647;
  const DeviceTensor q = Floats({1, 1, 2, 1}, {3, 4}), none = EmptyFloats({1, 1, 0, 1});
  const Doubles junk(2, 7);
  const DeviceTensor out = Floats({1, 1, 2, 1}, junk), dq = Floats({1, 1, 2, 1}, junk),
                     max = Floats({1, 1, 2, 8}, Doubles(16, 7)),
                     sum = Floats({1, 1, 2, 8}, Doubles(16, 7));
  EXPECT_RUN(device, FlashAttentionScore, q.handle(), none.handle(), none.handle(), nullptr,
             nullptr, nullptr, nullptr, nullptr, 1.0, 1.0, far, far, 1, layout, 0, 0, Handle(max),
             Handle(sum), nullptr, Handle(out));
  EXPECT_EQ(ValuesOf(out), Doubles(2, 0));
  EXPECT_EQ(ValuesOf(max), Doubles(16, 0));
  EXPECT_EQ(ValuesOf(sum), Doubles(16, 0));
  EXPECT_RUN(device, FlashAttentionScoreGrad, q.handle(), none.handle(), none.handle(), q.handle(),
             nullptr, nullptr, nullptr, nullptr, max.handle(), sum.handle(), nullptr, out.handle(),
             nullptr, 1.0, 1.0, far, far, 1, layout, 0, 0, Handle(dq), Handle(none), Handle(none),
             nullptr);
  EXPECT_EQ(ValuesOf(dq), Doubles(2, 0));
}

// A drop mask for more elements than a number counts.
TEST(Attention, AttentionOfMoreThanANumberCounts) {
  const Device device;
  char layout[] = "BNSD";
  const int64_t huge = int64_t{1} << 32, far = 2147483647;
  const auto repeated = [](Dims dims) {
    const Dims strides(dims.size(), 0);
    return DeviceTensor(ACL_FLOAT, Layout{std::move(dims), strides, 0, 1});
  };
  const DeviceTensor q = repeated({1, 1, huge, 1}), max = repeated({1, 1, huge, 8}),
                     drops(ACL_UINT8, DenseLayout({16}));
  EXPECT_REFUSED(161002, "dropMask shape is (16), expected UINT8 with a bit for each of (1, 1, ",
                 FlashAttentionScore, q.handle(), q.handle(), q.handle(), nullptr, drops.handle(),
                 nullptr, nullptr, nullptr, 1.0, 0.5, far, far, 1, layout, 0, 0, Handle(max),
                 Handle(max), nullptr, Handle(q));
}

/// Chunks of 64 terms in sequence, of each pair the second first; then neighbours pairwise.
double SumByTree(const Doubles& terms) {
  std::vector<float> sums((terms.size() + 63) / 64, 0.0F);
  for (size_t i = 0; i < terms.size(); ++i) {
    const size_t other = i ^ 1, at = other < terms.size() ? other : i;
    sums[i / 64] += static_cast<float>(terms[at]);
  }
  for (size_t half = 1; half < sums.size(); half *= 2) {
    for (size_t i = 0; i + half < sums.size(); i += 2 * half) sums[i] += sums[i + half];
  }
  return static_cast<double>(sums[0]);
}

float SumInOrder(const Doubles& terms) {
  float sum = 0;
  for (const double term : terms) sum += static_cast<float>(term);
  return sum;
}

Doubles Product(const Doubles& a, const Doubles& b) {
  Doubles product;
  for (size_t i = 0; i < a.size(); ++i) product.push_back(a[i] * b[i]);
  return product;
}

/// Numbers of FLOAT, in pieces of 200 whose sum is what roundings leave: another one in another
/// order.
Doubles Cancelling(Random& random, size_t count) {
  Doubles values(count, 0);
  for (size_t j = 0; j + 200 <= count; j += 200) {
    const int64_t scale = Uniform(random, 0, 40);
    for (size_t i = j; i < j + 100; ++i) {
      const int64_t exponent = scale + Uniform(random, 0, 40);
      const double value = std::ldexp(RealValues(random, 1)[0], static_cast<int>(exponent));
      values[i] = Held(ACL_FLOAT, {value})[0];
      values[i + 100] = -values[i];
    }
  }
  return values;
}

// All weights are a power of two, so that products are exact and only the order of sums counts:
// 4,096 of 5,000 keys are seen, and q is 0. The values cancel out but for what sums of floats lose.
TEST(Attention, AttentionSumsKeysByTheTree) {
  const Device device;
  Random random(48);
  char layout[] = "BNSD";
  const int64_t keys = 5000, far = 2147483647;
  const double weight = 1.0 / 4096;
  Doubles hidden(keys, 0), signs(keys), v = Cancelling(random, keys);
  for (size_t j = 1000; j < 1904; ++j) hidden[j] = 1;
  std::fill(v.begin() + 1800, v.begin() + 2000, 0);  // of those some are hidden
  for (size_t j = 0; j < signs.size(); ++j) signs[j] = j % 2 == 0 ? 1 : -1;
  Doubles weights(keys, weight);
  for (size_t j = 0; j < weights.size(); ++j) weights[j] *= 1 - hidden[j];
  const Doubles terms = Product(weights, v);
  const double want = SumByTree(terms);
  ASSERT_NE(want, 0);
  ASSERT_NE(want, static_cast<double>(SumInOrder(terms)));
  const DeviceTensor mask = Make(ACL_BOOL, {keys}, hidden), max = EmptyFloats({1, 1, 1, 8}),
                     sum = EmptyFloats({1, 1, 1, 8}), out = EmptyFloats({1, 1, 1, 1}),
                     zero = Floats({1, 1, 1, 1}, {0}),
                     fk = Floats({1, 1, keys, 1}, Product(signs, v)),
                     fv = Floats({1, 1, keys, 1}, v);
  EXPECT_RUN(device, FlashAttentionScore, zero.handle(), fk.handle(), fv.handle(), nullptr, nullptr,
             nullptr, mask.handle(), nullptr, 1.0, 1.0, far, far, 1, layout, 0, 0, Handle(max),
             Handle(sum), nullptr, Handle(out));
  EXPECT_EQ(ValuesOf(out)[0], want);
  // Slopes are +-1, their mean is 0, and times k they are v.
  const DeviceTensor tg = Floats({1, 1, 1, 1}, {1}), tsigns = Floats({1, 1, keys, 1}, signs),
                     dq = EmptyFloats({1, 1, 1, 1}), dk = EmptyFloats({1, 1, keys, 1}),
                     dv = EmptyFloats({1, 1, keys, 1});
  EXPECT_RUN(device, FlashAttentionScoreGrad, zero.handle(), fk.handle(), tsigns.handle(),
             tg.handle(), nullptr, nullptr, nullptr, mask.handle(), max.handle(), sum.handle(),
             nullptr, zero.handle(), nullptr, 1.0, 1.0, far, far, 1, layout, 0, 0, Handle(dq),
             Handle(dk), Handle(dv), nullptr);
  EXPECT_EQ(ValuesOf(dq)[0], want);
}

// Two equal keys with weights of a half, and 5,000 rows of the two heads of q that they serve: the
// first row of both, then the second.
TEST(Attention, AttentionSumsQueriesByTheTree) {
  const Device device;
  Random random(49);
  char layout[] = "BNSD";
  const int64_t rows = 2500, far = 2147483647;
  const size_t terms = 2 * rows;
  const Doubles first = Cancelling(random, terms), second = Cancelling(random, terms),
                third = Cancelling(random, terms);
  Doubles q(2 * terms), dy(2 * terms);
  for (size_t i = 0; i < terms; ++i) {
    dy[2 * i] = i % 3 == 0 ? -1 : 1;
    dy[2 * i + 1] = third[i];
    q[2 * i] = dy[2 * i] * first[i], q[2 * i + 1] = dy[2 * i] * second[i];
  }
  const DeviceTensor tq = Floats({1, 2, rows, 2}, q), tg = Floats({1, 2, rows, 2}, dy),
                     tk = Floats({1, 1, 2, 2}, {1, 0, 1, 0}),
                     tv = Floats({1, 1, 2, 2}, {1, 0, -1, 0}),
                     max(ACL_FLOAT, DenseLayout({1, 2, rows, 8})),
                     sum(ACL_FLOAT, DenseLayout({1, 2, rows, 8})),
                     out = EmptyFloats({1, 2, rows, 2}), dq = EmptyFloats({1, 2, rows, 2}),
                     dk = EmptyFloats({1, 1, 2, 2}), dv = EmptyFloats({1, 1, 2, 2});
  EXPECT_RUN(device, FlashAttentionScore, tq.handle(), tk.handle(), tv.handle(), nullptr, nullptr,
             nullptr, nullptr, nullptr, 1.0, 1.0, far, far, 2, layout, 0, 0, Handle(max),
             Handle(sum), nullptr, Handle(out));
  EXPECT_RUN(device, FlashAttentionScoreGrad, tq.handle(), tk.handle(), tv.handle(), tg.handle(),
             nullptr, nullptr, nullptr, nullptr, max.handle(), sum.handle(), nullptr, out.handle(),
             nullptr, 1.0, 1.0, far, far, 2, layout, 0, 0, Handle(dq), Handle(dk), Handle(dv),
             nullptr);
  const auto expect_tree = [](double got, const Doubles& terms, bool seen) {
    EXPECT_EQ(got, SumByTree(terms));
    EXPECT_EQ(got != static_cast<double>(SumInOrder(terms)), seen) << "whether the order shows";
  };
  for (const size_t d : {0, 1}) {
    Doubles slopes, shares;  // of the first key and of the first row of v
    for (size_t i = 0; i < terms; ++i) {
      const size_t at = i % 2 * rows + i / 2;  // of row i / 2, head i % 2
      slopes.push_back(dy[2 * at] / 2 * q[2 * at + d]);
      shares.push_back(dy[2 * at + d] / 2);
    }
    expect_tree(ValuesOf(dk)[d], slopes, true);
    expect_tree(ValuesOf(dv)[d], shares, d == 1);
  }
}

// Every layout of the same numbers.
TEST(Attention, LayoutsOfAttention) {
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

}  // namespace
}  // namespace openaclnn::test
