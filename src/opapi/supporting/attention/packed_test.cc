// SPDX-License-Identifier: Apache-2.0
// Attention of packed sequences against plain loops in double, and its gradients against complex
// steps.
#include "supporting/attention/packed_test.h"

namespace openaclnn::test {
namespace {

/// A mask of bytes as a problem has it, as large as the longest sequences or larger.
std::unique_ptr<DeviceTensor> MaskOf(const PackedProblem& p) {
  if (!p.masked) return nullptr;
  if (p.mode > 1) return std::make_unique<DeviceTensor>(ACL_BOOL, DenseLayout({2048, 2048}));
  Doubles hides;
  const int64_t rows = *std::max_element(p.rows.begin(), p.rows.end()) + 1,
                keys = *std::max_element(p.keys.begin(), p.keys.end());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < keys; ++j) hides.push_back(p.mask(i, j) ? 1 : 0);
  }
  return std::make_unique<DeviceTensor>(Make(ACL_UINT8, {rows, keys}, hides));
}

/// The bits of dropout, and room behind them.
std::unique_ptr<DeviceTensor> DropsOf(const PackedProblem& p) {
  if (p.kept.empty()) return nullptr;
  Doubles bytes(p.kept.size() / 8 + 16, 0);
  for (size_t i = 0; i < p.kept.size(); ++i) bytes[i / 8] += p.kept[i] ? 1 << i % 8 : 0;
  return std::make_unique<DeviceTensor>(
      Make(ACL_UINT8, {static_cast<int64_t>(bytes.size())}, bytes));
}

const aclTensor* HandleOf(const std::unique_ptr<DeviceTensor>& tensor) {
  return tensor ? tensor->handle() : nullptr;
}

/// Runs a problem forward and backward, and compares all that it writes. What the forward left is
/// given to the gradient, or not.
void ExpectRight(const Device& device, Random& random, const PackedProblem& p, bool again) {
  const auto draw = [&](const Dims& dims) {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    return Held(ACL_FLOAT, RealValues(random, count));
  };
  const Doubles q = draw(p.QueryDims()), k = draw(p.KeyDims()), v = draw(p.ValueDims()),
                g = draw(p.ResultDims());
  const DeviceTensor tq = Make(ACL_FLOAT, p.QueryDims(), q, random),
                     tk = Make(ACL_FLOAT, p.KeyDims(), k, random),
                     tv = Make(ACL_FLOAT, p.ValueDims(), v, random),
                     tg = Make(ACL_FLOAT, p.ResultDims(), g, random);
  const auto room = [&](const Dims& dims) {
    return DeviceTensor(ACL_FLOAT, RandomLayout(random, dims, false));
  };
  const DeviceTensor out = room(p.ResultDims()), max = room(p.SumDims()), sum = room(p.SumDims()),
                     dq = room(p.QueryDims()), dk = room(p.KeyDims()), dv = room(p.ValueDims());
  const auto mask = MaskOf(p), drops = DropsOf(p);
  const IntListHandle row_ends({p.Ends(p.rows)}), key_ends({p.Ends(p.keys)}), prefix({p.prefix});
  char layout[] = "TND";
  EXPECT_RUN(device, FlashAttentionVarLenScore, tq.handle(), tk.handle(), tv.handle(), nullptr,
             HandleOf(drops), nullptr, HandleOf(mask), prefix.get(), row_ends.get(), key_ends.get(),
             p.scale, p.keep, p.before, p.after, p.heads, layout, 0, p.mode, Handle(max),
             Handle(sum), nullptr, Handle(out));
  Doubles want_max, want_sum;
  ExpectNear(ValuesOf(out), p.Forward(q, k, v, &want_max, &want_sum), ACL_FLOAT, 0, 2e-6);
  want_max.resize(ValuesOf(max).size(), 0);
  want_sum.resize(want_max.size(), 0);
  ExpectNear(ValuesOf(max), want_max, ACL_FLOAT, 0, 1e-6);
  ExpectNear(ValuesOf(sum), want_sum, ACL_FLOAT, 0, 2e-6);
  EXPECT_RUN(device, FlashAttentionUnpaddingScoreGrad, tq.handle(), tk.handle(), tv.handle(),
             tg.handle(), nullptr, HandleOf(drops), nullptr, HandleOf(mask),
             again ? nullptr : max.handle(), sum.handle(), nullptr, out.handle(), prefix.get(),
             row_ends.get(), key_ends.get(), p.scale, p.keep, p.before, p.after, p.heads, layout, 0,
             p.mode, Handle(dq), Handle(dk), Handle(dv), nullptr);
  ExpectNear(ValuesOf(dq), p.Gradient(0, q, k, v, g), ACL_FLOAT, 0, 1e-5);
  ExpectNear(ValuesOf(dk), p.Gradient(1, q, k, v, g), ACL_FLOAT, 0, 1e-5);
  ExpectNear(ValuesOf(dv), p.Gradient(2, q, k, v, g), ACL_FLOAT, 0, 1e-5);
}

