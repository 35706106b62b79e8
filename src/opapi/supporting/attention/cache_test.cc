// SPDX-License-Identifier: Apache-2.0
// FusedInferAttentionScoreV3: caches in blocks, lengths, packed sequences and ropes give the bits
// of the same keys that lie one behind the other.
#include <cmath>
#include <numeric>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

using Lengths = std::vector<int64_t>;

struct Serve {
  const DeviceTensor &query, &key, &value, &out;
  int64_t heads = 4, kv_heads = 2, mode = 0, block_size = 0;
  std::string layout = "BNSD";
  Lengths rows = {}, keys = {};
  const aclTensor *mask = nullptr, *table = nullptr, *q_rope = nullptr, *k_rope = nullptr,
                  *sums = nullptr;

  aclnnStatus operator()(uint64_t* size, aclOpExecutor** executor) const {
    const ListHandle key_list({&key}), value_list({&value});
    const IntsHandle row_counts(rows), key_counts(keys);
    const aclTensor* no = nullptr;
    return aclnnFusedInferAttentionScoreV3GetWorkspaceSize(
        query.handle(), key_list.get(), value_list.get(), no, mask, row_counts.get(),
        key_counts.get(), no, no, no, no, no, no, no, table, no, no, no, no, no, no, no, no,
        nullptr, q_rope, k_rope, no, heads, 0.125, 0, 0, const_cast<char*>(layout.c_str()),
        kv_heads, mode, 0, block_size, 0, sums != nullptr, 0, 0, out.handle(), sums, size,
        executor);
  }
  Outcome Run(const Device& device) const {
    return Call(device, aclnnFusedInferAttentionScoreV3, *this);
  }
};

int64_t Count(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

/// Elements of a tensor (a, b, c, d), as those of (a, c, b, d).
Doubles Turned(const Dims& dims, const Doubles& from) {
  Doubles to(from.size());
  size_t at = 0;
  for (int64_t a = 0; a < dims[0]; ++a) {
    for (int64_t c = 0; c < dims[2]; ++c) {
      for (int64_t b = 0; b < dims[1]; ++b) {
        for (int64_t d = 0; d < dims[3]; ++d) {
          const int64_t place = ((a * dims[1] + b) * dims[2] + c) * dims[3] + d;
          to[at++] = from[static_cast<size_t>(place)];
        }
      }
    }
  }
  return to;
}

/// Batches of 4 heads of 2 rows, and 2 heads of 300 keys, 64 wide.
struct Batches {
  explicit Batches(Random& random, aclDataType type = ACL_FLOAT)
      : dtype(type),
        q_values(Held(dtype, RealValues(random, Count(q_dims)))),
        k_values(Held(dtype, RealValues(random, Count(k_dims)))),
        v_values(Held(dtype, RealValues(random, Count(k_dims)))),
        q(Make(dtype, q_dims, q_values)),
        k(Make(dtype, k_dims, k_values)),
        v(Make(dtype, k_dims, v_values)) {}

  std::vector<std::byte> Dense(const Device& device, const Lengths& keys) const {
    const DeviceTensor out(dtype, DenseLayout(q_dims));
    Serve call{q, k, v, out};
    call.keys = keys;
    EXPECT_EQ(call.Run(device).message, "");
    return out.Read();
  }

  aclDataType dtype;
  const Dims q_dims = {2, 4, 2, 64}, k_dims = {2, 2, 300, 64};
  Doubles q_values, k_values, v_values;
  DeviceTensor q, k, v;
};

/// Rows of k or v in blocks of a cache, in the order of a table; blocks that nobody names have NaN.
struct Cache {
  Cache(const Batches& of, const Doubles& values, int64_t size, const Lengths& table, int64_t wide,
        bool heads_apart) {
    const int64_t heads = of.k_dims[1], keys = of.k_dims[2], width = of.k_dims[3];
    const int64_t blocks = 1 + *std::max_element(table.begin(), table.end());
    dims = {blocks, heads, size, width};
    Doubles cells(static_cast<size_t>(Count(dims)), std::nan(""));
    for (int64_t b = 0; b < of.k_dims[0]; ++b) {
      for (int64_t h = 0; h < heads; ++h) {
        for (int64_t key = 0; key < keys; ++key) {
          const int64_t block = table[static_cast<size_t>(b * wide + key / size)];
          const int64_t from = ((b * heads + h) * keys + key) * width;
          const int64_t to = ((block * heads + h) * size + key % size) * width;
          std::copy_n(values.begin() + from, width, cells.begin() + to);
        }
      }
    }
    if (heads_apart) {
      tensor = std::make_unique<DeviceTensor>(Make(of.dtype, dims, cells));
    } else {
      tensor = std::make_unique<DeviceTensor>(
          Make(of.dtype, {blocks, size, heads * width}, Turned(dims, cells)));
    }
  }
  Dims dims;
  std::unique_ptr<DeviceTensor> tensor;
};

/// Every other block, from the last one on.
Lengths TableOf(int64_t entries) {
  Lengths table;
  for (int64_t i = 0; i < entries; ++i) table.push_back(2 * (entries - 1 - i));
  return table;
}

// Blocks of less than a tile, of one, of more; rows of blocks that do not divide a tile.
TEST(FusedInferCache, BlocksHaveTheBitsOfKeysInARow) {
  const Device device;
  Random random(3);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    const Batches of(random, dtype);
    const Lengths keys = {300, 129};
    const auto want = of.Dense(device, keys);
    for (const int64_t size : {16, 48, 128, 160, 512}) {
      for (const bool heads_apart : {false, true}) {
        SCOPED_TRACE(testing::Message() << dtype << ", blocks of " << size << ", " << heads_apart);
        const int64_t wide = (300 + size - 1) / size;
        const Lengths names = TableOf(2 * wide);
        const Cache k(of, of.k_values, size, names, wide, heads_apart),
            v(of, of.v_values, size, names, wide, heads_apart);
        const DeviceTensor table = Make(ACL_INT32, {2, wide}, Doubles(names.begin(), names.end())),
                           out(dtype, DenseLayout(of.q_dims));
        Serve call{of.q, *k.tensor, *v.tensor, out};
        call.keys = keys, call.table = table.handle(), call.block_size = size;
        EXPECT_EQ(call.Run(device).message, "");
        EXPECT_EQ(out.Read(), want);
      }
    }
  }
}

