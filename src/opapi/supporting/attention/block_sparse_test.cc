// SPDX-License-Identifier: Apache-2.0
// BlockSparseAttention: with all blocks it is attention, other keys change no bit, and what must
// not be taken.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kRows = 5, kKeys = 300, kWidth = 6;

/// One batch of two heads, which share the keys of one; blocks of 2 rows and 128 keys.
struct Blocks {
  explicit Blocks(Random& random)
      : q(RealValues(random, 2 * kRows * kWidth)),
        k(RealValues(random, kKeys * kWidth)),
        v(RealValues(random, kKeys * kWidth)),
        dy(RealValues(random, 2 * kRows * kWidth)) {}

  std::vector<std::vector<std::byte>> Run(const Device& device) const {
    const Dims rows = {1, 2, kRows, kWidth}, keys = {1, 1, kKeys, kWidth};
    const DeviceTensor tq = Floats(rows, q), tk = Floats(keys, k), tv = Floats(keys, v),
                       tg = Floats(rows, dy), mask = Make(ACL_INT8, {1, 2, 3, 3}, seen),
                       out = EmptyFloats(rows), lse = EmptyFloats({1, 2, kRows, 1}),
                       dq = EmptyFloats(rows), dk = EmptyFloats(keys), dv = EmptyFloats(keys);
    const IntListHandle shape({{2, 128}});
    char layout[] = "BNSD";
    EXPECT_RUN(device, BlockSparseAttention, tq.handle(), tk.handle(), tv.handle(), mask.handle(),
               nullptr, shape.get(), nullptr, nullptr, nullptr, layout, layout, 1, 0, 0.4, 0, 0,
               2147483647, 2147483647, 1, out.handle(), lse.handle());
    EXPECT_RUN(device, BlockSparseAttentionGrad, tg.handle(), tq.handle(), tk.handle(), tv.handle(),
               out.handle(), lse.handle(), mask.handle(), nullptr, shape.get(), nullptr, nullptr,
               layout, layout, 1, 0, 0.4, 2147483647, 2147483647, dq.handle(), dk.handle(),
               dv.handle());
    std::vector<std::vector<std::byte>> results;
    for (const DeviceTensor* each : {&out, &lse, &dq, &dk, &dv}) results.push_back(each->Read());
    return results;
  }

  Doubles q, k, v, dy, seen = Doubles(18, 1.0);
};

TEST(BlockSparseAttention, AllBlocksAreAttention) {
  const Device device;
  Random random(72);
  const Blocks of(random);
  const auto results = of.Run(device);
  Doubles k = of.k, v = of.v;
  const Dims rows = {1, 2, kRows, kWidth}, keys = {1, 1, kKeys, kWidth};
  const DeviceTensor q = Floats(rows, of.q), tk = Floats(keys, k), tv = Floats(keys, v),
                     max = EmptyFloats({1, 2, kRows, 8}), sum = EmptyFloats({1, 2, kRows, 8}),
                     out = EmptyFloats(rows);
  char layout[] = "BNSD";
  EXPECT_RUN(device, FlashAttentionScore, q.handle(), tk.handle(), tv.handle(), nullptr, nullptr,
             nullptr, nullptr, nullptr, 0.4, 1.0, 2147483647, 2147483647, 2, layout, 0, 0,
             Handle(max), Handle(sum), nullptr, Handle(out));
  ExpectNear(ToDoubles(ACL_FLOAT, results[0]), ValuesOf(out), ACL_FLOAT, 0, 2e-6);
}

// Rows 2 and 3 of the first head see the second block alone.
TEST(BlockSparseAttention, HiddenKeysChangeNoBit) {
  const Device device;
  Random random(73);
  Blocks of(random), other = of;
  of.seen[3] = of.seen[5] = 0;
  other.seen = of.seen;
  for (int64_t key = 0; key < kKeys; ++key) {
    if (key >= 128 && key < 256) continue;
    other.k[static_cast<size_t>(key * kWidth)] += 1;
    other.v[static_cast<size_t>(key * kWidth)] -= 1;
  }
  const auto first = of.Run(device), second = other.Run(device);
  const auto same = [&](size_t output, int64_t width) {
    const auto bytes = width * static_cast<int64_t>(sizeof(float));
    return std::equal(first[output].begin() + 2 * bytes, first[output].begin() + 4 * bytes,
                      second[output].begin() + 2 * bytes);
  };
  EXPECT_TRUE(same(0, kWidth));
  EXPECT_TRUE(same(1, 1));
  EXPECT_TRUE(same(2, kWidth));
  EXPECT_FALSE(first[0] == second[0]);
}