TEST(PackedAttention, EverySparseMode) {
  const Device device;
  Random random(71);
  for (const int64_t mode : {0, 1, 2, 3, 4, 6, 7, 8}) {
    SCOPED_TRACE(mode);
    // Sequences of 0 and 1 rows and keys, more rows than keys and the other way around.
    PackedProblem p = {.heads = 4,
                       .kv_heads = 2,
                       .width = 3,
                       .value_width = 2,
                       .rows = {4, 0, 1, 5, 2, 3},
                       .keys = {5, 2, 1, 3, 0, 6},
                       .mode = mode,
                       .before = 2,
                       .after = 1,
                       .prefix = {3, 0, 1, 2, 0, 4},
                       .masked = true};
    ExpectRight(device, random, p, false);
    p.before = mode == 7 ? 6 : 4, p.after = -1;
    ExpectRight(device, random, p, true);
    p.masked = false;
    ExpectRight(device, random, p, false);
  }
}

// Keys of several tiles, and rows of several blocks.
TEST(PackedAttention, LongSequences) {
  const Device device;
  Random random(72);
  for (const int64_t mode : {2, 4}) {
    SCOPED_TRACE(mode);
    ExpectRight(device, random,
                {.heads = 1,
                 .kv_heads = 1,
                 .width = 1,
                 .value_width = 1,
                 .rows = {1, 70, 3},
                 .keys = {130, 2, 140},
                 .mode = mode,
                 .before = 30,
                 .after = 9,
                 .masked = true},
                false);
  }
}

// The bits of a sequence follow those of the one before it.
TEST(PackedAttention, Dropout) {
  const Device device;
  Random random(73);
  PackedProblem p = {.heads = 2,
                     .kv_heads = 1,
                     .width = 2,
                     .value_width = 2,
                     .rows = {3, 1, 4},
                     .keys = {3, 5, 2},
                     .mode = 3,
                     .masked = true,
                     .keep = 0.7};
  for (int64_t i = 0; i < 2 * (9 + 5 + 8); ++i) p.kept.push_back(Uniform(random, 0, 2) != 0);
  ExpectRight(device, random, p, false);
  ExpectRight(device, random, p, true);
}

// Nothing is attended to behind the last sequence, and without rows or keys.
TEST(PackedAttention, RowsOfNoSequence) {
  const Device device;
  Random random(74);
  PackedProblem p = {.heads = 2,
                     .kv_heads = 2,
                     .width = 2,
                     .value_width = 1,
                     .rows = {2, 1},
                     .keys = {1, 2},
                     .rest_rows = 3,
                     .rest_keys = 2};
  ExpectRight(device, random, p, false);
  ExpectRight(device, random, p, true);
  p.rows = {0, 0}, p.keys = {0, 0};
  ExpectRight(device, random, p, false);
  p.rest_rows = 0;
  ExpectRight(device, random, p, false);
}

