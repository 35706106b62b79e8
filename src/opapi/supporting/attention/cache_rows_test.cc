// SPDX-License-Identifier: Apache-2.0
// ScatterPaKvCache and GatherPaKvCache: which rows are written, what is refused, threads.
#include <algorithm>
#include <numeric>

#include "supporting/attention/paged_test.h"

namespace openaclnn::test {
namespace {

struct Scatter {
  const DeviceTensor &key, &key_cache, &slots, &value, &value_cache;
  const char *mode = "Norm", *scatter = "None";
  const aclTensor* lengths = nullptr;
  Lengths strides = {1, 1}, offsets = {0, 0};

  aclnnStatus operator()(uint64_t* bytes, aclOpExecutor** executor) const {
    const IntsHandle of_strides(strides), of_offsets(offsets);
    return aclnnScatterPaKvCacheGetWorkspaceSize(
        key.handle(), Handle(key_cache), slots.handle(), value.handle(), Handle(value_cache),
        nullptr, nullptr, lengths, const_cast<char*>(mode), const_cast<char*>(scatter),
        of_strides.get(), of_offsets.get(), bytes, executor);
  }
  Outcome Run(const Device& device) const { return Call(device, aclnnScatterPaKvCache, *this); }
};

struct Gather {
  const DeviceTensor &key_cache, &value_cache, &table, &lengths, &key, &value;
  const aclTensor* offsets = nullptr;
  bool ends = false;
  const char* mode = "Norm";

