// SPDX-License-Identifier: Apache-2.0
// Selected attention: all blocks give the bits of causal attention; results and gradients against
// plain loops in double; bits under each setting; indices that name no block.
#include <cmath>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

using Ends = std::vector<int64_t>;

/// Packed sequences whose rows see `count` blocks each.
struct Problem {
  Ends row_ends, key_ends;
  int64_t rows, keys;  // of the tensors: the last ones may belong to no sequence
  int64_t heads, kv_heads, width, value_width, size, count, mode;
  aclDataType dtype = ACL_FLOAT16;

  int64_t group() const { return heads / kv_heads; }
  Dims QueryDims() const { return {rows, heads, width}; }
  Dims KeyDims() const { return {keys, kv_heads, width}; }
  Dims ValueDims() const { return {keys, kv_heads, value_width}; }
  Dims ResultDims() const { return {rows, heads, value_width}; }
  Dims NumberDims() const { return {rows, heads, 8}; }
  Dims IndexDims() const { return {rows, kv_heads, count}; }
};

int64_t Count(const Dims& dims) { return dims[0] * dims[1] * dims[2]; }

struct Values {
  Values(Random& random, const Problem& p) {
    const auto draw = [&](const Dims& dims) {
      return Held(p.dtype, RealValues(random, Count(dims)));
    };
    q = draw(p.QueryDims()), k = draw(p.KeyDims()), v = draw(p.ValueDims());
    dy = draw(p.ResultDims());
    chosen.assign(static_cast<size_t>(Count(p.IndexDims())), -1);
    int64_t row = 0;
    for (size_t b = 0; b < p.row_ends.size(); ++b) {
      const int64_t keys = p.key_ends[b] - (b == 0 ? 0 : p.key_ends[b - 1]);
      const int64_t blocks = (keys + p.size - 1) / p.size;
      for (; row < p.row_ends[b]; ++row) {
        for (int64_t i = 0; i < p.kv_heads * p.count; ++i) {
          const auto at = static_cast<size_t>(row * p.kv_heads * p.count + i);
          chosen[at] =
              static_cast<double>(std::uniform_int_distribution<int64_t>(-1, blocks - 1)(random));
        }
      }
    }
  }
  Doubles q, k, v, dy, chosen;
};

struct Tensors {
  Tensors(const Problem& problem, const Values& x)
      : p(problem),
        q(Make(p.dtype, p.QueryDims(), x.q)),
        k(Make(p.dtype, p.KeyDims(), x.k)),
        v(Make(p.dtype, p.ValueDims(), x.v)),
        dy(Make(p.dtype, p.ResultDims(), x.dy)),
        chosen(Make(ACL_INT32, p.IndexDims(), x.chosen)),
        out(p.dtype, DenseLayout(p.ResultDims())),
        max(ACL_FLOAT, DenseLayout(p.NumberDims())),
        sum(ACL_FLOAT, DenseLayout(p.NumberDims())),
        dq(p.dtype, DenseLayout(p.QueryDims())),
        dk(p.dtype, DenseLayout(p.KeyDims())),
        dv(p.dtype, DenseLayout(p.ValueDims())) {}

  Outcome Forward(const Device& device) const {
    char layout[] = "TND";
    const IntsHandle row_ends(p.row_ends), key_ends(p.key_ends);
    return RUN(device, NsaSelectedAttention, q.handle(), k.handle(), v.handle(), chosen.handle(),
               nullptr, row_ends.get(), key_ends.get(), 0.25, p.heads, layout, p.mode, p.size,
               p.count, max.handle(), sum.handle(), out.handle());
  }
  void Run(const Device& device) const {
    char layout[] = "TND";
    const IntsHandle row_ends(p.row_ends), key_ends(p.key_ends);
    EXPECT_EQ(Forward(device).message, "");
    EXPECT_RUN(device, NsaSelectedAttentionGrad, q.handle(), k.handle(), v.handle(), out.handle(),
               dy.handle(), max.handle(), sum.handle(), chosen.handle(), row_ends.get(),
               key_ends.get(), nullptr, 0.25, p.size, p.count, p.heads, layout, p.mode, Handle(dq),
               Handle(dk), Handle(dv));
  }
  std::vector<std::vector<std::byte>> Results() const {
    std::vector<std::vector<std::byte>> results;
    for (const DeviceTensor* each : {&out, &max, &sum, &dq, &dk, &dv}) {
      results.push_back(each->Read());
    }
    return results;
  }

  Problem p;
  DeviceTensor q, k, v, dy, chosen, out, max, sum, dq, dk, dv;
};

