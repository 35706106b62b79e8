// SPDX-License-Identifier: Apache-2.0
// LightningIndexer and SparseFlashAttention: which keys are chosen, and that chosen keys give the
// bits of the same keys in a row.
#include <cmath>
#include <limits>
#include <numeric>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

struct Index {
  const DeviceTensor &query, &key, &weights, &chosen, &values;
  int64_t count, mode = 3, before = INT64_MAX;
  std::string q_layout = "BSND", k_layout = "BSND";
  const aclTensor *rows = nullptr, *keys = nullptr, *table = nullptr;
  bool asks = true;

  aclnnStatus operator()(uint64_t* size, aclOpExecutor** executor) const {
    return aclnnLightningIndexerGetWorkspaceSize(
        query.handle(), key.handle(), weights.handle(), rows, keys, table,
        const_cast<char*>(q_layout.c_str()), const_cast<char*>(k_layout.c_str()), count, mode,
        before, INT64_MAX, asks, chosen.handle(), values.handle(), size, executor);
  }
  Outcome Run(const Device& device) const { return Call(device, aclnnLightningIndexer, *this); }
};

struct Attend {
  const DeviceTensor &query, &key, &value, &chosen, &q_rope, &k_rope, &out, &none;
  int64_t block_size = 1, mode = 3, attention_mode = 2;
  std::string q_layout = "BSND", k_layout = "BSND";
  const aclTensor *rows = nullptr, *keys = nullptr, *table = nullptr, *max = nullptr,
                  *sum = nullptr;

  aclnnStatus operator()(uint64_t* size, aclOpExecutor** executor) const {
    return aclnnSparseFlashAttentionGetWorkspaceSize(
        query.handle(), key.handle(), value.handle(), chosen.handle(), table, rows, keys,
        q_rope.handle(), k_rope.handle(), 0.125, block_size, const_cast<char*>(q_layout.c_str()),
        const_cast<char*>(k_layout.c_str()), mode, INT64_MAX, INT64_MAX, attention_mode,
        max != nullptr, out.handle(), max == nullptr ? none.handle() : max,
        sum == nullptr ? none.handle() : sum, size, executor);
  }
  Outcome Run(const Device& device) const { return Call(device, aclnnSparseFlashAttention, *this); }
};

DeviceTensor Halves(const Dims& dims, const Doubles& values) {
  return Make(ACL_FLOAT16, dims, values);
}

Doubles Reals(Random& random, const Dims& dims) {
  return RealValues(random,
                    std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()));
}

DeviceTensor Ints(const Doubles& values) {
  return Make(ACL_INT32, {static_cast<int64_t>(values.size())}, values);
}

// One head of width 1: the sums are those of the keys, times a weight.
TEST(LightningIndexer, ChoosesTheLargestSumsOfKeysThatARowSees) {
  const Device device;
  const DeviceTensor q = Halves({1, 3, 1, 1}, {1, 1, 1}), w = Halves({1, 3, 1}, {1, 1, -1}),
                     k = Halves({1, 5, 1, 1}, {2, 7, 2, -3, 9}),
                     chosen = Make(ACL_INT32, {1, 3, 1, 4}, Doubles(12, 77)),
                     values = Halves({1, 3, 1, 4}, Doubles(12, 77));
  // The rows see 3, 4 and 5 keys. Of equal sums the first key comes first; -3 counts as 0.
  EXPECT_EQ(Index({q, k, w, chosen, values, 4}).Run(device).message, "");
  EXPECT_EQ(ValuesOf(chosen), (Doubles{1, 0, 2, -1, 1, 0, 2, 3, 3, 0, 2, 1}));
  EXPECT_EQ(ValuesOf(values), (Doubles{7, 2, 2, kNone, 7, 2, 2, 0, 0, -2, -2, -7}));
  Index all{q, k, w, chosen, values, 4};
  all.mode = 0;
  EXPECT_EQ(all.Run(device).message, "");
  EXPECT_EQ(ValuesOf(chosen), (Doubles{4, 1, 0, 2, 4, 1, 0, 2, 3, 0, 2, 1}));
}

TEST(LightningIndexer, RowsThatDoNotCountChooseNothing) {
  const Device device;
  const DeviceTensor q = Halves({2, 2, 1, 1}, {1, 1, 1, 1}), w = Halves({2, 2, 1}, {1, 1, 1, 1}),
                     k = Halves({2, 3, 1, 1}, {1, 2, std::nan(""), 4, 5, 6}),
                     chosen = Make(ACL_INT32, {2, 2, 1, 2}, Doubles(8, 77)), rows = Ints({1, 2}),
                     keys = Ints({3, 0});
  DeviceTensor values = Halves({2, 2, 1, 2}, Doubles(8, 77));
  Index call{q, k, w, chosen, values, 2};
  call.rows = rows.handle(), call.keys = keys.handle();
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(chosen), (Doubles{2, 1, -1, -1, -1, -1, -1, -1}));  // NaN is the largest
  call.asks = false;
  values.Write(ToBytes(ACL_FLOAT16, Doubles(8, 77)));
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(values), Doubles(8, 77));
}