  aclnnStatus operator()(uint64_t* bytes, aclOpExecutor** executor) const {
    return aclnnGatherPaKvCacheGetWorkspaceSize(
        key_cache.handle(), value_cache.handle(), table.handle(), lengths.handle(), Handle(key),
        Handle(value), offsets, const_cast<char*>(mode), ends, bytes, executor);
  }
  Outcome Run(const Device& device) const { return Call(device, aclnnGatherPaKvCache, *this); }
};

Doubles Range(int64_t count, double first = 1) {
  Doubles values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

// Two blocks of two rows, one head of one element; values have two elements.
TEST(ScatterPaKvCache, TheLastTokenOfARowStays) {
  const Device device;
  const DeviceTensor key = Make(ACL_FLOAT16, {4, 1, 1}, {1, 2, 3, 4}),
                     value = Make(ACL_FLOAT16, {4, 1, 2}, {1, 1, 2, 2, 3, 3, 4, 4}),
                     keys = Halves({2, 2, 1, 1}, 9), values = Halves({2, 2, 1, 2}, 9),
                     slots = Make(ACL_INT64, {4}, {3, -1, 0, 3});
  const Scatter call{key, keys, slots, value, values};
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(keys), (Doubles{3, 9, 9, 4}));
  EXPECT_EQ(ValuesOf(values), (Doubles{3, 3, 9, 9, 9, 9, 4, 4}));
  const DeviceTensor beyond = Make(ACL_INT32, {4}, {1, 2, 4, 0});
  const Scatter wrong{key, keys, beyond, value, values};
  const Outcome outcome = wrong.Run(device);
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_EQ(ValuesOf(keys), (Doubles{3, 9, 9, 4}));  // nothing is written
}

// A cache in groups of 32 bytes has the same numbers as rows, in four and in five dimensions.
TEST(ScatterPaKvCache, WritesGroups) {
  const Device device;
  const DeviceTensor key = Make(ACL_FLOAT16, {1, 2, 32}, Range(64)),
                     slots = Make(ACL_INT32, {1}, {1}), four = Halves({1, 4, 2, 16}, 0),
                     five = Halves({1, 2, 2, 2, 16}, 0);
  Scatter call{key, four, slots, key, five, "PA_NZ"};
  EXPECT_EQ(call.Run(device).message, "");
  const Doubles got = ValuesOf(four);
  EXPECT_EQ(got, ValuesOf(five));
  for (size_t group = 0; group < 4; ++group) {
    for (size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(got[group * 32 + i], 0);
      EXPECT_EQ(got[group * 32 + 16 + i], static_cast<double>(group * 16 + i + 1));
    }
  }
}

TEST(ScatterPaKvCache, Refusals) {
  const Device device;
  const DeviceTensor key = Halves({2, 1, 4}, 1), value = Halves({2, 1, 4}, 1),
                     keys = Halves({2, 3, 1, 4}, 1), values = Halves({2, 2, 1, 4}, 1),
                     slots = Make(ACL_INT32, {2}, {0, 1}), fewer = Make(ACL_INT32, {1}, {0}),
                     floats = Halves({2}, 0), narrow = Halves({2, 3, 1, 3}, 1);
  Refused(161002, "valueCacheRef shape is (2, 2, 1, 4), expected 2 blocks of 3 rows",
          Scatter{key, keys, slots, value, values});
  Refused(161002, "slotMapping shape is (1), expected (2)", Scatter{key, keys, fewer, value, keys});
  Refused(161002, "slotMapping dtype is FLOAT16", Scatter{key, keys, floats, value, keys});
  Refused(161002, "keyCacheRef shape is (2, 3, 1, 3), expected (2, 3, 1, 4)",
          Scatter{key, narrow, slots, value, keys});
  Refused(161002, "key shape is (2, 1, 4), expected a multiple of 16 elements of a head",
          Scatter{key, keys, slots, value, keys, "PA_NZ"});
  Refused(161002, "cacheModeOptional value is", Scatter{key, keys, slots, value, keys, "ND"});
  Refused(161002, "scatterModeOptional value is",
          Scatter{key, keys, slots, value, keys, "Norm", "Nct"});
  Refused(161002, "seqLensOptional value is a tensor, expected null: compression is not supported",
          Scatter{key, keys, slots, value, keys, "Norm", "None", slots.handle()});
  Refused(161002, "stridesOptional size is 2, expected 0, or two numbers that are 1",
          Scatter{key, keys, slots, value, keys, "Norm", "None", nullptr, {2, 1}});
}

// Sequences of 3 and 2 rows in blocks of two; the second one begins at its table's second entry.
// The first one's second block is -1, so its last row is 0.
TEST(GatherPaKvCache, RowsOfSequences) {
  const Device device;
  const DeviceTensor keys = Make(ACL_FLOAT16, {3, 2, 1, 1}, Range(6)),
                     values = Make(ACL_FLOAT16, {3, 2, 1, 1}, Range(6, 11)),
                     table = Make(ACL_INT32, {2, 2}, {2, -1, 0, 1}),
                     lengths = Make(ACL_INT32, {2}, {3, 2}), ends = Make(ACL_INT64, {3}, {0, 3, 5}),
                     offsets = Make(ACL_INT32, {2}, {0, 2}), key = Halves({6, 1, 1}, 7),
                     value = Halves({6, 1, 1}, 7);
  const Doubles want = {5, 6, 0, 3, 4, 7};
  const Gather call{keys, values, table, lengths, key, value, offsets.handle()};
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(key), want);
  EXPECT_EQ(ValuesOf(value), (Doubles{15, 16, 0, 13, 14, 7}));
  const DeviceTensor again = Halves({6, 1, 1}, 7);
  const Gather by_ends{keys, values, table, ends, again, value, offsets.handle(), true};
  EXPECT_EQ(by_ends.Run(device).message, "");
  EXPECT_EQ(ValuesOf(again), want);
}

TEST(GatherPaKvCache, Refusals) {
  const Device device;
  const DeviceTensor keys = Halves({3, 2, 1, 1}, 1), table = Make(ACL_INT32, {2, 2}, {0, 1, 2, 0}),
                     lengths = Make(ACL_INT32, {2}, {3, 2}), more = Make(ACL_INT32, {2}, {3, 4}),
                     less = Make(ACL_INT32, {2}, {-1, 2}), key = Halves({6, 1, 1}, 7),
                     value = Halves({6, 1, 1}, 7), offsets = Make(ACL_INT32, {2}, {0, -2});
  EXPECT_EQ((Gather{keys, keys, table, more, key, value}).Run(device).code, 507035);
  EXPECT_EQ((Gather{keys, keys, table, less, key, value}).Run(device).code, 507035);
  EXPECT_EQ((Gather{keys, keys, table, lengths, key, value, offsets.handle()}).Run(device).code,
            507035);
  EXPECT_EQ(ValuesOf(key), Doubles(6, 7.0));
  Refused(161002, "seqLens shape is (2), expected (3)",
          Gather{keys, keys, table, lengths, key, value, nullptr, true});
  Refused(161002, "cacheMode value is",
          Gather{keys, keys, table, lengths, key, value, nullptr, false, ""});
}

}  // namespace
}  // namespace openaclnn::test
