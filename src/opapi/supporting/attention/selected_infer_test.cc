// SPDX-License-Identifier: Apache-2.0
// NsaSelectedAttentionInfer: a cache gives the bits of keys in a row; blocks that are none.
#include "supporting/attention/paged_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

struct SelectedInfer {
  const DeviceTensor &query, &key, &value, &chosen, &table, &out;
  Lengths keys;
  int64_t heads, kv_heads, count, page;

  aclnnStatus operator()(uint64_t* size, aclOpExecutor** executor) const {
    const IntsHandle key_counts(keys);
    char layout[] = "TND";
    return aclnnNsaSelectedAttentionInferGetWorkspaceSize(
        query.handle(), key.handle(), value.handle(), chosen.handle(), nullptr, table.handle(),
        nullptr, key_counts.get(), layout, heads, kv_heads, 64, count, page, 0.125, 0, Handle(out),
        size, executor);
  }
  Outcome Run(const Device& device) const {
    return Call(device, aclnnNsaSelectedAttentionInfer, *this);
  }
};

// Blocks of a cache that do and do not divide those that are selected.
TEST(NsaSelectedAttentionInfer, ACacheGivesTheBitsOfKeysInARow) {
  Random random(73);
  const int64_t keys = 300, heads = 4, count = 3;
  const Doubles q_values = Held(ACL_BF16, RealValues(random, heads * 32)),
                k_values = Held(ACL_BF16, RealValues(random, keys * 2 * 32)),
                v_values = Held(ACL_BF16, RealValues(random, keys * 2 * 16));
  std::vector<std::byte> first, baseline;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    SCOPED_TRACE(setting);
    const DeviceTensor q = Make(ACL_BF16, {1, heads, 32}, q_values),
                       k = Make(ACL_BF16, {keys, 2, 32}, k_values),
                       v = Make(ACL_BF16, {keys, 2, 16}, v_values),
                       chosen = Make(ACL_INT32, {1, 2, count}, {4, 0, -1, 2, 1, 3}),
                       out(ACL_BF16, DenseLayout({1, heads, 16})), max = EmptyFloats({1, heads, 8}),
                       sum = EmptyFloats({1, heads, 8});
    const IntsHandle row_ends({1}), key_ends({keys});
    char layout[] = "TND";
    const auto in_a_row = [&](uint64_t* size, aclOpExecutor** executor) {
      return aclnnNsaSelectedAttentionGetWorkspaceSize(
          q.handle(), k.handle(), v.handle(), chosen.handle(), nullptr, row_ends.get(),
          key_ends.get(), 0.125, heads, layout, 0, 64, count, max.handle(), sum.handle(),
          out.handle(), size, executor);
    };
    EXPECT_EQ(Call(device, aclnnNsaSelectedAttention, in_a_row).message, "");
    const std::vector<std::byte> expected = out.Read();
    auto& all = IsFused(setting) ? first : baseline;
    if (all.empty()) all = expected;
    EXPECT_TRUE(expected == all);
    for (const int64_t page : {16, 48, 100, 128, 512}) {
      SCOPED_TRACE(page);
      const int64_t blocks = (keys + page - 1) / page;
      const Doubles k_cells = Paged(k_values, 64, page, blocks),
                    v_cells = Paged(v_values, 32, page, blocks);
      const DeviceTensor table = TableOf(blocks), paged(ACL_BF16, DenseLayout({1, heads, 16}));
      const auto check = [&](const Dims& k_dims, const Dims& v_dims) {
        const DeviceTensor k_cache = Make(ACL_BF16, k_dims, k_cells),
                           v_cache = Make(ACL_BF16, v_dims, v_cells);
        const SelectedInfer call{q,      k_cache, v_cache, chosen, table, paged,
                                 {keys}, heads,   2,       count,  page};
        EXPECT_EQ(call.Run(device).message, "");
        EXPECT_TRUE(paged.Read() == expected);
      };
      check({blocks, page, 64}, {blocks, page, 32});
      check({blocks, page, 2, 32}, {blocks, page, 2, 16});
    }
  });
}

// Keys that a row does not see may be NaN.
TEST(NsaSelectedAttentionInfer, KeysThatAreNotChosenAreNotRead) {
  const Device device;
  Doubles values(128 * 8, 2);
  for (size_t i = 0; i < values.size(); ++i) {
    if (i / 8 < 64) values[i] = std::nan("");
  }
  const DeviceTensor q = Halves({1, 1, 8}, 1), k = Make(ACL_FLOAT16, {1, 128, 8}, values),
                     v = Make(ACL_FLOAT16, {1, 128, 8}, values),
                     table = Make(ACL_INT32, {1, 1}, {0}), out = Halves({1, 1, 8}, 5);
  for (const Doubles& blocks : {Doubles{-1, 1}, Doubles{1, -1}}) {
    const DeviceTensor chosen = Make(ACL_INT32, {1, 1, 2}, blocks);
    const SelectedInfer call{q, k, v, chosen, table, out, {100}, 1, 1, 2, 128};
    EXPECT_EQ(call.Run(device).message, "");
    EXPECT_EQ(ValuesOf(out), Doubles(8, 2.0));
  }
}

// As NsaCompressAttentionInfer gives them, and torch_npu's example the lengths.
TEST(NsaSelectedAttentionInfer, IndicesWithADimensionOfRows) {
  const Device device;
  const DeviceTensor q = Halves({1, 1, 1, 8}, 1), k = Halves({2, 64, 8}, 1),
                     v = Halves({2, 64, 8}, 2), chosen = Make(ACL_INT32, {1, 1, 1, 2}, {0, 1}),
                     table = Make(ACL_INT32, {1, 2}, {1, 0}), out = Halves({1, 1, 1, 8}, 5);
  char layout[] = "BSND";
  const IntsHandle keys({128});
  const auto run = [&](const std::vector<int64_t>& rows) {
    const IntsHandle row_counts(rows);
    return RUN(device, NsaSelectedAttentionInfer, q.handle(), k.handle(), v.handle(),
               chosen.handle(), nullptr, table.handle(), row_counts.get(), keys.get(), layout, 1, 1,
               64, 2, 64, 0.125, 0, Handle(out));
  };
  EXPECT_EQ(run({1}).message, "");
  EXPECT_EQ(ValuesOf(out), Doubles(8, 2.0));
  EXPECT_NE(run({2}).message.find("actualQSeqLenOptional value is [2], expected 1 for each of 1"),
            std::string::npos);
}

TEST(NsaSelectedAttentionInfer, BlocksThatAreNone) {
  const Device device;
  const DeviceTensor q = Halves({1, 1, 8}, 1), k = Halves({2, 64, 8}, 1), v = Halves({2, 64, 8}, 2),
                     none = Make(ACL_INT32, {1, 1, 2}, {-1, -1}),
                     beyond = Make(ACL_INT32, {1, 1, 2}, {0, 2}),
                     table = Make(ACL_INT32, {1, 2}, {1, 0}), out = Halves({1, 1, 8}, 5);
  SelectedInfer call{q, k, v, none, table, out, {128}, 1, 1, 2, 64};
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(out), Doubles(8, 0.0));
  const SelectedInfer wrong{q, k, v, beyond, table, out, {128}, 1, 1, 2, 64};
  const Outcome outcome = wrong.Run(device);
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("topkIndices value (0, 0, 1) is 2, expected -1 to 1"),
            std::string::npos)
      << outcome.message;
}

}  // namespace
}  // namespace openaclnn::test
