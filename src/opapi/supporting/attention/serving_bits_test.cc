// SPDX-License-Identifier: Apache-2.0
// FusedInferAttentionScoreV4: a row of a sequence has the same bits whether the prompt comes at
// once, in chunks or token by token, whether keys lie in a row or in blocks of a cache, whatever
// other sequences are in the batch, and for any number of threads and instruction set.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kHeads = 4, kKvHeads = 2, kWidth = 40;

using Lengths = std::vector<int64_t>;
using Bits = std::vector<std::byte>;

/// A sequence: rows of all heads, (heads, rows, kWidth) of the query and (kKvHeads, rows, kWidth).
struct Sequence {
  Sequence(Random& random, aclDataType type, int64_t count) : dtype(type), rows(count) {
    const auto draw = [&](int64_t heads) {
      return Held(dtype, RealValues(random, heads * rows * kWidth));
    };
    q = draw(kHeads), k = draw(kKvHeads), v = draw(kKvHeads);
  }

  aclDataType dtype;
  int64_t rows;
  Doubles q, k, v;
};

/// Elements [begin, begin + count) of those of each head.
template <class Numbers>
Numbers Part(const Numbers& all, int64_t heads, int64_t begin, int64_t count) {
  const auto each = static_cast<int64_t>(all.size()) / heads;
  Numbers part;
  for (int64_t h = 0; h < heads; ++h) {
    const auto from = all.begin() + h * each + begin;
    part.insert(part.end(), from, from + count);
  }
  return part;
}
/// Rows [begin, begin + count) of (heads, rows, kWidth).
Doubles RowsOf(const Doubles& all, int64_t heads, int64_t begin, int64_t count) {
  return Part(all, heads, begin * kWidth, count * kWidth);
}

/// Results of a call: the weighted sums and the logs of its sums, of each batch (heads, rows, …).
struct Results {
  Bits out, sums;
  bool operator==(const Results&) const = default;

  /// Those of rows [begin, begin + count) of one batch of so many rows.
  Results RowsOf(int64_t rows, int64_t begin, int64_t count) const {
    const auto of = [&](const Bits& bits) {
      const auto bytes = static_cast<int64_t>(bits.size()) / (kHeads * rows);
      return Part(bits, kHeads, begin * bytes, count * bytes);
    };
    return {of(out), of(sums)};
  }
  Results Batch(int64_t number, int64_t batches) const {
    const auto of = [&](const Bits& bits) {
      const auto bytes = static_cast<int64_t>(bits.size()) / batches;
      return Bits(bits.begin() + number * bytes, bits.begin() + (number + 1) * bytes);
    };
    return {of(out), of(sums)};
  }
};

/// Keys or values in blocks, from the last block on in steps of 3, so that no two neighbours of a
/// sequence are neighbours in the cache.
struct Pages {
  Pages(int64_t block_rows, int64_t block_count) : rows(block_rows), blocks(block_count) {}

  int64_t Take() { return (7 + 3 * taken++) % blocks; }

  int64_t rows, blocks, taken = 0;
};

/// A call: `rows` of each batch in one query, and as many keys of each as `counts` says.
class Serving {
 public:
  Serving(const Device& device, aclDataType dtype, int64_t rows)
      : device_(device), dtype_(dtype), rows_(rows) {}

  /// Adds a batch: rows [begin, begin + rows) of a sequence, which see the keys up to their own.
  void Add(const Sequence& of, int64_t begin) {
    const Doubles q = RowsOf(of.q, kHeads, begin, rows_);
    q_.insert(q_.end(), q.begin(), q.end());
    counts_.push_back(begin + rows_);
    sequences_.push_back(&of);
  }

  /// Keys lie in a row, with rows behind those that count.
  Results Dense() const {
    const int64_t longest = Longest() + 3;
    const auto joined = [&](Doubles Sequence::*of) {
      Doubles all;
      for (size_t b = 0; b < sequences_.size(); ++b) {
        for (int64_t h = 0; h < kKvHeads; ++h) {
          const auto from = (sequences_[b]->*of).begin() + h * sequences_[b]->rows * kWidth;
          all.insert(all.end(), from, from + counts_[b] * kWidth);
          all.insert(all.end(), static_cast<size_t>((longest - counts_[b]) * kWidth), kUnread);
        }
      }
      return Make(dtype_, {Batches(), kKvHeads, longest, kWidth}, all);
    };
    return Run(joined(&Sequence::k), joined(&Sequence::v), nullptr, 0);
  }

