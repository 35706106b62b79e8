// SPDX-License-Identifier: Apache-2.0
// FusedInferAttentionScoreV4 with INT8 operands and results: the bits of numbers that somebody has
// dequantised, wherever keys lie; every mode of factors; refusals.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "supporting/attention/paged_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kBatches = 2, kHeads = 2, kKeys = 40, kWidth = 32, kRows = 8, kBlocks = 10;

/// The operands of a call in layout BNSD; those that are null are left out.
struct Serve {
  const aclTensor* query;
  const DeviceTensor *key, *value;
  const aclTensor* out;
  const aclTensor *k_scale = nullptr, *k_offset = nullptr, *v_scale = nullptr, *v_offset = nullptr;
  int64_t k_mode = 0, v_mode = 0;
  const aclTensor *both = nullptr, *both_offset = nullptr;
  int64_t both_mode = 0;
  const aclTensor *scores = nullptr, *weights = nullptr, *values = nullptr;
  const aclTensor *out_scale = nullptr, *out_offset = nullptr;
  const aclTensor *table = nullptr, *q_rope = nullptr, *k_rope = nullptr, *q_scale = nullptr;
  int64_t q_mode = 0;
  Lengths rows = {}, keys = {kKeys, kKeys - 3};
  const char* layout = "BNSD";
  bool most = false;  // asks for the workspace of any lengths

  aclnnStatus operator()(uint64_t* size, aclOpExecutor** executor) const {
    const IntsHandle row_counts(rows), key_counts(keys);
    const ListHandle key_list({key}), value_list({value});
    const aclTensor* no = nullptr;
    const auto plan = most ? aclnnFusedInferAttentionScoreV4GetMaxWorkspaceSize
                           : aclnnFusedInferAttentionScoreV4GetWorkspaceSize;
    return plan(query, key_list.get(), value_list.get(), no, no, row_counts.get(), key_counts.get(),
                scores, weights, values, out_scale, out_offset, both, both_offset, table, no, no,
                k_scale, k_offset, v_scale, v_offset, no, no, nullptr, q_rope, k_rope, no, q_scale,
                no, 2 * kHeads, 0.25, 0, 0, const_cast<char*>(layout), kHeads, 0, 0,
                table != nullptr ? kRows : 0, both_mode, false, k_mode, v_mode, q_mode, out, no,
                size, executor);
  }
  Outcome Run(const Device& device) const {
    return Call(device, aclnnFusedInferAttentionScoreV4, *this);
  }
};

/// Random INT8 numbers.
Doubles Wholes(Random& random, int64_t count) { return SmallValues(random, count, -128, 127); }