// Zeros at the end leave the last sequences out: mode 7 has its band in the one before them.
TEST(PackedAttention, SequencesThatAreLeftOut) {
  const Device device;
  char layout[] = "TND";
  const DeviceTensor q = Floats({4, 1, 1}, {1, 2, 3, 4}), max = EmptyFloats({4, 1, 8}),
                     sum = EmptyFloats({4, 1, 8}), mask(ACL_BOOL, DenseLayout({2, 2}));
  const IntListHandle all({{2, 4}}), zeros({{2, 4, 0, 0}});
  Doubles first;
  for (const IntListHandle* ends : {&all, &zeros}) {
    const DeviceTensor out = EmptyFloats({4, 1, 1});
    EXPECT_RUN(device, FlashAttentionVarLenScore, q.handle(), q.handle(), q.handle(), nullptr,
               nullptr, nullptr, mask.handle(), nullptr, ends->get(), ends->get(), 1.0, 1.0, 5, -1,
               1, layout, 0, 7, Handle(max), Handle(sum), nullptr, Handle(out));
    if (first.empty()) first = ValuesOf(out);
    EXPECT_EQ(ValuesOf(out), first);
  }
  EXPECT_EQ(first[2], 0);  // sees none of the keys before its own
}

TEST(PackedAttention, Refusals) {
  const Device device;
  char tnd[] = "TND", bsnd[] = "BSND";
  const DeviceTensor q = EmptyFloats({6, 2, 4}), max = EmptyFloats({6, 2, 8}),
                     other = EmptyFloats({6, 1, 8}), small(ACL_BOOL, DenseLayout({3, 4})),
                     mask(ACL_BOOL, DenseLayout({4, 4})), drops(ACL_UINT8, DenseLayout({4}));
  const IntListHandle two({{2, 6}}), one({{6}}), falling({{4, 2, 6}}), far({{2, 7}}), none({}),
      prefix({{1}}), long_prefix({{3, 1}});
  struct Given {
    const aclTensor *shift = nullptr, *drops = nullptr, *mask = nullptr, *max = nullptr;
    const IntListHandle *prefix = nullptr, *rows = nullptr, *keys = nullptr;
    char* layout = nullptr;
    double keep = 1;
    int64_t mode = 0;
  };
  const auto refused = [&](const std::string& says, const Given& given) {
    const auto of = [](const IntListHandle* list) { return list ? list->get() : nullptr; };
    EXPECT_REFUSED(161002, says, FlashAttentionVarLenScore, q.handle(), q.handle(), q.handle(),
                   given.shift, given.drops, nullptr, given.mask, of(given.prefix),
                   of(given.rows ? given.rows : &two), of(given.keys ? given.keys : &two), 1.0,
                   given.keep, 9, 9, 2, given.layout ? given.layout : tnd, 0, given.mode,
                   given.max ? given.max : max.handle(), max.handle(), nullptr, q.handle());
  };
  refused("realShiftOptional value is a tensor, expected null", {.shift = q.handle()});
  refused("inputLayout value is 'BSND', expected TND", {.layout = bsnd});
  refused("sparseMode value is 5, expected", {.mode = 5});
  refused(
      "actualSeqQLenOptional value is [4, 2, 6], expected the ends of sequences in query: one "
      "or more, none less than the one before it, at most 6",
      {.rows = &falling});
  refused("actualSeqKvLenOptional value is [2, 7], expected", {.keys = &far});
  refused("actualSeqQLenOptional value is [], expected", {.rows = &none});
  refused("actualSeqKvLenOptional size is 1, expected 2, that of actualSeqQLenOptional",
          {.keys = &one});
  refused("attenMaskOptional shape is (3, 4), expected at least (4, 4)", {.mask = small.handle()});
  refused("prefixOptional value is [1], expected for each of 2 sequences a number of its keys",
          {.mask = mask.handle(), .prefix = &prefix, .mode = 6});
  refused("prefixOptional value is [3, 1], expected",
          {.mask = mask.handle(), .prefix = &long_prefix, .mode = 6});
  refused("dropMask shape is (4), expected UINT8 with a bit for each score of the sequences of 2",
          {.drops = drops.handle(), .keep = 0.5});
  refused("softmaxMaxOut shape is (6, 1, 8), expected (6, 2, 8)", {.max = other.handle()});
}

}  // namespace
}  // namespace openaclnn::test