/// Rows and keys of two batches, with ropes; key and value are one tensor.
struct Operands {
  explicit Operands(Random& random)
      : q(Halves(q_dims, Reals(random, q_dims))),
        q_rope(Halves({2, 3, 4, 8}, Reals(random, {2, 3, 4, 8}))),
        k_values(Reals(random, k_dims)),
        r_values(Reals(random, {2, 300, 1, 8})),
        k(Halves(k_dims, k_values)),
        k_rope(Halves({2, 300, 1, 8}, r_values)),
        out(Halves(q_dims, Doubles(2 * 3 * 4 * 64, 77))),
        none(EmptyFloats({0})) {}

  const Dims q_dims = {2, 3, 4, 64}, k_dims = {2, 300, 1, 64};
  DeviceTensor q, q_rope;
  Doubles k_values, r_values;
  DeviceTensor k, k_rope, out, none;
};

// All keys in order: each row has the bits of attention that is not sparse, with its largest scores
// and sums.
TEST(SparseFlashAttention, AllKeysHaveTheBitsOfDenseAttention) {
  const Device device;
  Random random(1);
  const Operands of(random);
  const DeviceTensor mask = Make(ACL_BOOL, {2048, 2048}, Doubles(2048 * 2048, 0.0)),
                     want = Halves(of.q_dims, Doubles(2 * 3 * 4 * 64, 0)),
                     logs = EmptyFloats({2, 4, 3, 1}), max = EmptyFloats({2, 1, 3, 4}),
                     sum = EmptyFloats({2, 1, 3, 4});
  for (const int64_t mode : {0, 3}) {
    const auto dense = [&](uint64_t* size, aclOpExecutor** executor) {
      const ListHandle keys({&of.k});
      const aclTensor* no = nullptr;
      return aclnnFusedInferAttentionScoreV3GetWorkspaceSize(
          of.q.handle(), keys.get(), keys.get(), no, mode == 3 ? mask.handle() : no, nullptr,
          nullptr, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, no, nullptr,
          of.q_rope.handle(), of.k_rope.handle(), no, 4, 0.125, INT64_MAX, INT64_MAX,
          const_cast<char*>("BSND"), 1, mode, 0, 0, 0, true, 0, 0, want.handle(), logs.handle(),
          size, executor);
    };
    EXPECT_EQ(Call(device, aclnnFusedInferAttentionScoreV3, dense).message, "");
    for (const int64_t block : {1, 4}) {
      const int64_t count = 300 / block;
      Doubles entries;
      for (int64_t i = 0; i < 6 * count; ++i) entries.push_back(static_cast<double>(i % count));
      const DeviceTensor chosen = Make(ACL_INT32, {2, 3, 1, count}, entries);
      Attend call{of.q, of.k, of.k, chosen, of.q_rope, of.k_rope, of.out, of.none};
      call.mode = mode, call.block_size = block;
      call.max = max.handle(), call.sum = sum.handle();
      EXPECT_EQ(call.Run(device).message, "");
      EXPECT_EQ(of.out.Read(), want.Read()) << mode << ", blocks of " << block;
      const Doubles tops = ValuesOf(max), sums = ValuesOf(sum), wanted = ValuesOf(logs);
      for (size_t b = 0; b < 2; ++b) {
        for (size_t row = 0; row < 3; ++row) {
          for (size_t h = 0; h < 4; ++h) {
            const size_t at = (b * 3 + row) * 4 + h;
            EXPECT_NEAR(tops[at] + std::log(sums[at]), wanted[(b * 4 + h) * 3 + row], 1e-5);
          }
        }
      }
    }
  }
}