int64_t Count(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

/// (batch, head, key, element) in blocks of a cache (block, head, row, element), from the last
/// block on, or with groups (block, head, group, row, element of the group).
Doubles InBlocks(const Doubles& from, bool groups) {
  constexpr int64_t kGroup = 32;
  Doubles to(static_cast<size_t>(kBlocks * kHeads * kRows * kWidth), 99);
  for (size_t i = 0; i < from.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t d = at % kWidth, key = at / kWidth % kKeys, h = at / (kWidth * kKeys) % kHeads,
                  b = at / (kWidth * kKeys * kHeads);
    const int64_t block = kBlocks - 1 - (b * kKeys + key) / kRows, row = key % kRows;
    const int64_t in_block =
        groups ? (d / kGroup * kRows + row) * kGroup + d % kGroup : row * kWidth + d;
    to[static_cast<size_t>((block * kHeads + h) * kRows * kWidth + in_block)] = from[i];
  }
  return to;
}

/// Keys and values, and the numbers that they stand for with factors and offsets by `index`.
struct Operands {
  explicit Operands(Random& random)
      : k(Wholes(random, kCount)),
        v(Wholes(random, kCount)),
        q(RealValues(random, 2 * 2 * kHeads * 3 * kWidth)) {}

  template <class Index>
  static Doubles Numbers(const Doubles& from, const Doubles& factors, const Doubles& offsets,
                         const Index& index) {
    Doubles to;
    for (int64_t b = 0; b < kBatches; ++b) {
      for (int64_t h = 0; h < kHeads; ++h) {
        for (int64_t key = 0; key < kKeys; ++key) {
          for (int64_t d = 0; d < kWidth; ++d) {
            const auto at = static_cast<size_t>(index(b, h, key, d));
            const auto moved =
                static_cast<float>(from[to.size()] + (offsets.empty() ? 0 : offsets[at]));
            to.push_back(moved * static_cast<float>(factors[at]));
          }
        }
      }
    }
    return to;
  }

  static constexpr int64_t kCount = kBatches * kHeads * kKeys * kWidth;
  Doubles k, v, q;
};

const Dims kQueryDims = {kBatches, 2 * kHeads, 3, kWidth},
           kKeyDims = {kBatches, kHeads, kKeys, kWidth};

/// Which number of a tensor of factors belongs to a batch, head, key and element.
using Index = std::function<int64_t(int64_t, int64_t, int64_t, int64_t)>;

struct Mode {
  int64_t number;
  Dims dims;
  Index index;
};

std::vector<Mode> Modes() {
  const auto block = [](int64_t b, int64_t key) { return kBlocks - 1 - (b * kKeys + key) / kRows; };
  const Index of_channel = [](auto, auto h, auto, auto d) { return h * kWidth + d; };
  return {
      {0, {1}, [](auto...) { return 0; }},
      {0, {1, kHeads, 1, kWidth}, of_channel},
      {0, {kHeads * kWidth}, of_channel},
      {1, {kBatches, kKeys + 2}, [](auto b, auto, auto j, auto) { return b * (kKeys + 2) + j; }},
      {2, {kHeads}, [](auto, auto h, auto, auto) { return h; }},
      {3,
       {kBatches, kHeads, kKeys},
       [](auto b, auto h, auto j, auto) { return (b * kHeads + h) * kKeys + j; }},
      {4,
       {kBlocks, kRows},
       [=](auto b, auto, auto j, auto) { return block(b, j) * kRows + j % kRows; }},
      {5,
       {kBlocks, kHeads, kRows},
       [=](auto b, auto h, auto j, auto) {
         return (block(b, j) * kHeads + h) * kRows + j % kRows;
       }},
  };
}

/// INT8 keys and values, as they lie in tensors and in caches.
struct Caches {
  explicit Caches(const Operands& data)
      : k(Make(ACL_INT8, kKeyDims, data.k)),
        v(Make(ACL_INT8, kKeyDims, data.v)),
        paged_k(Make(ACL_INT8, kCache, InBlocks(data.k, false))),
        paged_v(Make(ACL_INT8, kCache, InBlocks(data.v, false))),
        grouped_k(Make(ACL_INT8, kGroups, InBlocks(data.k, true))),
        grouped_v(Make(ACL_INT8, kGroups, InBlocks(data.v, true))),
        table(Make(ACL_INT32, {2, 5}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0})) {}

  inline static const Dims kCache = {kBlocks, kHeads, kRows, kWidth},
                           kGroups = {kBlocks, kHeads, 1, kRows, kWidth};
  DeviceTensor k, v, paged_k, paged_v, grouped_k, grouped_v, table;
};

/// Runs a mode dense, in blocks and in groups, and compares the bits with those of FLOAT numbers.
void Compare(const Device& device, const Operands& data, const Caches& caches, const Mode& mode,
             bool moved, Random& random) {
  const int64_t count = Count(mode.dims);
  const Doubles of_k = RealValues(random, count, 0.01, 0.02),
                of_v = RealValues(random, count, 0.01, 0.02),
                by_k = moved ? SmallValues(random, count, -9, 9) : Doubles(),
                by_v = moved ? SmallValues(random, count, -9, 9) : Doubles();
  const auto tensor = [&](const Doubles& values) {
    return Make(ACL_FLOAT, mode.dims, values.empty() ? of_k : values);
  };
  const DeviceTensor q = Make(ACL_FLOAT, kQueryDims, data.q),
                     want(ACL_FLOAT, DenseLayout(kQueryDims)),
                     got(ACL_FLOAT, DenseLayout(kQueryDims)), k_scale = tensor(of_k),
                     v_scale = tensor(of_v), k_offset = tensor(by_k), v_offset = tensor(by_v);
  const auto numbers = [&](const Doubles& from, const Doubles& factors, const Doubles& offsets) {
    return Make(ACL_FLOAT, kKeyDims, Operands::Numbers(from, factors, offsets, mode.index));
  };
  const DeviceTensor keys = numbers(data.k, of_k, by_k), values = numbers(data.v, of_v, by_v);
  const Serve plain{q.handle(), &keys, &values, want.handle()};
  ASSERT_EQ(plain.Run(device).message, "");
  Serve call{q.handle(), &caches.k, &caches.v, got.handle(), k_scale.handle()};
  call.v_scale = v_scale.handle(), call.k_mode = call.v_mode = mode.number;
  if (moved) call.k_offset = k_offset.handle(), call.v_offset = v_offset.handle();
  if (mode.number < 4) {
    ASSERT_EQ(call.Run(device).message, "");
    EXPECT_EQ(got.Read(), want.Read());
  }
  call.table = caches.table.handle();
  for (const auto& [k, v] : {std::pair{&caches.paged_k, &caches.paged_v},
                             std::pair{&caches.grouped_k, &caches.grouped_v}}) {
    call.key = k, call.value = v;
    ASSERT_EQ(call.Run(device).message, "");
    EXPECT_EQ(got.Read(), want.Read());
  }
}