/// Results in double, from the formulas, key by key.
struct Exact {
  Exact(const Problem& p, const Values& x)
      : out(x.dy.size()), dq(x.q.size()), dk(x.k.size()), dv(x.v.size()) {
    for (size_t b = 0; b < p.row_ends.size(); ++b) {
      const int64_t first = b == 0 ? 0 : p.row_ends[b - 1];
      for (int64_t t = first; t < p.row_ends[b]; ++t) {
        for (int64_t h = 0; h < p.heads; ++h) AddRow(p, x, b, t, t - first, h);
      }
    }
  }
  Doubles out, dq, dk, dv;

 private:
  void AddRow(const Problem& p, const Values& x, size_t b, int64_t t, int64_t row, int64_t h) {
    const int64_t served = h / p.group(), first = b == 0 ? 0 : p.key_ends[b - 1];
    Ends keys;
    for (int64_t i = 0; i < p.count; ++i) {
      const auto at = static_cast<size_t>((t * p.kv_heads + served) * p.count + i);
      const auto block = static_cast<int64_t>(x.chosen[at]);
      for (int64_t j = 0; block >= 0 && j < p.size; ++j) {
        const int64_t place = block * p.size + j;
        if (place >= p.key_ends[b] - first || (p.mode == 2 && place > row)) continue;
        keys.push_back(first + place);
      }
    }
    const auto at = [&](int64_t a, int64_t heads, int64_t head, int64_t width, int64_t d) {
      return static_cast<size_t>((a * heads + head) * width + d);
    };
    Doubles weights, slopes;
    double sum = 0, mean = 0;
    for (const int64_t key : keys) {
      double score = 0, slope = 0;
      for (int64_t d = 0; d < p.width; ++d) {
        score += 0.25 * x.q[at(t, p.heads, h, p.width, d)] *
                 x.k[at(key, p.kv_heads, served, p.width, d)];
      }
      for (int64_t d = 0; d < p.value_width; ++d) {
        slope += x.dy[at(t, p.heads, h, p.value_width, d)] *
                 x.v[at(key, p.kv_heads, served, p.value_width, d)];
      }
      weights.push_back(std::exp(score)), slopes.push_back(slope);
      sum += weights.back();
    }
    for (size_t i = 0; i < keys.size(); ++i) mean += (weights[i] /= sum) * slopes[i];
    for (size_t i = 0; i < keys.size(); ++i) {
      const double slope = 0.25 * weights[i] * (slopes[i] - mean);
      for (int64_t d = 0; d < p.width; ++d) {
        const size_t of_q = at(t, p.heads, h, p.width, d),
                     of_k = at(keys[i], p.kv_heads, served, p.width, d);
        dq[of_q] += slope * x.k[of_k];
        dk[of_k] += slope * x.q[of_q];
      }
      for (int64_t d = 0; d < p.value_width; ++d) {
        const size_t of_dy = at(t, p.heads, h, p.value_width, d),
                     of_v = at(keys[i], p.kv_heads, served, p.value_width, d);
        out[of_dy] += weights[i] * x.v[of_v];
        dv[of_v] += weights[i] * x.dy[of_dy];
      }
    }
  }
};

const std::pair<const char*, Problem> kProblems[] = {
    {"one sequence", {{40}, {200}, 40, 200, 4, 1, 24, 16, 64, 3, 0}},
    {"causal", {{150}, {150}, 150, 150, 2, 2, 16, 16, 16, 5, 2}},
    {"several sequences, rows and keys of none",
     {{7, 7, 90}, {70, 120, 300}, 93, 340, 6, 2, 32, 24, 32, 2, 0}},
    {"more blocks than keys", {{20}, {10}, 20, 10, 3, 1, 8, 8, 128, 4, 2}},
    {"BFLOAT16", {{33}, {256}, 33, 256, 8, 1, 64, 64, 64, 2, 0, ACL_BF16}},
};

TEST(NsaSelectedAttention, PlainLoops) {
  const Device device;
  Random random(61);
  for (const auto& [name, problem] : kProblems) {
    SCOPED_TRACE(name);
    const Values values(random, problem);
    const Tensors tensors(problem, values);
    tensors.Run(device);
    const Exact exact(problem, values);
    const double bound = problem.dtype == ACL_FLOAT16 ? 5e-3 : 4e-2;
    ExpectNear(ValuesOf(tensors.out), exact.out, problem.dtype, 0, bound / 2);
    ExpectNear(ValuesOf(tensors.dq), exact.dq, problem.dtype, 0, bound);
    ExpectNear(ValuesOf(tensors.dk), exact.dk, problem.dtype, 0, bound);
    ExpectNear(ValuesOf(tensors.dv), exact.dv, problem.dtype, 0, bound);
  }
}