  /// Keys lie in blocks of a cache, (blocks, heads, block_rows, kWidth) or, if all heads of a row
  /// are neighbours, (blocks, block_rows, heads * kWidth).
  Results Paged(int64_t block_rows, bool by_rows) const {
    const int64_t wide = (Longest() + block_rows - 1) / block_rows, cells = wide * Batches();
    const int64_t blocks = cells % 3 == 0 ? cells + 1 : cells;  // all are met in steps of 3
    Doubles table, k(static_cast<size_t>(blocks * kKvHeads * block_rows * kWidth), kUnread), v = k;
    Pages pages(block_rows, blocks);
    for (size_t b = 0; b < sequences_.size(); ++b) {
      for (int64_t first = 0; first < wide * block_rows; first += block_rows) {
        const int64_t block = pages.Take();
        table.push_back(static_cast<double>(block));
        for (int64_t j = first; j < std::min(first + block_rows, counts_[b]); ++j) {
          for (int64_t h = 0; h < kKvHeads; ++h) {
            const int64_t row = j - first;
            const int64_t to = by_rows ? (block * block_rows + row) * kKvHeads + h
                                       : (block * kKvHeads + h) * block_rows + row;
            const int64_t from = h * sequences_[b]->rows + j;
            std::copy_n(sequences_[b]->k.begin() + from * kWidth, kWidth, k.begin() + to * kWidth);
            std::copy_n(sequences_[b]->v.begin() + from * kWidth, kWidth, v.begin() + to * kWidth);
          }
        }
      }
    }
    const Dims dims = by_rows ? Dims{blocks, block_rows, kKvHeads * kWidth}
                              : Dims{blocks, kKvHeads, block_rows, kWidth};
    const DeviceTensor entries = Make(ACL_INT32, {Batches(), wide}, table);
    return Run(Make(dtype_, dims, k), Make(dtype_, dims, v), entries.handle(), block_rows);
  }

 private:
  static constexpr double kUnread = 9;  // a key that a call must not see

  int64_t Batches() const { return static_cast<int64_t>(sequences_.size()); }
  int64_t Longest() const { return *std::max_element(counts_.begin(), counts_.end()); }

  Results Run(const DeviceTensor& k, const DeviceTensor& v, const aclTensor* table,
              int64_t block_rows) const {
    const Dims dims = {Batches(), kHeads, rows_, kWidth};
    const DeviceTensor q = Make(dtype_, dims, q_), out(dtype_, DenseLayout(dims)),
                       sums(ACL_FLOAT, DenseLayout({Batches(), kHeads, rows_, 1})),
                       mask(ACL_BOOL, DenseLayout({2048, 2048}));
    const ListHandle keys({&k}), values({&v});
    const IntsHandle counts(counts_);
    const aclTensor* const no = nullptr;
    char layout[] = "BNSD";
    const auto plan = [&](uint64_t* size, aclOpExecutor** executor) {
      return aclnnFusedInferAttentionScoreV4GetWorkspaceSize(
          q.handle(), keys.get(), values.get(), no, mask.handle(), nullptr, counts.get(), no, no,
          no, no, no, no, no, table, no, no, no, no, no, no, no, no, nullptr, no, no, no, no, no,
          kHeads, 0.25, 0, 0, layout, kKvHeads, 3, 0, block_rows, 0, true, 0, 0, 0, out.handle(),
          sums.handle(), size, executor);
    };
    EXPECT_EQ(Call(device_, aclnnFusedInferAttentionScoreV4, plan).message, "");
    return {out.Read(), sums.Read()};
  }

  const Device& device_;
  aclDataType dtype_;
  int64_t rows_;
  Doubles q_;
  Lengths counts_;
  std::vector<const Sequence*> sequences_;
};

/// The rows [begin, begin + count) of a sequence, in a call of their own.
Serving Alone(const Device& device, const Sequence& of, int64_t begin, int64_t count) {
  Serving call(device, of.dtype, count);
  call.Add(of, begin);
  return call;
}

/// The formula in double: softmax(0.25 q k^T) v of the keys up to the row's own.
Doubles Exact(const Sequence& of) {
  Doubles out;
  for (int64_t h = 0; h < kHeads; ++h) {
    const double *k = of.k.data() + h / 2 * of.rows * kWidth,
                 *v = of.v.data() + h / 2 * of.rows * kWidth;
    for (int64_t i = 0; i < of.rows; ++i) {
      const double* const q = of.q.data() + (h * of.rows + i) * kWidth;
      Doubles row(static_cast<size_t>(kWidth));
      double sum = 0;
      for (int64_t j = 0; j <= i; ++j) {
        const double weight =
            std::exp(0.25 * std::inner_product(q, q + kWidth, k + j * kWidth, 0.0));
        sum += weight;
        for (int64_t d = 0; d < kWidth; ++d) {
          row[static_cast<size_t>(d)] += weight * v[j * kWidth + d];
        }
      }
      for (const double each : row) out.push_back(each / sum);
    }
  }
  return out;
}