// INT8 keys have the bits of the numbers that they stand for, with any threads and instruction set.
TEST(InferScales, EachModeGivesTheBitsOfItsNumbers) {
  Random random(7);
  const Operands data(random);
  UnderEachSetting([&](const std::string& name, const Device& device) {
    const Caches caches(data);
    for (const Mode& mode : Modes()) {
      SCOPED_TRACE(name + ", mode " + std::to_string(mode.number));
      for (const bool moved : {false, true}) {
        Compare(device, data, caches, mode, moved, random);
      }
    }
  });
}

// One tensor for keys and values has the numbers of two.
TEST(InferScales, HalvesAreKeysAndValues) {
  const Device device;
  Random random(8);
  const Operands data(random);
  const DeviceTensor q = Make(ACL_FLOAT, kQueryDims, data.q), k = Make(ACL_INT8, kKeyDims, data.k),
                     v = Make(ACL_INT8, kKeyDims, data.v), want(ACL_FLOAT, DenseLayout(kQueryDims)),
                     got(ACL_FLOAT, DenseLayout(kQueryDims));
  const Doubles numbers = RealValues(random, 2 * kHeads * kWidth, 0.01, 0.02);
  const Doubles of_k(numbers.begin(), numbers.begin() + kHeads * kWidth),
      of_v(numbers.begin() + kHeads * kWidth, numbers.end());
  const DeviceTensor both = Make(ACL_FLOAT, {2, kHeads, 1, kWidth}, numbers),
                     k_scale = Make(ACL_FLOAT, {kHeads, kWidth}, of_k),
                     v_scale = Make(ACL_FLOAT, {kHeads, kWidth}, of_v);
  Serve call{q.handle(), &k, &v, want.handle(), k_scale.handle(), nullptr, v_scale.handle()};
  EXPECT_EQ(call.Run(device).message, "");
  call.out = got.handle();
  call.k_scale = call.v_scale = nullptr;
  call.both = both.handle();
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(got.Read(), want.Read());
}

// INT8 operands: the factors belong to scores and results; the result is rounded to even.
TEST(InferScales, ProductsOfInt8) {
  const Device device;
  Random random(9);
  const Operands data(random);
  Doubles wholes = Wholes(random, Count(kQueryDims)), scaled;
  constexpr float kScores = 0.0009765625f, kOut = 2;
  for (const double x : wholes) scaled.push_back(x * kScores);
  const DeviceTensor q = Make(ACL_INT8, kQueryDims, wholes),
                     as_float = Make(ACL_FLOAT, kQueryDims, scaled),
                     k = Make(ACL_INT8, kKeyDims, data.k), v = Make(ACL_INT8, kKeyDims, data.v),
                     k_float = Make(ACL_FLOAT, kKeyDims, data.k),
                     v_float = Make(ACL_FLOAT, kKeyDims, data.v),
                     want(ACL_FLOAT, DenseLayout(kQueryDims)),
                     got(ACL_INT8, DenseLayout(kQueryDims)),
                     half(ACL_FLOAT16, DenseLayout(kQueryDims)),
                     scores = Make(ACL_FLOAT, {1}, {kScores}), weights = Make(ACL_FLOAT, {1}, {4}),
                     values = Make(ACL_FLOAT, {1}, {0.125}), out = Make(ACL_FLOAT, {1}, {kOut}),
                     offset = Make(ACL_FLOAT, {1}, {1});
  const Serve plain{as_float.handle(), &k_float, &v_float, want.handle()};
  EXPECT_EQ(plain.Run(device).message, "");
  Serve call{q.handle(), &k, &v, half.handle()};
  call.scores = scores.handle(), call.weights = weights.handle(), call.values = values.handle();
  EXPECT_EQ(call.Run(device).message, "");
  Doubles halves, rounded;
  for (const double x : ValuesOf(want)) {
    halves.push_back(x / 2);
    rounded.push_back(std::nearbyint(std::clamp(x + 1, -128.0, 127.0)));
  }
  ExpectNear(ValuesOf(half), halves, ACL_FLOAT16);
  call.out = got.handle(), call.out_scale = out.handle(), call.out_offset = offset.handle();
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(got), rounded);
}

