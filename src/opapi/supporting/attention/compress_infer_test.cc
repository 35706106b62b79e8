// SPDX-License-Identifier: Apache-2.0
// NsaCompressAttentionInfer: blocks that are always selected, blocks of a cache, refusals.
#include "supporting/attention/paged_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

struct CompressInfer {
  const DeviceTensor &query, &key, &value, &table, &out, &chosen;
  Lengths keys;
  int64_t heads = 1, kv_heads = 1, count = 4, page = 4;
  std::string layout = "TND";
  const aclTensor* always = nullptr;
  Lengths rows = {};

  aclnnStatus operator()(uint64_t* size, aclOpExecutor** executor) const {
    const IntsHandle key_counts(keys), row_counts(rows);
    return aclnnNsaCompressAttentionInferGetWorkspaceSize(
        query.handle(), key.handle(), value.handle(), nullptr, table.handle(), row_counts.get(),
        key_counts.get(), nullptr, always, heads, kv_heads, 64, count, 32, 16, 1.0,
        const_cast<char*>(layout.c_str()), page, 0, out.handle(), chosen.handle(), size, executor);
  }
  Outcome Run(const Device& device) const {
    return Call(device, aclnnNsaCompressAttentionInfer, *this);
  }
};

// 23 compressed keys of 32 at every 16th: 384 keys, 6 blocks of 64. Equal weights: blocks 0 to 4
// have 8 each, and block 5 has 5. Blocks 0, 4 and 5 are selected whatever their weights are.
TEST(NsaCompressAttentionInfer, TheFirstBlockAndTheLastTwo) {
  const Device device;
  const DeviceTensor q = Halves({1, 1, 8}, 0), k = Halves({7, 4, 8}, 1), v = Halves({7, 4, 4}, 3),
                     table = Make(ACL_INT32, {1, 6}, {6, 0, 5, 1, 4, 2}),
                     out = Halves({1, 1, 4}, 0), chosen = Filled(ACL_INT32, {1, 1, 4}, 9);
  CompressInfer call{q, k, v, table, out, chosen, {23}};
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(chosen), (Doubles{0, 4, 5, 1}));
  EXPECT_EQ(ValuesOf(out), Doubles(4, 3.0));
  call.keys = {1};  // one block, of 32 keys
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(chosen), (Doubles{0, -1, -1, -1}));
  call.keys = {0};
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(chosen), Doubles(4, -1.0));
  EXPECT_EQ(ValuesOf(out), Doubles(4, 0.0));
  const DeviceTensor nan = Halves({7, 4, 8}, std::nan(""));
  EXPECT_EQ((CompressInfer{q, nan, v, table, out, chosen, {23}}).Run(device).message, "");
  EXPECT_EQ(ValuesOf(chosen), (Doubles{0, 4, 5, 1}));
  const DeviceTensor wrong = Make(ACL_INT32, {1, 6}, {6, 0, 7, 1, 4, 2});
  const CompressInfer beyond{q, k, v, wrong, out, chosen, {9}};
  EXPECT_EQ(beyond.Run(device).code, 507035);
  const CompressInfer before{q, k, v, wrong, out, chosen, {8}};
  EXPECT_EQ(before.Run(device).message, "");
}

TEST(NsaCompressAttentionInfer, ACacheGivesTheBitsOfKeysInARow) {
  Random random(79);
  const int64_t keys = 300, heads = 4, blocks = 76, count = 8, page = 48, pages = 7;
  const Doubles q_values = Held(ACL_BF16, RealValues(random, heads * 32)),
                k_values = Held(ACL_BF16, RealValues(random, keys * 2 * 32));
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    SCOPED_TRACE(setting);
    Doubles picks(static_cast<size_t>(blocks), 0.0);
    picks[0] = picks[74] = picks[75] = 1;
    const DeviceTensor q = Make(ACL_BF16, {1, heads, 32}, q_values),
                       k = Make(ACL_BF16, {keys, 2, 32}, k_values),
                       always = Make(ACL_BOOL, {1, blocks}, picks),
                       out(ACL_BF16, DenseLayout({1, heads, 32})),
                       chosen(ACL_INT32, DenseLayout({1, 2, count})),
                       max = EmptyFloats({1, heads, 8}), sum = EmptyFloats({1, heads, 8});
    const IntsHandle row_ends({1}), key_ends({keys}), block_ends({blocks});
    char layout[] = "TND";
    const auto in_a_row = [&](uint64_t* size, aclOpExecutor** executor) {
      return aclnnNsaCompressAttentionGetWorkspaceSize(
          q.handle(), k.handle(), k.handle(), nullptr, always.handle(), row_ends.get(),
          key_ends.get(), block_ends.get(), 1.0, heads, layout, 1, 32, 16, 64, count, max.handle(),
          sum.handle(), out.handle(), chosen.handle(), size, executor);
    };
    EXPECT_EQ(Call(device, aclnnNsaCompressAttention, in_a_row).message, "");
    const DeviceTensor cache = Make(ACL_BF16, {pages, page, 64}, Paged(k_values, 64, page, pages)),
                       table = TableOf(pages), paged(ACL_BF16, DenseLayout({1, heads, 32})),
                       picked(ACL_INT32, DenseLayout({1, 2, count}));
    const CompressInfer call{q, cache, cache, table, paged, picked, {keys}, heads, 2, count, page};
    EXPECT_EQ(call.Run(device).message, "");
    EXPECT_TRUE(paged.Read() == out.Read());
    EXPECT_EQ(ValuesOf(picked), ValuesOf(chosen));
  });
}

TEST(NsaCompressAttentionInfer, Refusals) {
  const Device device;
  const DeviceTensor q = Halves({1, 1, 8}, 0), k = Halves({7, 4, 8}, 1), out = Halves({1, 1, 8}, 0),
                     table = Filled(ACL_INT32, {1, 6}, 0), chosen = Filled(ACL_INT32, {1, 1, 4}, 0),
                     mask = Filled(ACL_BOOL, {1, 6}, 0);
  const CompressInfer call{q, k, k, table, out, chosen, {23}};
  const auto refused = [&](const char* says, const auto& change) {
    CompressInfer other = call;
    change(&other);
    Refused(161002, says, other);
  };
  refused("topKMaskOptional value is a tensor, expected null: it is not supported",
          [&](CompressInfer* it) { it->always = mask.handle(); });
  refused("actualQSeqLenOptional value is [2], expected 1 for each of 1 batches, or none",
          [](CompressInfer* it) { it->rows = {2}; });
  refused("actualCmpKvSeqLenOptional value 0 is 25, expected 0 to 24",
          [](CompressInfer* it) { it->keys = {25}; });
  refused("pageBlockSize value is 8, expected 4, the rows of each block of key",
          [](CompressInfer* it) { it->page = 8; });
  refused("numKeyValueHeads value is 2, expected a divisor of numHeads, 1",
          [](CompressInfer* it) { it->kv_heads = 2; });
  refused("topKOutput shape is (1, 1, 4), expected (1, 1, 5)",
          [](CompressInfer* it) { it->count = 5; });
}

}  // namespace
}  // namespace openaclnn::test