constexpr aclDataType kTypes[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

TEST(ServingBits, APromptIsWhatTheFormulaSays) {
  const Device device;
  Random random(61);
  for (const aclDataType dtype : kTypes) {
    const Sequence of(random, dtype, 150);
    const Results got = Alone(device, of, 0, of.rows).Dense();
    const double bound = dtype == ACL_FLOAT ? 1e-5 : dtype == ACL_FLOAT16 ? 1e-3 : 1e-2;
    ExpectNear(ToDoubles(dtype, got.out), Exact(of), dtype, 0, bound);
  }
}

TEST(ServingBits, PrefillAndDecode) {
  const Device device;
  Random random(62);
  for (const aclDataType dtype : kTypes) {
    SCOPED_TRACE(dtype);
    const Sequence of(random, dtype, 270);
    const Results prompt = Alone(device, of, 0, of.rows).Dense();
    for (int64_t row = 0; row < of.rows; ++row) {
      const Results token = Alone(device, of, row, 1).Dense();
      ASSERT_TRUE(token == prompt.RowsOf(of.rows, row, 1)) << "row " << row;
    }
  }
}

TEST(ServingBits, AnyChunksOfThePrompt) {
  const Device device;
  Random random(63);
  for (const aclDataType dtype : kTypes) {
    SCOPED_TRACE(dtype);
    const Sequence of(random, dtype, 401);
    const Results prompt = Alone(device, of, 0, of.rows).Dense();
    for (const int64_t chunk : {7, 64, 100, 128, 256, 400}) {
      SCOPED_TRACE(testing::Message() << "chunks of " << chunk);
      for (int64_t begin = 0; begin < of.rows; begin += chunk) {
        const int64_t count = std::min(chunk, of.rows - begin);
        const Results part = Alone(device, of, begin, count).Dense();
        ASSERT_TRUE(part == prompt.RowsOf(of.rows, begin, count)) << "rows from " << begin;
      }
    }
  }
}

TEST(ServingBits, KeysInARowAndInBlocks) {
  const Device device;
  Random random(64);
  for (const aclDataType dtype : kTypes) {
    SCOPED_TRACE(dtype);
    const Sequence of(random, dtype, 300);
    for (const auto& [begin, count] :
         std::vector<std::pair<int64_t, int64_t>>{{0, 300}, {130, 70}, {299, 1}, {17, 1}}) {
      SCOPED_TRACE(testing::Message() << count << " rows from " << begin);
      const Serving call = Alone(device, of, begin, count);
      const Results dense = call.Dense();
      for (const int64_t block_rows : {16, 48, 128, 256}) {
        EXPECT_TRUE(call.Paged(block_rows, false) == dense) << block_rows;
        EXPECT_TRUE(call.Paged(block_rows, true) == dense) << block_rows;
      }
    }
  }
}

// Sequences of other lengths are in the batch, and one is there twice.
TEST(ServingBits, OneOfManyAndAlone) {
  const Device device;
  Random random(65);
  for (const aclDataType dtype : kTypes) {
    SCOPED_TRACE(dtype);
    const Sequence a(random, dtype, 290), b(random, dtype, 131), c(random, dtype, 20);
    for (const int64_t rows : {1, 5, 20}) {
      SCOPED_TRACE(testing::Message() << rows << " rows");
      Serving call(device, dtype, rows);
      const std::vector<const Sequence*> sequences = {&a, &b, &c, &b};
      for (const Sequence* each : sequences) call.Add(*each, each->rows - rows);
      const Results dense = call.Dense(), paged = call.Paged(32, true);
      for (size_t i = 0; i < sequences.size(); ++i) {
        const Sequence& of = *sequences[i];
        const Results alone = Alone(device, of, of.rows - rows, rows).Dense();
        EXPECT_TRUE(dense.Batch(static_cast<int64_t>(i), 4) == alone) << i;
        EXPECT_TRUE(paged.Batch(static_cast<int64_t>(i), 4) == alone) << i;
      }
    }
  }
}

TEST(ServingBits, ThreadsAndInstructionSets) {
  for (const aclDataType dtype : kTypes) {
    SCOPED_TRACE(dtype);
    Random random(66);
    const Sequence of(random, dtype, 300), other(random, dtype, 140);
    std::vector<Results> fused, baseline;
    UnderEachSetting([&](const std::string& setting, const Device& device) {
      SCOPED_TRACE(setting);
      Serving tokens(device, dtype, 1);
      tokens.Add(of, 299), tokens.Add(other, 139);
      const std::vector<Results> results = {Alone(device, of, 0, 300).Dense(),
                                            Alone(device, of, 290, 3).Paged(16, true),
                                            tokens.Dense(), tokens.Paged(128, false)};
      auto& expected = IsFused(setting) ? fused : baseline;
      if (expected.empty()) expected = results;
      EXPECT_TRUE(results == expected);
    });
  }
}

}  // namespace
}  // namespace openaclnn::test