// INT8 operands with ropes: the scores of both have the factors of their row and of keys.
TEST(InferScales, RopesOfInt8) {
  const Device device;
  Random random(10);
  constexpr int64_t kWide = 64, kRope = 8;
  const Dims row_dims = {kBatches, 2 * kHeads, 3}, of_q = {kBatches, 2 * kHeads, 3, kWide},
             of_k = {kBatches, kHeads, kKeys, kWide}, q_ropes = {kBatches, 2 * kHeads, 3, kRope},
             k_ropes = {kBatches, kHeads, kKeys, kRope};
  const Doubles wholes = Wholes(random, Count(of_q)), keys = Wholes(random, Count(of_k)),
                values = Wholes(random, Count(of_k)), ropes = SmallValues(random, Count(q_ropes));
  Doubles factors, scaled, scaled_ropes;
  for (int i = 0; i < Count(row_dims); ++i) factors.push_back(std::ldexp(1.0, -9 - i % 3));
  for (size_t i = 0; i < wholes.size(); ++i) scaled.push_back(wholes[i] * factors[i / kWide]);
  for (size_t i = 0; i < ropes.size(); ++i) scaled_ropes.push_back(ropes[i] * factors[i / kRope]);
  const DeviceTensor q = Make(ACL_INT8, of_q, wholes), k = Make(ACL_INT8, of_k, keys),
                     v = Make(ACL_INT8, of_k, values), q_rope = Make(ACL_BF16, q_ropes, ropes),
                     k_rope = Make(ACL_BF16, k_ropes, SmallValues(random, Count(k_ropes))),
                     as_float = Make(ACL_BF16, of_q, scaled), k_float = Make(ACL_BF16, of_k, keys),
                     v_float = Make(ACL_BF16, of_k, values),
                     rope_float = Make(ACL_BF16, q_ropes, scaled_ropes),
                     want(ACL_BF16, DenseLayout(of_q)), got(ACL_BF16, DenseLayout(of_q)),
                     rows = Make(ACL_FLOAT, row_dims, factors), one = Make(ACL_FLOAT, {1}, {1});
  Serve plain{as_float.handle(), &k_float, &v_float, want.handle()};
  plain.q_rope = rope_float.handle(), plain.k_rope = k_rope.handle();
  EXPECT_EQ(plain.Run(device).message, "");
  Serve call{q.handle(), &k, &v, got.handle(), one.handle(), nullptr, one.handle()};
  call.q_rope = q_rope.handle(), call.k_rope = k_rope.handle();
  call.q_scale = rows.handle(), call.q_mode = 3;
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(got.Read(), want.Read());
  call.q_mode = 0;
  Refused(161002, "queryQuantMode value is 0, expected 3 as query is INT8", call);
  call.q_mode = 3, call.q_scale = nullptr;
  Refused(161002, "dequantScaleQueryOptional value is null, expected one: query is INT8 and", call);
}

/// The workspace of a call.
uint64_t BytesOf(const Serve& call) {
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(call(&bytes, &executor), 0);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  return bytes;
}