TEST(FusedInferCache, TablesThatNameNoBlock) {
  const Device device;
  const DeviceTensor q = Floats({1, 4, 1, 64}, Doubles(256, 0.0)),
                     k = Floats({3, 16, 128}, Doubles(6144, 1.0)), out = EmptyFloats({1, 4, 1, 64});
  for (const auto& [entry, good] : {std::pair<double, bool>{2, true}, {3, false}, {-1, false}}) {
    const DeviceTensor table = Make(ACL_INT32, {1, 3}, {0, entry, 77});  // the last is not reached
    Serve call{q, k, k, out};
    call.keys = {32}, call.table = table.handle(), call.block_size = 16;
    const Outcome outcome = call.Run(device);
    EXPECT_EQ(outcome.code, good ? 0 : 507035) << entry;
    if (!good) {
      EXPECT_NE(outcome.message.find("blockTable value (0, 1) is "), std::string::npos)
          << outcome.message;
    }
  }
  const DeviceTensor table = Make(ACL_INT32, {1, 2}, {0, 1});
  Serve call{q, k, k, out};
  call.table = table.handle(), call.block_size = 16;
  Refused(161002, "actualSeqLengthsKvOptional size is 0, expected the keys of each batch", call);
  call.keys = {33};
  Refused(161002, "actualSeqLengthsKvOptional value 0 is 33, expected 0 to 32", call);
  call.keys = {32}, call.block_size = 128;
  Refused(161002, "blockSize value is 128, expected 16", call);
}