// Every row sees every block: as causal attention of all keys.
TEST(NsaSelectedAttention, AllBlocksHaveTheBitsOfCausalAttention) {
  const Device device;
  Random random(62);
  const Problem p = {{300}, {300}, 300, 300, 4, 2, 64, 64, 64, 5, 2};
  Values values(random, p);
  for (size_t i = 0; i < values.chosen.size(); ++i) values.chosen[i] = static_cast<double>(i % 5);
  const Tensors tensors(p, values);
  EXPECT_EQ(tensors.Forward(device).message, "");
  const auto batch = [&](const Doubles& from, int64_t heads) {
    return Make(p.dtype, {1, 300, heads, 64}, from);
  };
  const DeviceTensor q = batch(values.q, 4), k = batch(values.k, 2), v = batch(values.v, 2),
                     out(p.dtype, DenseLayout({1, 300, 4, 64})),
                     max(ACL_FLOAT, DenseLayout({1, 4, 300, 8})),
                     sum(ACL_FLOAT, DenseLayout({1, 4, 300, 8}));
  char layout[] = "BSND";
  EXPECT_RUN(device, FlashAttentionScore, q.handle(), k.handle(), v.handle(), nullptr, nullptr,
             nullptr, nullptr, nullptr, 0.25, 1.0, 0, 0, 4, layout, 0, 2, Handle(max), Handle(sum),
             nullptr, Handle(out));
  EXPECT_EQ(tensors.out.Read(), out.Read());
}

TEST(NsaSelectedAttention, ThreadsAndInstructionSets) {
  for (const auto& each : kProblems) {
    SCOPED_TRACE(each.first);
    const Problem& problem = each.second;
    Random random(63);
    const Values values(random, problem);
    std::vector<std::vector<std::byte>> first, baseline;
    UnderEachSetting([&](const std::string& setting, const Device& device) {
      SCOPED_TRACE(setting);
      const Tensors tensors(problem, values);
      tensors.Run(device);
      auto& expected = IsFused(setting) ? first : baseline;
      const auto results = tensors.Results();
      if (expected.empty()) expected = results;
      EXPECT_TRUE(results == expected);
    });
  }
}

TEST(NsaSelectedAttention, IndicesThatNameNoBlock) {
  const Device device;
  Random random(64);
  const Problem p = {{2, 3}, {40, 60}, 3, 60, 1, 1, 8, 8, 16, 2, 0};
  Values values(random, p);
  values.chosen = {0, 2, -1, 1, 1, 2};  // the second sequence has two blocks
  const Outcome outcome = Tensors(p, values).Forward(device);
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("topkIndices value (2, 0, 1) is 2, expected -1 to 1"),
            std::string::npos)
      << outcome.message;
  values.chosen.back() = 1;
  EXPECT_EQ(Tensors(p, values).Forward(device).code, 0);
}

TEST(NsaSelectedAttention, Refusals) {
  const Device device;
  Random random(65);
  const Problem p = {{3}, {60}, 3, 60, 2, 1, 8, 8, 16, 2, 0};
  const Values values(random, p);
  const Tensors x(p, values);
  const auto refused = [&](const char* says, const Ends& rows, int64_t heads, int64_t size,
                           int64_t count) {
    char layout[] = "TND";
    const IntsHandle row_ends(rows), key_ends({60});
    EXPECT_REFUSED(161002, says, NsaSelectedAttention, x.q.handle(), x.k.handle(), x.v.handle(),
                   x.chosen.handle(), nullptr, row_ends.get(), key_ends.get(), 1.0, heads, layout,
                   0, size, count, x.max.handle(), x.sum.handle(), x.out.handle());
  };
  refused(
      "actualSeqQLenOptional value is [4], expected the ends of sequences in query: one or more, "
      "none less than the one before it, at most 3",
      {4}, 2, 16, 2);
  refused("headNum value is 3, expected the heads of query", {3}, 3, 16, 2);
  refused("selectedBlockSize value is 24, expected a multiple of 16, at most 128", {3}, 2, 24, 2);
  refused("selectedBlockCount value is 33, expected 1 to 32", {3}, 2, 16, 33);
  refused("topkIndices shape is (3, 1, 2), expected (3, 1, 4)", {3}, 2, 16, 4);
}

}  // namespace
}  // namespace openaclnn::test