// Graphs ask once, whatever lengths come later.
TEST(InferWorkspace, IsEnoughForAnyLengths) {
  const Device device;
  const Dims queries = {kBatches, 2 * kHeads, 200, kWidth},
             cache = {kBlocks, kHeads, kRows, kWidth};
  const DeviceTensor q = Filled(ACL_FLOAT, queries, 1), k = Filled(ACL_FLOAT, cache, 1),
                     out = Filled(ACL_FLOAT, queries, 1), table = Filled(ACL_INT32, {2, 600}, 1);
  Serve call{q.handle(), &k, &k, out.handle()};
  call.table = table.handle(), call.rows = {1}, call.keys = {1, 1}, call.most = true;
  const uint64_t most = BytesOf(call);
  call.most = false;
  EXPECT_LT(BytesOf(call), most);
  for (const int64_t rows : {1, 65, 200}) {
    for (const int64_t keys : {0, 1, 129, 4800}) {
      call.rows = {rows}, call.keys = {keys, 4800 - keys};
      EXPECT_LE(BytesOf(call), most) << rows << " rows, " << keys << " keys";
    }
  }
}

TEST(InferScales, Refusals) {
  const Device device;
  const DeviceTensor q = Filled(ACL_FLOAT, kQueryDims, 1), k = Filled(ACL_INT8, kKeyDims, 1),
                     out = Filled(ACL_FLOAT, kQueryDims, 0),
                     whole = Filled(ACL_INT8, kQueryDims, 0), one = Filled(ACL_FLOAT, {1}, 1),
                     heads = Filled(ACL_FLOAT, {kHeads}, 1), wrong = Filled(ACL_FLOAT, {3}, 1),
                     half = Halves({1}, 1), rows = Filled(ACL_FLOAT, {kBatches, kKeys - 1}, 1),
                     pages = Filled(ACL_FLOAT, {kBlocks, kRows}, 1);
  Serve call{q.handle(), &k, &k, out.handle()};
  Refused(161002, "key dtype is INT8, expected that of query, FLOAT, as there are no factors",
          call);
  call.k_scale = one.handle();
  Refused(161002,
          "valueAntiquantScaleOptional value is null, expected what keyAntiquantScaleOptional is",
          call);
  call.v_scale = one.handle(), call.k_offset = one.handle();
  Refused(161002, "valueAntiquantOffsetOptional value is null, expected what", call);
  call.k_offset = nullptr, call.k_scale = wrong.handle();
  Refused(161002, "keyAntiquantScaleOptional shape is (3), expected (1), (64) or (2, 32)", call);
  call.k_scale = half.handle();
  Refused(161002, "keyAntiquantScaleOptional dtype is FLOAT16, expected FLOAT", call);
  call.k_scale = one.handle(), call.k_mode = 2;
  Refused(161002, "valueAntiquantMode value is 0, expected keyAntiquantMode, 2", call);
  call.v_mode = 2, call.k_scale = call.v_scale = heads.handle();
  call.k_mode = call.v_mode = 6;
  Refused(161002, "keyAntiquantMode value is 6, expected 0 to 5 as key is INT8", call);
  call.k_mode = call.v_mode = 1, call.k_scale = call.v_scale = rows.handle();
  Refused(161002, "shape is (2, 39), expected (2, S), S at least 40", call);
  call.k_mode = call.v_mode = 4, call.k_scale = call.v_scale = pages.handle();
  Refused(161002, "keyAntiquantScaleOptional shape is (10, 8), expected (0, 0)", call);
  const DeviceTensor keys = Filled(ACL_FLOAT, kKeyDims, 1);
  Serve result{q.handle(), &keys, &keys, whole.handle()};
  result.keys = {};
  Refused(161002, "attentionOut dtype is INT8, expected another one without a factor of the result",
          result);
  result.out_scale = wrong.handle();
  Refused(161002, "quantScale2Optional shape is (3), expected (1), (128) or (4, 32)", result);
  result.out_scale = result.out_offset = one.handle();
  result.rows = {2};
  Refused(161002,
          "quantOffset2Optional value is a tensor, expected null where rows of query see no key",
          result);
  result.out = out.handle();
  Refused(161002, "attentionOut dtype is FLOAT, expected INT8 beside quantScale2Optional", result);
  Serve all{whole.handle(), &k, &k, whole.handle()};
  Refused(161002, "deqScale1Optional value is null, expected one: query is INT8", all);
}

}  // namespace
}  // namespace openaclnn::test