// Packed rows of the query over packed keys, and over a cache: as each sequence alone.
TEST(FusedInferCache, PackedSequencesHaveTheBitsOfEachAlone) {
  const Device device;
  Random random(5);
  const Lengths rows = {3, 0, 70, 1}, keys = {200, 5, 300, 1};
  const int64_t width = 64, all_rows = 76, all_keys = 506;  // two rows belong to no sequence
  const Doubles q_values = Held(ACL_FLOAT, RealValues(random, all_rows * 4 * width)),
                k_values = Held(ACL_FLOAT, RealValues(random, all_keys * 2 * width)),
                v_values = Held(ACL_FLOAT, RealValues(random, all_keys * 2 * width));
  const DeviceTensor mask = Make(ACL_BOOL, {2048, 2048}, Doubles(2048 * 2048, 0.0));
  const auto part = [&](const Doubles& from, int64_t heads, int64_t first, int64_t count) {
    const auto begin = from.begin() + first * heads * width;
    return Floats({1, count, heads, width}, Doubles(begin, begin + count * heads * width));
  };
  Doubles want, want_sums;
  Lengths row_ends, key_ends;
  int64_t row = 0, key = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const DeviceTensor q = part(q_values, 4, row, rows[i]), k = part(k_values, 2, key, keys[i]),
                       v = part(v_values, 2, key, keys[i]),
                       out = EmptyFloats({1, rows[i], 4, width}),
                       sums = EmptyFloats({1, 4, rows[i], 1});
    Serve call{q, k, v, out};
    call.layout = "BSND", call.mask = mask.handle(), call.mode = 3;
    call.sums = sums.handle();
    EXPECT_EQ(call.Run(device).message, "") << i;
    const Doubles got = ValuesOf(out), logs = Turned({1, 4, rows[i], 1}, ValuesOf(sums));
    want.insert(want.end(), got.begin(), got.end());
    want_sums.insert(want_sums.end(), logs.begin(), logs.end());
    row_ends.push_back(row += rows[i]), key_ends.push_back(key += keys[i]);
  }
  want.insert(want.end(), 2 * 4 * width, 0.0);
  want_sums.insert(want_sums.end(), 2 * 4, -HUGE_VAL);
  const DeviceTensor q = Floats({all_rows, 4, width}, q_values),
                     k = Floats({all_keys, 2, width}, k_values),
                     v = Floats({all_keys, 2, width}, v_values),
                     out = EmptyFloats({all_rows, 4, width}), sums = EmptyFloats({all_rows, 4, 1});
  Serve call{q, k, v, out};
  call.layout = "TND", call.mask = mask.handle(), call.mode = 3;
  call.rows = row_ends, call.keys = key_ends, call.sums = sums.handle();
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(out), want);
  EXPECT_EQ(ValuesOf(sums), want_sums);
  call.rows = {};
  Refused(161002, "actualSeqLengthsOptional value is [], expected the ends of sequences in query",
          call);
  call.rows = {3, 2, 73, 74};
  Refused(
      161002,
      "actualSeqLengthsOptional value is [3, 2, 73, 74], expected the ends of sequences in query",
      call);
}

// A prompt at once, in pieces, and its rows one by one over the keys so far.
TEST(FusedInferCache, PromptsInPieces) {
  const Device device;
  Random random(7);
  const int64_t length = 150, width = 64;
  const Doubles q_values = Held(ACL_FLOAT, RealValues(random, length * 4 * width)),
                k_values = Held(ACL_FLOAT, RealValues(random, length * 2 * width)),
                v_values = Held(ACL_FLOAT, RealValues(random, length * 2 * width));
  const DeviceTensor mask = Make(ACL_BOOL, {2048, 2048}, Doubles(2048 * 2048, 0.0)),
                     k = Floats({length, 2, width}, k_values),
                     v = Floats({length, 2, width}, v_values);
  const auto in_pieces = [&](int64_t piece) {
    Doubles results;
    for (int64_t first = 0; first < length; first += piece) {
      const int64_t count = std::min(piece, length - first);
      const auto begin = q_values.begin() + first * 4 * width;
      const DeviceTensor q = Floats({count, 4, width}, Doubles(begin, begin + count * 4 * width)),
                         out = EmptyFloats({count, 4, width});
      Serve call{q, k, v, out};
      call.layout = "TND", call.mask = mask.handle(), call.mode = 3;
      call.rows = {count}, call.keys = {first + count};
      EXPECT_EQ(call.Run(device).message, "");
      const Doubles got = ValuesOf(out);
      results.insert(results.end(), got.begin(), got.end());
    }
    return results;
  };
  const Doubles whole = in_pieces(length);
  EXPECT_EQ(in_pieces(64), whole);
  EXPECT_EQ(in_pieces(7), whole);
  EXPECT_EQ(in_pieces(1), whole);
}