TEST(BlockSparseAttention, ThreadsAndInstructionSets) {
  std::vector<std::vector<std::byte>> fused, baseline;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    SCOPED_TRACE(setting);
    Random random(74);
    Blocks of(random);
    of.seen[1] = of.seen[9] = 0;
    const auto results = of.Run(device);
    auto& expected = IsFused(setting) ? fused : baseline;
    if (expected.empty()) expected = results;
    EXPECT_TRUE(results == expected);
  });
}

TEST(BlockSparseAttention, Refusals) {
  const Device device;
  const DeviceTensor q = EmptyFloats({1, 2, 5, 6}), k = EmptyFloats({1, 1, 9, 6}),
                     mask = Make(ACL_INT8, {1, 2, 3, 1}, Doubles(6, 1.0)),
                     few = Make(ACL_INT8, {1, 2, 2, 1}, Doubles(4, 1.0)),
                     packed = EmptyFloats({5, 2, 6});
  const IntListHandle shape({{2, 128}}), odd({{2, 100}}), one({{3}}), long_one({{10}});
  char bnsd[] = "BNSD", tnd[] = "TND", bsh[] = "BSH";
  struct Call {
    const DeviceTensor *q, *mask;
    const aclTensor* hides = nullptr;
    const aclIntArray *shape, *rows = nullptr, *keys = nullptr;
    const aclTensor* table = nullptr;
    char *layout, *key_layout;
    int64_t heads = 1, type = 0;
  };
  const auto refused = [&](const char* says, const auto& change) {
    Call c{.q = &q, .mask = &mask, .shape = shape.get(), .layout = bnsd, .key_layout = bnsd};
    change(c);
    EXPECT_REFUSED(161002, says, BlockSparseAttention, c.q->handle(), k.handle(), k.handle(),
                   c.mask->handle(), c.hides, c.shape, c.rows, c.keys, c.table, c.layout,
                   c.key_layout, c.heads, c.type, 1.0, 0, 0, 0, 0, 0, q.handle(), nullptr);
  };
  refused(
      "blockShape size is 2, expected two numbers above 0, of which the second one is a "
      "multiple of 128",
      [&](Call& c) { c.shape = odd.get(); });
  refused("blockSparseMask shape is (1, 2, 2, 1), expected (1, 2, 3, 1)",
          [&](Call& c) { c.mask = &few; });
  refused("attenMaskOptional value is a tensor, expected null: it is not supported",
          [&](Call& c) { c.hides = k.handle(); });
  refused("blockTableOptional value is a tensor, expected null: it is not supported",
          [&](Call& c) { c.table = k.handle(); });
  refused("qInputLayout value is 'BSH', expected", [&](Call& c) { c.layout = c.key_layout = bsh; });
  refused("kvInputLayout value is 'TND', expected 'BNSD', that of query",
          [&](Call& c) { c.key_layout = tnd; });
  refused("actualSeqLengthsKvOptional size is 0, expected lengths where actualSeqLengthsOptional",
          [&](Call& c) { c.rows = one.get(); });
  refused("actualSeqLengthsKvOptional value 0 is 10, expected 0 to 9, rows of key",
          [&](Call& c) { c.rows = one.get(), c.keys = long_one.get(); });
  refused("key shape is (1, 1, 9, 6), expected 2 heads", [&](Call& c) { c.heads = 2; });
  refused("maskType value is 1, expected 0", [&](Call& c) { c.type = 1; });
  refused("query rank is 4 (shape (1, 2, 5, 6)), expected 3",
          [&](Call& c) { c.layout = c.key_layout = tnd, c.rows = c.keys = one.get(); });
}

}  // namespace
}  // namespace openaclnn::test