// Packed rows over a cache of shuffled blocks: the bits of batches over keys in a row.
TEST(SparseFlashAttention, CachesHaveTheBitsOfKeysInARow) {
  const Device device;
  Random random(2);
  const Operands of(random);
  Doubles entries(static_cast<size_t>(2 * 3 * 40));
  for (double& entry : entries) entry = static_cast<double>(Uniform(random, -1, 74));
  const DeviceTensor chosen = Make(ACL_INT32, {2, 3, 1, 40}, entries), keys = Ints({300, 299});
  Attend call{of.q, of.k, of.k, chosen, of.q_rope, of.k_rope, of.out, of.none};
  call.block_size = 4, call.keys = keys.handle();
  EXPECT_EQ(call.Run(device).message, "");
  const Doubles want = ValuesOf(of.out);
  const int64_t size = 32, wide = 10;
  const Doubles names = {19, 3, 0, 7, 11, 2, 5, 13, 17, 1, 4, 6, 8, 9, 10, 12, 14, 15, 16, 18};
  const auto cached = [&](const Doubles& from, int64_t width) {
    Doubles cells(static_cast<size_t>(20 * size * width), std::nan(""));
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t key = 0; key < 300; ++key) {
        const auto block = static_cast<int64_t>(names[static_cast<size_t>(b * wide + key / size)]);
        std::copy_n(from.begin() + (b * 300 + key) * width, width,
                    cells.begin() + (block * size + key % size) * width);
      }
    }
    return Halves({20, size, 1, width}, cells);
  };
  const auto turned = [](const DeviceTensor& from, const Dims& dims) {
    return Make(from.dtype(), dims, ValuesOf(from));
  };
  const DeviceTensor q = turned(of.q, {6, 4, 64}), q_rope = turned(of.q_rope, {6, 4, 8}),
                     packed = turned(chosen, {6, 1, 40}), k = cached(of.k_values, 64),
                     k_rope = cached(of.r_values, 8), ends = Ints({3, 6}),
                     table = Make(ACL_INT32, {2, wide}, names),
                     out = Halves({6, 4, 64}, Doubles(6 * 4 * 64, 77));
  Attend paged{q, k, k, packed, q_rope, k_rope, out, of.none};
  paged.block_size = 4, paged.q_layout = "TND", paged.k_layout = "PA_BSND";
  paged.rows = ends.handle(), paged.keys = keys.handle(), paged.table = table.handle();
  EXPECT_EQ(paged.Run(device).message, "");
  EXPECT_EQ(ValuesOf(out), want);
}

TEST(SparseFlashAttention, NumbersInMemoryThatNameNothing) {
  const Device device;
  Random random(3);
  const Operands of(random);
  const auto run = [&](double entry, const Doubles& rows, const Doubles& keys) {
    Doubles entries(12, -1);
    entries[5] = entry;  // entry 1 of row 2 of batch 0
    const DeviceTensor chosen = Make(ACL_INT32, {2, 3, 1, 2}, entries), row_counts = Ints(rows),
                       key_counts = Ints(keys);
    Attend call{of.q, of.k, of.k, chosen, of.q_rope, of.k_rope, of.out, of.none};
    call.rows = row_counts.handle(), call.keys = key_counts.handle();
    return call.Run(device);
  };
  const auto refused = [&](const char* says, const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 507035);
    EXPECT_NE(outcome.message.find(says), std::string::npos) << outcome.message;
  };
  EXPECT_EQ(run(99, {3, 3}, {100, 100}).message, "");
  EXPECT_EQ(run(100, {2, 3}, {100, 100}).message, "");  // the row does not count
  refused("sparseIndices value 1 of row 2 of batch 0 is 100, expected -1 to 99",
          run(100, {3, 3}, {100, 100}));
  refused("sparseIndices value 1 of row 2 of batch 0 is -2", run(-2, {3, 3}, {100, 100}));
  refused("actualSeqLengthsQuery value 1 is 4, expected 0 to 3", run(0, {3, 4}, {9, 9}));
  refused("actualSeqLengthsKv value 0 is -1, expected 0 to 300", run(0, {3, 3}, {-1, 9}));
}

TEST(SparseFlashAttention, RefusesWhatItsPagesDoNotHave) {
  const Device device;
  Random random(4);
  const Operands of(random);
  const DeviceTensor chosen = Make(ACL_INT32, {2, 3, 1, 2}, Doubles(12, 0)),
                     weights = Halves({2, 3, 4}, Doubles(24, 1)),
                     two_heads = Halves({2, 300, 2, 64}, Doubles(2 * 300 * 128, 0)),
                     table = Make(ACL_INT32, {2, 2}, {0, 1, 0, 1});
  const auto attend = [&](const char* says, auto&& change) {
    Attend call{of.q, of.k, of.k, chosen, of.q_rope, of.k_rope, of.out, of.none};
    change(call);
    Refused(161002, says, call);
  };
  attend("sparseBlockSize value is 3, expected a power of 2", [](Attend& c) { c.block_size = 3; });
  attend("sparseBlockSize value is 256, expected", [](Attend& c) { c.block_size = 256; });
  attend("attentionMode value is 0", [](Attend& c) { c.attention_mode = 0; });
  attend("layoutKv value is TND, expected PA_BSND, or BSND as of query",
         [&](Attend& c) { c.k_layout = "TND"; });
  attend("blockTable value is a tensor, expected null as layoutKv is BSND",
         [&](Attend& c) { c.table = table.handle(); });
  attend("actualSeqLengthsKv value is null, expected the keys of each batch",
         [&](Attend& c) { c.table = table.handle(), c.k_layout = "PA_BSND"; });
  Index call{of.q, two_heads, weights, chosen, of.out, 2};
  call.asks = false;
  Refused(161002, "key shape is (2, 300, 2, 64), expected one head", call);
  Index windowed{of.q, of.k, weights, chosen, of.out, 2};
  windowed.asks = false, windowed.before = 5;
  Refused(161002, "preTokens value is 5, expected 9223372036854775807", windowed);
  windowed.before = INT64_MAX, windowed.count = 8193;
  Refused(161002, "sparseCount value is 8193, expected 1 to 8192", windowed);
}

}  // namespace
}  // namespace openaclnn::test