// Rows of a batch that do not count become 0; so do those that see no key.
TEST(FusedInferCache, RowsBehindTheLengths) {
  const Device device;
  const DeviceTensor q = Floats({2, 3, 1, 1}, Doubles(6, 0.0)),
                     k = Floats({2, 2, 1, 1}, Doubles(4, 0.0)),
                     v = Floats({2, 2, 1, 1}, {1, 3, 5, 9}), out = EmptyFloats({2, 3, 1, 1}),
                     sums = EmptyFloats({2, 1, 3, 1});
  Serve call{q, k, v, out};
  call.heads = call.kv_heads = 1, call.layout = "BSND", call.sums = sums.handle();
  call.rows = {2, 3}, call.keys = {2, 0};
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(out), (Doubles{2, 2, 0, 0, 0, 0}));
  const double none = -HUGE_VAL;
  ExpectNear(ValuesOf(sums), Doubles{std::log(2), std::log(2), none, none, none, none}, ACL_FLOAT,
             1e-6);
}

// Elements of ropes stand behind those of the rows, in a cache as well.
TEST(FusedInferCache, RopesAreTheLastElementsOfRows) {
  const Device device;
  Random random(9);
  const int64_t rows = 5, keys = 140, own = 128, rope = 64;
  const auto draw = [&](int64_t count, int64_t width) {
    return Held(ACL_BF16, RealValues(random, count * width));
  };
  const Doubles q = draw(4 * rows, own), q_rope = draw(4 * rows, rope), k = draw(keys, own),
                k_rope = draw(keys, rope), v = draw(keys, own);
  const auto beside = [&](const Doubles& a, const Doubles& b, int64_t count) {
    Doubles both;
    for (int64_t i = 0; i < count; ++i) {
      both.insert(both.end(), a.begin() + i * own, a.begin() + (i + 1) * own);
      both.insert(both.end(), b.begin() + i * rope, b.begin() + (i + 1) * rope);
    }
    return both;
  };
  const DeviceTensor wide_q = Make(ACL_BF16, {1, 4, rows, own + rope}, beside(q, q_rope, 4 * rows)),
                     wide_k = Make(ACL_BF16, {1, 1, keys, own + rope}, beside(k, k_rope, keys)),
                     values = Make(ACL_BF16, {1, 1, keys, own}, v),
                     want(ACL_BF16, DenseLayout({1, 4, rows, own}));
  Serve whole{wide_q, wide_k, values, want};
  whole.kv_heads = 1;
  EXPECT_EQ(whole.Run(device).message, "");
  const DeviceTensor own_q = Make(ACL_BF16, {1, 4, rows, own}, q),
                     own_k = Make(ACL_BF16, {1, 1, keys, own}, k),
                     rope_q = Make(ACL_BF16, {1, 4, rows, rope}, q_rope),
                     rope_k = Make(ACL_BF16, {1, 1, keys, rope}, k_rope),
                     out(ACL_BF16, DenseLayout({1, 4, rows, own}));
  Serve apart{own_q, own_k, values, out};
  apart.kv_heads = 1, apart.q_rope = rope_q.handle(), apart.k_rope = rope_k.handle();
  EXPECT_EQ(apart.Run(device).message, "");
  EXPECT_EQ(out.Read(), want.Read());
  apart.k_rope = nullptr;
  Refused(161002, "keyRopeOptional value is null, expected what queryRopeOptional is", apart);
}

TEST(FusedInferCache, LayoutsOfResults) {
  const Device device;
  Random random(11);
  const Batches of(random);
  const DeviceTensor plain = EmptyFloats(of.q_dims);
  Serve call{of.q, of.k, of.v, plain};
  EXPECT_EQ(call.Run(device).message, "");
  const DeviceTensor turned = EmptyFloats({2, 2, 4, 64});
  Serve other{of.q, of.k, of.v, turned};
  other.layout = "BNSD_BSND";
  EXPECT_EQ(other.Run(device).message, "");
  EXPECT_EQ(ValuesOf(turned), Turned(of.q_dims, ValuesOf(plain)));
  other.layout = "BSH_BSND";
  Refused(161002, "inputLayout value is 'BSH_BSND', expected BNSD, BSND, BSH", other);
}

}  // namespace
}  // namespace openaclnn::test
