// SPDX-License-Identifier: Apache-2.0
// A packed sequence has the bits that it has alone, for any number of threads and instruction set.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kHeads = 4, kKvHeads = 2, kWidth = 40, kValueWidth = 24;

using Results = std::vector<std::vector<std::byte>>;  // out, max, sum, dq, dk, dv

/// Sequences one after another, or a single one as a batch of one.
struct Operands {
  int64_t rows, keys;
  aclDataType dtype;
  Doubles q, k, v, dy;
};

/// The numbers of the n rows from one on, of so many numbers each.
Doubles Part(const Doubles& all, int64_t first, int64_t n, int64_t row) {
  return {all.begin() + first * row, all.begin() + (first + n) * row};
}

/// The results of a call: packed sequences if there are ends, else one batch in layout BSND.
Results ResultsOf(const Device& device, const Operands& x, int64_t mode, const Dims& row_ends,
                  const Dims& key_ends) {
  const bool packed = !row_ends.empty();
  const auto dims = [&](int64_t rows, int64_t heads, int64_t width) {
    return packed ? Dims{rows, heads, width} : Dims{1, rows, heads, width};
  };
  const Dims q_dims = dims(x.rows, kHeads, kWidth), k_dims = dims(x.keys, kKvHeads, kWidth),
             v_dims = dims(x.keys, kKvHeads, kValueWidth),
             out_dims = dims(x.rows, kHeads, kValueWidth),
             sums = packed ? Dims{x.rows, kHeads, 8} : Dims{1, kHeads, x.rows, 8};
  const DeviceTensor q = Make(x.dtype, q_dims, x.q), k = Make(x.dtype, k_dims, x.k),
                     v = Make(x.dtype, v_dims, x.v), dy = Make(x.dtype, out_dims, x.dy);
  const auto room = [](aclDataType dtype, const Dims& of) {
    return DeviceTensor(dtype, DenseLayout(of));
  };
  const DeviceTensor out = room(x.dtype, out_dims), max = room(ACL_FLOAT, sums),
                     sum = room(ACL_FLOAT, sums), dq = room(x.dtype, q_dims),
                     dk = room(x.dtype, k_dims), dv = room(x.dtype, v_dims),
                     mask = room(ACL_BOOL, {2048, 2048});
  const aclTensor* const hides = mode == 0 ? nullptr : mask.handle();
  const IntListHandle of_rows({row_ends}), of_keys({key_ends});
  char tnd[] = "TND", bsnd[] = "BSND";
  if (packed) {
    EXPECT_RUN(device, FlashAttentionVarLenScore, q.handle(), k.handle(), v.handle(), nullptr,
               nullptr, nullptr, hides, nullptr, of_rows.get(), of_keys.get(), 0.25, 1.0, 9, 9,
               kHeads, tnd, 0, mode, Handle(max), Handle(sum), nullptr, Handle(out));
    EXPECT_RUN(device, FlashAttentionUnpaddingScoreGrad, q.handle(), k.handle(), v.handle(),
               dy.handle(), nullptr, nullptr, nullptr, hides, max.handle(), sum.handle(), nullptr,
               out.handle(), nullptr, of_rows.get(), of_keys.get(), 0.25, 1.0, 9, 9, kHeads, tnd, 0,
               mode, Handle(dq), Handle(dk), Handle(dv), nullptr);
  } else {
    EXPECT_RUN(device, FlashAttentionScore, q.handle(), k.handle(), v.handle(), nullptr, nullptr,
               nullptr, hides, nullptr, 0.25, 1.0, 9, 9, kHeads, bsnd, 0, mode, Handle(max),
               Handle(sum), nullptr, Handle(out));
    EXPECT_RUN(device, FlashAttentionScoreGrad, q.handle(), k.handle(), v.handle(), dy.handle(),
               nullptr, nullptr, nullptr, hides, max.handle(), sum.handle(), nullptr, out.handle(),
               nullptr, 0.25, 1.0, 9, 9, kHeads, bsnd, 0, mode, Handle(dq), Handle(dk), Handle(dv),
               nullptr);
  }
  return {out.Read(), max.Read(), sum.Read(), dq.Read(), dk.Read(), dv.Read()};
}

Operands Draw(Random& random, int64_t rows, int64_t keys, aclDataType dtype) {
  const auto draw = [&](int64_t count) { return Held(dtype, RealValues(random, count)); };
  return {rows,
          keys,
          dtype,
          draw(rows * kHeads * kWidth),
          draw(keys * kKvHeads * kWidth),
          draw(keys * kKvHeads * kValueWidth),
          draw(rows * kHeads * kValueWidth)};
}

// Lengths below, at and above those of tiles and blocks.
const Dims kRows = {1, 70, 0, 130, 16, 33}, kKeys = {300, 70, 5, 129, 1, 128};

Dims EndsOf(const Dims& lengths) {
  Dims ends;
  for (const int64_t length : lengths) ends.push_back((ends.empty() ? 0 : ends.back()) + length);
  return ends;
}

TEST(PackedBits, SequencesAloneAndTogether) {
  const Device device;
  Random random(81);
  const Dims row_ends = EndsOf(kRows), key_ends = EndsOf(kKeys);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16}) {
    const Operands all = Draw(random, row_ends.back(), key_ends.back(), dtype);
    for (const int64_t mode : {0, 2}) {
      SCOPED_TRACE(testing::Message() << dtype << " in mode " << mode);
      const Results together = ResultsOf(device, all, mode, row_ends, key_ends);
      int64_t row = 0, key = 0;
      for (size_t s = 0; s < kRows.size(); row += kRows[s], key += kKeys[s], ++s) {
        SCOPED_TRACE(s);
        const Operands one = {kRows[s],
                              kKeys[s],
                              dtype,
                              Part(all.q, row, kRows[s], kHeads * kWidth),
                              Part(all.k, key, kKeys[s], kKvHeads * kWidth),
                              Part(all.v, key, kKeys[s], kKvHeads * kValueWidth),
                              Part(all.dy, row, kRows[s], kHeads * kValueWidth)};
        const Results alone = ResultsOf(device, one, mode, {}, {});
        const Dims firsts = {row, row, row, row, key, key};
        const Dims counts = {row_ends.back(), row_ends.back(), row_ends.back(),
                             row_ends.back(), key_ends.back(), key_ends.back()};
        for (size_t i = 0; i < alone.size(); ++i) {
          const auto bytes = static_cast<int64_t>(together[i].size()) / counts[i];
          const auto begin = together[i].begin() + firsts[i] * bytes;
          EXPECT_TRUE(std::equal(alone[i].begin(), alone[i].end(), begin)) << "output " << i;
        }
      }
    }
  }
}

TEST(PackedBits, ThreadsAndInstructionSets) {
  const Dims row_ends = EndsOf(kRows), key_ends = EndsOf(kKeys);
  Random random(82);
  const Operands all = Draw(random, row_ends.back(), key_ends.back(), ACL_FLOAT);
  Results first, baseline;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    SCOPED_TRACE(setting);
    auto& expected = IsFused(setting) ? first : baseline;
    const Results results = ResultsOf(device, all, 3, row_ends, key_ends);
    if (expected.empty()) expected = results;
    EXPECT_TRUE(results == expected);
  });
}

}  // namespace
}  // namespace openaclnn::test
