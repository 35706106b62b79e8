// SPDX-License-Identifier: Apache-2.0
// The bits of a row of attention do not depend on threads, instruction sets, other rows, heads and
// batches, or keys after it. Large problems are compared with plain loops in double.
#include "tests/support/bits.h"

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kFar = 2147483647;

/// A call without dropout, in layout BNSD.
struct Problem {
  int64_t batches, heads, kv_heads, rows, keys, width, value_width;
  int64_t mode = 0, before = kFar, after = kFar;
  aclDataType dtype = ACL_FLOAT;
  bool masked = false;

  int64_t group() const { return heads / kv_heads; }
  Dims QueryDims() const { return {batches, heads, rows, width}; }
  Dims KeyDims() const { return {batches, kv_heads, keys, width}; }
  Dims ValueDims() const { return {batches, kv_heads, keys, value_width}; }
  Dims ResultDims() const { return {batches, heads, rows, value_width}; }
  Dims SumDims() const { return {batches, heads, rows, 8}; }
  bool Hides(int64_t i, int64_t j) const {
    if (mode == 2) return j > i;
    return masked && (i - j > before || j - i > after || (i * 7 + j * 3) % 11 == 0);
  }
};

int64_t Count(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

/// Operands and results of a problem.
struct Tensors {
  Tensors(const Problem& problem, const Doubles& q_values, const Doubles& k_values,
          const Doubles& v_values, const Doubles& dy_values, Random* views = nullptr)
      : p(problem),
        q(Of(p.dtype, p.QueryDims(), q_values, views)),
        k(Of(p.dtype, p.KeyDims(), k_values, views)),
        v(Of(p.dtype, p.ValueDims(), v_values, views)),
        dy(Make(p.dtype, p.ResultDims(), dy_values)),
        out(p.dtype, DenseLayout(p.ResultDims())),
        max(ACL_FLOAT, DenseLayout(p.SumDims())),
        sum(ACL_FLOAT, DenseLayout(p.SumDims())),
        dq(p.dtype, DenseLayout(p.QueryDims())),
        dk(p.dtype, DenseLayout(p.KeyDims())),
        dv(p.dtype, DenseLayout(p.ValueDims())) {
    if (!p.masked) return;
    Doubles hides;
    for (int64_t i = 0; i < p.rows; ++i) {
      for (int64_t j = 0; j < p.keys; ++j) hides.push_back((i * 7 + j * 3) % 11 == 0 ? 1 : 0);
    }
    mask = std::make_unique<DeviceTensor>(Make(ACL_BOOL, {p.rows, p.keys}, hides));
  }

  void Run(const Device& device, bool with_gradients) const {
    char layout[] = "BNSD";
    const aclTensor* hides = mask ? mask->handle() : nullptr;
    EXPECT_RUN(device, FlashAttentionScore, q.handle(), k.handle(), v.handle(), nullptr, nullptr,
               nullptr, hides, nullptr, 0.25, 1.0, p.before, p.after, p.heads, layout, 0, p.mode,
               Handle(max), Handle(sum), nullptr, Handle(out));
    if (!with_gradients) return;
    EXPECT_RUN(device, FlashAttentionScoreGrad, q.handle(), k.handle(), v.handle(), dy.handle(),
               nullptr, nullptr, nullptr, hides, max.handle(), sum.handle(), nullptr, out.handle(),
               nullptr, 0.25, 1.0, p.before, p.after, p.heads, layout, 0, p.mode, Handle(dq),
               Handle(dk), Handle(dv), nullptr);
  }

  std::vector<std::vector<std::byte>> Results() const {
    std::vector<std::vector<std::byte>> results;
    for (const DeviceTensor* each : {&out, &max, &sum, &dq, &dk, &dv}) {
      results.push_back(each->Read());
    }
    return results;
  }

  /// Dense, or a view of any strides.
  static DeviceTensor Of(aclDataType dtype, const Dims& dims, const Doubles& values,
                         Random* views) {
    return views != nullptr ? Make(dtype, dims, values, *views) : Make(dtype, dims, values);
  }

  Problem p;
  DeviceTensor q, k, v, dy, out, max, sum, dq, dk, dv;
  std::unique_ptr<DeviceTensor> mask;
};

/// Values of a problem, as its type holds them.
struct Values {
  Values(Random& random, const Problem& p) {
    const auto draw = [&](const Dims& dims) {
      return Held(p.dtype, RealValues(random, Count(dims)));
    };
    q = draw(p.QueryDims()), k = draw(p.KeyDims()), v = draw(p.ValueDims());
    dy = draw(p.ResultDims());
  }
  Doubles q, k, v, dy;
};

/// The results in double, from the formulas.
struct Exact {
  Exact(const Problem& p, const Values& x)
      : out(x.dy.size()), dq(x.q.size()), dk(x.k.size()), dv(x.v.size()) {
    for (int64_t b = 0; b < p.batches; ++b) {
      for (int64_t h = 0; h < p.heads; ++h) {
        for (int64_t i = 0; i < p.rows; ++i) AddRow(p, x, b, h, i);
      }
    }
  }

  Doubles out, dq, dk, dv;

 private:
  void AddRow(const Problem& p, const Values& x, int64_t b, int64_t h, int64_t i) {
    const auto of = [](const auto& values, int64_t at) { return values.data() + at; };
    const int64_t row = (b * p.heads + h) * p.rows + i;
    const int64_t key = (b * p.kv_heads + h / p.group()) * p.keys;
    const double *q = of(x.q, row * p.width), *dy = of(x.dy, row * p.value_width);
    Doubles weights(static_cast<size_t>(p.keys)), slopes(weights.size());
    double sum = 0, mean = 0;
    for (int64_t j = 0; j < p.keys; ++j) {
      const double *k = of(x.k, (key + j) * p.width), *v = of(x.v, (key + j) * p.value_width);
      double score = 0, slope = 0;
      for (int64_t d = 0; d < p.width; ++d) score += q[d] * k[d];
      for (int64_t d = 0; d < p.value_width; ++d) slope += dy[d] * v[d];
      const auto at = static_cast<size_t>(j);
      weights[at] = p.Hides(i, j) ? 0 : std::exp(score * 0.25);
      slopes[at] = slope;
      sum += weights[at];
    }
    for (size_t j = 0; j < weights.size(); ++j) {
      weights[j] = sum == 0 ? 0 : weights[j] / sum;
      mean += weights[j] * slopes[j];
    }
    for (int64_t j = 0; j < p.keys; ++j) {
      const double weight = weights[static_cast<size_t>(j)];
      const double slope = weight * (slopes[static_cast<size_t>(j)] - mean) * 0.25;
      for (int64_t d = 0; d < p.value_width; ++d) {
        const auto at = static_cast<size_t>((key + j) * p.value_width + d);
        out[static_cast<size_t>(row * p.value_width + d)] += weight * x.v[at];
        dv[at] += weight * dy[d];
      }
      for (int64_t d = 0; d < p.width; ++d) {
        const auto at = static_cast<size_t>((key + j) * p.width + d);
        dq[static_cast<size_t>(row * p.width + d)] += slope * x.k[at];
        dk[at] += slope * q[d];
      }
    }
  }
};

const std::pair<const char*, Problem> kProblems[] = {
    {"several tiles and blocks", {1, 2, 2, 150, 300, 24, 24}},
    {"causal", {2, 1, 1, 270, 270, 16, 16, 2}},
    {"heads that share keys", {1, 6, 2, 45, 200, 40, 8}},
    {"a mask and a window", {1, 2, 1, 140, 260, 8, 8, 0, 70, 9, ACL_FLOAT, true}},
    {"wide heads", {1, 1, 1, 70, 130, 200, 136}},
    {"odd widths", {1, 3, 1, 67, 129, 65, 7}},
    {"one row", {2, 4, 1, 1, 1000, 64, 64}},
    {"FLOAT16", {1, 2, 1, 65, 140, 32, 32, 0, kFar, kFar, ACL_FLOAT16}},
    {"BFLOAT16", {1, 2, 2, 65, 140, 33, 32, 2, kFar, kFar, ACL_BF16}},
};

TEST(AttentionBits, LargeProblems) {
  const Device device;
  Random random(51);
  for (const auto& [name, problem] : kProblems) {
    SCOPED_TRACE(name);
    const Values values(random, problem);
    const Tensors tensors(problem, values.q, values.k, values.v, values.dy);
    tensors.Run(device, true);
    const Exact exact(problem, values);
    // Sums of hundreds of terms of about 1, and rounded results that gradients are made of.
    const double bound = problem.dtype == ACL_FLOAT     ? 1e-5
                         : problem.dtype == ACL_FLOAT16 ? 2e-3
                                                        : 2e-2;
    ExpectNear(ValuesOf(tensors.out), exact.out, problem.dtype, 0, bound / 2);
    ExpectNear(ValuesOf(tensors.dq), exact.dq, problem.dtype, 0, bound);
    ExpectNear(ValuesOf(tensors.dk), exact.dk, problem.dtype, 0, bound);
    ExpectNear(ValuesOf(tensors.dv), exact.dv, problem.dtype, 0, bound);
  }
}

TEST(AttentionBits, ThreadsAndInstructionSets) {
  for (const auto& each : kProblems) {
    SCOPED_TRACE(each.first);
    const Problem& problem = each.second;
    Random random(52);
    const Values values(random, problem);
    std::vector<std::vector<std::byte>> first, baseline;
    UnderEachSetting([&](const std::string& setting, const Device& device) {
      SCOPED_TRACE(setting);
      const Tensors tensors(problem, values.q, values.k, values.v, values.dy);
      tensors.Run(device, true);
      auto& expected = IsFused(setting) ? first : baseline;
      const auto results = tensors.Results();
      if (expected.empty()) expected = results;
      EXPECT_TRUE(results == expected);
    });
  }
}

/// Rows [begin, begin + count) of a tensor of (1, heads, rows, width).
Doubles RowsOf(const Doubles& values, int64_t heads, int64_t rows, int64_t width, int64_t begin,
               int64_t count) {
  Doubles part;
  for (int64_t h = 0; h < heads; ++h) {
    const auto from = values.begin() + (h * rows + begin) * width;
    part.insert(part.end(), from, from + count * width);
  }
  return part;
}

// A causal model gives a prompt the same bits at once, row by row, and in pieces. The last rows of
// pieces are computed with only the keys up to them.
TEST(AttentionBits, PromptsAtOnceAndInPieces) {
  const Device device;
  Random random(53);
  const Problem whole = {1, 4, 2, 400, 400, 32, 24, 2};
  const Values values(random, whole);
  const Tensors all(whole, values.q, values.k, values.v, values.dy);
  all.Run(device, false);
  const Doubles want = ValuesOf(all.out);
  for (const auto& [begin, count] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 1}, {0, 64}, {1, 1}, {127, 1}, {128, 1}, {255, 1}, {256, 1}, {399, 1}, {130, 100}}) {
    SCOPED_TRACE(testing::Message() << count << " rows from " << begin);
    Problem part = whole;
    part.rows = count, part.keys = begin + count, part.mode = 0;
    // A window lets row i of the piece see keys up to begin + i.
    part.before = kFar, part.after = begin, part.masked = false;
    const auto of = [&](const Doubles& x, int64_t heads, int64_t width, int64_t from, int64_t n) {
      return RowsOf(x, heads, whole.rows, width, from, n);
    };
    const Tensors tensors(part, of(values.q, 4, 32, begin, count),
                          of(values.k, 2, 32, 0, part.keys), of(values.v, 2, 24, 0, part.keys),
                          of(values.dy, 4, 24, begin, count));
    const DeviceTensor mask = Make(ACL_BOOL, {1, 1}, {0});  // with it the window counts
    char layout[] = "BNSD";
    EXPECT_RUN(device, FlashAttentionScore, tensors.q.handle(), tensors.k.handle(),
               tensors.v.handle(), nullptr, nullptr, nullptr, mask.handle(), nullptr, 0.25, 1.0,
               part.before, part.after, part.heads, layout, 0, 0, Handle(tensors.max),
               Handle(tensors.sum), nullptr, Handle(tensors.out));
    EXPECT_EQ(ValuesOf(tensors.out), of(want, 4, 24, begin, count));
  }
}

// Another batch, other heads beside it, and memory that is not dense change nothing.
TEST(AttentionBits, BatchesAndViews) {
  const Device device;
  Random random(54);
  const Problem both = {2, 2, 2, 70, 140, 20, 20};
  Problem one = both;
  one.batches = 1;
  const Values values(random, both);
  const Tensors together(both, values.q, values.k, values.v, values.dy);
  together.Run(device, true);
  const auto half = [](const Doubles& x) { return Doubles(x.begin() + x.size() / 2, x.end()); };
  const Tensors alone(one, half(values.q), half(values.k), half(values.v), half(values.dy));
  alone.Run(device, true);
  EXPECT_EQ(ValuesOf(alone.out), half(ValuesOf(together.out)));
  EXPECT_EQ(ValuesOf(alone.dq), half(ValuesOf(together.dq)));
  EXPECT_EQ(ValuesOf(alone.dk), half(ValuesOf(together.dk)));
  EXPECT_EQ(ValuesOf(alone.dv), half(ValuesOf(together.dv)));
  const Tensors apart(both, values.q, values.k, values.v, values.dy, &random);
  apart.Run(device, true);
  EXPECT_TRUE(apart.Results() == together.Results());
}

}  // namespace
}  // namespace openaclnn::test
