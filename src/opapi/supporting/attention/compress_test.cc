// SPDX-License-Identifier: Apache-2.0
// NsaCompressAttention: a worked example of the blocks that weights select, refusals, and bits
// under each setting.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

using Ends = std::vector<int64_t>;

struct Compress {
  const DeviceTensor &query, &key, &value, &max, &sum, &out, &chosen;
  Ends row_ends, key_ends, block_ends;
  int64_t heads = 1, count = 4, stride = 16, select = 64;
  const aclTensor *mask = nullptr, *always = nullptr;

  aclnnStatus operator()(uint64_t* size, aclOpExecutor** executor) const {
    const IntsHandle rows(row_ends), keys(key_ends), blocks(block_ends);
    char layout[] = "TND";
    return aclnnNsaCompressAttentionGetWorkspaceSize(
        query.handle(), key.handle(), value.handle(), mask, always, rows.get(), keys.get(),
        blocks.get(), 1.0, heads, layout, 1, 32, stride, select, count, max.handle(), sum.handle(),
        out.handle(), chosen.handle(), size, executor);
  }
  Outcome Run(const Device& device) const { return Call(device, aclnnNsaCompressAttention, *this); }
};

DeviceTensor Halves(const Dims& dims, double value) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return Make(ACL_FLOAT16, dims, Doubles(static_cast<size_t>(count), value));
}

// Blocks of 64 keys, compressed keys of 32 at every 16th. Each of the 7 compressed keys has a
// seventh of the weight. Block 0 counts keys 0 to 4 once, twice, twice, twice, once: 8 sevenths.
// Block 1 counts keys 4 to 6 once, twice, twice: 5 sevenths. Block 2 has none of them.
TEST(NsaCompressAttention, BlocksOfEqualWeights) {
  const Device device;
  const DeviceTensor q = Halves({1, 1, 8}, 0), k = Halves({7, 1, 8}, 1), v = Halves({7, 1, 4}, 3),
                     out = Halves({1, 1, 4}, 0), max = EmptyFloats({1, 1, 8}),
                     sum = EmptyFloats({1, 1, 8}),
                     chosen = Make(ACL_INT32, {1, 1, 4}, {9, 9, 9, 9});
  Compress call{q, k, v, max, sum, out, chosen, {1}, {7}, {3}};
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(chosen), (Doubles{0, 1, 2, -1}));
  EXPECT_EQ(ValuesOf(out), Doubles(4, 3.0));
  EXPECT_EQ(ValuesOf(sum), Doubles(8, 7.0));
  const DeviceTensor always = Make(ACL_BOOL, {1, 3}, {0, 0, 1});
  call.always = always.handle();
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(chosen), (Doubles{2, 0, 1, -1}));
  // Only keys 5 and 6 are seen: block 1 has all of the weight, twice.
  const DeviceTensor mask = Make(ACL_BOOL, {1, 7}, {1, 1, 1, 1, 1, 0, 0});
  call.always = nullptr, call.mask = mask.handle();
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(chosen), (Doubles{1, 0, 2, -1}));
  EXPECT_EQ(ValuesOf(sum), Doubles(8, 2.0));
}

TEST(NsaCompressAttention, Refusals) {
  const Device device;
  const DeviceTensor q = Halves({1, 1, 8}, 0), k = Halves({7, 1, 8}, 1), out = Halves({1, 1, 8}, 0),
                     max = EmptyFloats({1, 1, 8}), sum = EmptyFloats({1, 1, 8}),
                     chosen = Make(ACL_INT32, {1, 1, 4}, {0, 0, 0, 0});
  const Compress call{q, k, k, max, sum, out, chosen, {1}, {7}, {3}};
  const auto refused = [&](const char* says, const auto& change) {
    Compress other = call;
    change(&other);
    Refused(161002, says, other);
  };
  refused("compressStride value is 24, expected a multiple of 16, at most 64",
          [](Compress* it) { it->stride = 24; });
  refused(
      "selectBlockSize value is 16, expected a multiple of compressStride, 16, at least "
      "compressBlockSize, 32",
      [](Compress* it) { it->select = 16; });
  refused("topkIndicesOut shape is (1, 1, 4), expected (1, 1, 5)",
          [](Compress* it) { it->count = 5; });
  refused("actualCmpSeqKvLenOptional size is 2, expected 1, that of actualSeqQLenOptional",
          [](Compress* it) {
            it->key_ends = {3, 7};
          });
  const DeviceTensor small = Make(ACL_BOOL, {1, 6}, Doubles(6, 0.0));
  refused("attenMaskOptional shape is (1, 6), expected at least (1, 7)",
          [&](Compress* it) { it->mask = small.handle(); });
}

// Heads that do and do not fill blocks of rows, and more of them than a block has.
TEST(NsaCompressAttention, ThreadsAndInstructionSets) {
  for (const int64_t group : {1, 5, 16, 70}) {
    SCOPED_TRACE(group);
    Random random(71);
    const int64_t rows = 90, keys = 300, heads = 2 * group;
    const Doubles q_values = Held(ACL_BF16, RealValues(random, rows * heads * 32)),
                  k_values = Held(ACL_BF16, RealValues(random, keys * 2 * 32));
    std::vector<std::vector<std::byte>> first, baseline;
    UnderEachSetting([&](const std::string& setting, const Device& device) {
      SCOPED_TRACE(setting);
      const DeviceTensor q = Make(ACL_BF16, {rows, heads, 32}, q_values),
                         k = Make(ACL_BF16, {keys, 2, 32}, k_values),
                         out(ACL_BF16, DenseLayout({rows, heads, 32})),
                         max = EmptyFloats({rows, heads, 8}), sum = EmptyFloats({rows, heads, 8}),
                         chosen(ACL_INT32, DenseLayout({rows, 2, 4}));
      Compress call{q, k, k, max, sum, out, chosen, {50, 90}, {130, 300}, {33, 80}};
      call.heads = heads;
      EXPECT_EQ(call.Run(device).message, "");
      const std::vector<std::vector<std::byte>> results = {out.Read(), max.Read(), sum.Read(),
                                                           chosen.Read()};
      auto& expected = IsFused(setting) ? first : baseline;
      if (expected.empty()) expected = results;
      EXPECT_TRUE(results == expected);
    });
  }
}

}  // namespace
}  // namespace openaclnn::test
