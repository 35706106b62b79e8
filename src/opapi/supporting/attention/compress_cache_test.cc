// SPDX-License-Identifier: Apache-2.0
// NsaCompressWithCache: rows that a batch fills, and those that stay.
#include <algorithm>

#include "supporting/attention/paged_test.h"

namespace openaclnn::test {
namespace {

struct CompressCache {
  const DeviceTensor &input, &weight, &slots, &table, &cache;
  Lengths lengths;
  int64_t size = 16, kind = 1;

  aclnnStatus operator()(uint64_t* bytes, aclOpExecutor** executor) const {
    const IntsHandle of_each(lengths);
    char layout[] = "TND";
    return aclnnNsaCompressWithCacheGetWorkspaceSize(
        input.handle(), weight.handle(), slots.handle(), of_each.get(), table.handle(), layout,
        size, 16, kind, 8, Handle(cache), bytes, executor);
  }
  Outcome Run(const Device& device) const { return Call(device, aclnnNsaCompressWithCache, *this); }
};

// Keys 0 to 23 are 1, those from 24 on 2, in blocks of 8. Batches of 16 and 32 keys fill a block,
// and have the same slot: the last one stays. That of 17 keys does not.
TEST(NsaCompressWithCache, RowsThatNoBatchFillsStay) {
  const Device device;
  Doubles cells(4 * 8, 1.0);
  std::fill_n(cells.begin(), 8, 2.0);  // the block that comes last
  const DeviceTensor input = Make(ACL_FLOAT16, {4, 8, 1, 1}, cells), weight = Halves({16, 1}, 1),
                     table = Make(ACL_INT32, {3, 4}, {3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 9}),
                     slots = Make(ACL_INT32, {3}, {1, 1, 0}),
                     cache = Make(ACL_FLOAT16, {3, 1, 1}, {7, 8, 9});
  CompressCache call{input, weight, slots, table, cache, {16, 32, 17}};
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(cache), (Doubles{7, 24, 9}));
  const DeviceTensor beyond = Make(ACL_INT32, {3}, {1, 3, 0});
  const CompressCache wrong{input, weight, beyond, table, cache, {16, 32, 17}};
  EXPECT_EQ(wrong.Run(device).code, 507035);
  call.lengths = {16, 32, 32};  // the last one's last block is 9
  EXPECT_EQ(call.Run(device).code, 507035);
  EXPECT_EQ(ValuesOf(cache), (Doubles{7, 24, 9}));
  call.kind = 0;
  Refused(161002, "actSeqLenType value is 0, expected 1, the length of each batch", call);
  call.kind = 1, call.size = 80;
  Refused(161002, "compressBlockSize value is 80, expected a multiple of 16, at most 64", call);
}

}  // namespace
}  // namespace openaclnn::test
