// SPDX-License-Identifier: Apache-2.0
// Rotations that write caches: where tokens go, what is rounded, and what must not be taken.
#include <numeric>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

DeviceTensor Filled(aclDataType dtype, const Dims& dims, double value) {
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  return Make(dtype, dims, Doubles(static_cast<size_t>(count), value));
}
DeviceTensor Halves(const Dims& dims, double value) { return Filled(ACL_FLOAT16, dims, value); }

/// Three tokens of 2 elements that are normalised and 2 that are turned, by no angle.
struct KvCall {
  aclnnStatus operator()(uint64_t* size, aclOpExecutor** executor) const {
    return aclnnKvRmsNormRopeCacheGetWorkspaceSize(
        kv.handle(), gamma.handle(), cos.handle(), sin.handle(), index->handle(), Handle(*keys),
        Handle(*values), key_scale, value_scale, offset, nullptr, 0, const_cast<char*>(mode), asks,
        out, out, size, executor);
  }
  Outcome Run(const Device& device) const { return Call(device, aclnnKvRmsNormRopeCache, *this); }

  DeviceTensor kv = Make(ACL_FLOAT16, {1, 1, 3, 4}, {2, 2, 1, 3, 4, -4, 5, 7, -6, 6, 9, 11}),
               gamma = Make(ACL_FLOAT16, {2}, {1, 10}), cos = Halves({1, 1, 3, 2}, 1),
               sin = Halves({1, 1, 3, 2}, 0);
  const DeviceTensor *index, *keys, *values;
  const aclTensor *key_scale = nullptr, *value_scale = nullptr, *offset = nullptr;
  const char* mode = "PA_BNSD";
  bool asks = false;
  aclTensor* out = nullptr;
};

TEST(KvRmsNormRopeCache, TokensGoWhereTheIndexSays) {
  const Device device;
  const DeviceTensor keys = Halves({2, 2, 1, 2}, 9), values = Halves({2, 2, 1, 2}, 9),
                     index = Make(ACL_INT64, {3}, {3, -1, 3}),
                     beyond = Make(ACL_INT64, {3}, {0, 4, 1});
  KvCall call{.index = &index, .keys = &keys, .values = &values};
  EXPECT_EQ(call.Run(device).message, "");
  // The second token goes nowhere; of the others the last one stays.
  EXPECT_EQ(ValuesOf(keys), (Doubles{9, 9, 9, 9, 9, 9, 9, 11}));
  EXPECT_EQ(ValuesOf(values), (Doubles{9, 9, 9, 9, 9, 9, -1, 10}));
  call.index = &beyond;
  const Outcome outcome = call.Run(device);
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("index value 1 is 4, expected less than 4, the rows of the cache"),
            std::string::npos)
      << outcome.message;
}

// An index of PA_BLK names a block; its rows are those of the sequence.
TEST(KvRmsNormRopeCache, BlocksAndBatches) {
  const Device device;
  const DeviceTensor keys = Halves({3, 2, 1, 2}, 0), values = Halves({3, 2, 1, 2}, 0),
                     blocks = Make(ACL_INT64, {2}, {4, 0});
  KvCall call{.index = &blocks, .keys = &keys, .values = &values};
  call.mode = "PA_BLK_BNSD";
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(keys), (Doubles{9, 11, 0, 0, 0, 0, 0, 0, 1, 3, 5, 7}));
  const DeviceTensor own = Halves({1, 1, 4, 2}, 0), of_values = Halves({1, 1, 4, 2}, 0),
                     rows = Make(ACL_INT64, {1, 3}, {2, 0, -1});
  call.mode = "Norm", call.index = &rows, call.keys = &own, call.values = &of_values;
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(own), (Doubles{5, 7, 0, 0, 1, 3, 0, 0}));
}

TEST(KvRmsNormRopeCache, RoundsHalvesToEvenAndWithinTheType) {
  const Device device;
  const DeviceTensor keys = Filled(ACL_INT8, {2, 2, 1, 2}, 0),
                     values = Filled(ACL_INT8, {2, 2, 1, 2}, 0),
                     index = Make(ACL_INT64, {3}, {0, 1, 2}), key_scale = Floats({2}, {0.5, 100}),
                     value_scale = Floats({2}, {1.5, -20});
  KvCall call{.index = &index, .keys = &keys, .values = &values};
  call.key_scale = key_scale.handle(), call.value_scale = value_scale.handle();
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(keys), (Doubles{0, 127, 2, 127, 4, 127, 0, 0}));
  EXPECT_EQ(ValuesOf(values), (Doubles{2, -128, 2, 127, -2, -128, 0, 0}));
}

TEST(KvRmsNormRopeCache, Refusals) {
  const Device device;
  const DeviceTensor keys = Halves({2, 2, 1, 2}, 0), small = Filled(ACL_INT8, {2, 2, 1, 2}, 0),
                     index = Make(ACL_INT64, {3}, {0, 1, 2}), scale = Floats({2}, {1, 1}),
                     other = Halves({2, 3, 1, 2}, 0), four = Make(ACL_INT64, {4}, {0, 1, 2, 3});
  const auto refused = [&](const char* says, const auto& change) {
    KvCall call{.index = &index, .keys = &keys, .values = &keys};
    change(call);
    Refused(161002, says, call);
  };
  refused("cacheModeOptional value is 'PB', expected", [](KvCall& c) { c.mode = "PB"; });
  refused("ckvScaleOptional value is null, expected what kRopeScaleOptional is",
          [&](KvCall& c) { c.key_scale = scale.handle(); });
  refused("kRopeOffsetOptional value is a tensor, expected null",
          [&](KvCall& c) { c.offset = scale.handle(); });
  refused("kCacheRef dtype is FLOAT16, expected INT8, as kRopeScaleOptional is given",
          [&](KvCall& c) { c.key_scale = c.value_scale = scale.handle(); });
  refused("kCacheRef dtype is INT8", [&](KvCall& c) { c.keys = c.values = &small; });
  refused("ckvCacheRef shape is (2, 3, 1, 2), expected 2 blocks of 2 rows",
          [&](KvCall& c) { c.values = &other; });
  refused("index shape is (4), expected (3)", [&](KvCall& c) { c.index = &four; });
  refused("kRopeOut value is null, expected a tensor, as isOutputKv is true",
          [](KvCall& c) { c.asks = true; });
  refused("kCacheRef shape is (2, 2, 1, 2), expected a multiple of 16 elements",
          [](KvCall& c) { c.mode = "PA_NZ"; });
}

TEST(RopeWithSinCosCache, Positions) {
  const Device device;
  // Rows of a cosine, then a sine: by nothing, by a right angle, twice as long.
  const DeviceTensor x = Floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}),
                     cache = Floats({3, 2}, {1, 0, 0, 1, 2, 0}), q = EmptyFloats({2, 4}),
                     k = EmptyFloats({2, 4}), positions = Make(ACL_INT64, {2}, {1, 2}),
                     beyond = Make(ACL_INT64, {2}, {0, 3});
  EXPECT_RUN(device, RopeWithSinCosCache, positions.handle(), x.handle(), x.handle(),
             cache.handle(), nullptr, 2, true, Handle(q), Handle(k));
  EXPECT_EQ(ValuesOf(q), (Doubles{-2, 1, -4, 3, 10, 12, 14, 16}));
  const Outcome outcome = RUN(device, RopeWithSinCosCache, beyond.handle(), x.handle(), x.handle(),
                              cache.handle(), nullptr, 2, true, Handle(q), Handle(k));
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("positions value 1 is 3, expected 0 to 2, a row of cosSinCache"),
            std::string::npos)
      << outcome.message;
}

TEST(RopeWithSinCosCache, Refusals) {
  const Device device;
  const DeviceTensor x = EmptyFloats({2, 8}), wide = EmptyFloats({3, 10}),
                     cache = EmptyFloats({3, 8}), positions = Make(ACL_INT64, {2}, {1, 2}),
                     three = Make(ACL_INT64, {3, 2}, Doubles(6, 0.0)),
                     four = Make(ACL_INT64, {4, 2}, Doubles(8, 0.0));
  const IntListHandle right({{1, 1, 2}}), wrong({{1, 1, 1}}), more({{1, 1, 1, 1}});
  const auto refused = [&](const char* says, const DeviceTensor& places, const DeviceTensor& angles,
                           const aclIntArray* sections, int64_t size, int64_t mode) {
    EXPECT_REFUSED(161002, says, RopeWithSinCosCacheV2, places.handle(), x.handle(), x.handle(),
                   angles.handle(), sections, size, true, mode, Handle(x), Handle(x));
  };
  refused("headSize value is 0, expected more than 0", positions, cache, nullptr, 0, 0);
  refused("cosSinCache shape is (3, 10), expected an even number of angles, at most headSize, 8",
          positions, wide, nullptr, 8, 0);
  refused("queryIn shape is (2, 8), expected 2 tokens with heads of 16 elements", positions, cache,
          nullptr, 16, 0);
  refused("mropeSection size is 3, expected 3 numbers whose sum is 4", three, cache, wrong.get(), 8,
          0);
  refused("positions shape is (4, 2), expected 3 positions of each token", four, cache, more.get(),
          8, 1);
  refused("cacheMode value is 2, expected", three, cache, right.get(), 8, 2);
}

TEST(ApplyRotaryPosEmb, Refusals) {
  const Device device;
  const DeviceTensor q = EmptyFloats({2, 3, 4, 6}), k = EmptyFloats({2, 3, 1, 6}),
                     angles = EmptyFloats({2, 3, 1, 6}), one = EmptyFloats({1, 3, 1, 6}),
                     heads = EmptyFloats({2, 3, 4, 6}), half = Halves({2, 3, 1, 6}, 0);
  char interleave[] = "interleave", quarter[] = "quarter", none[] = "none";
  const auto refused = [&](const char* says, const DeviceTensor& cos, const DeviceTensor& key,
                           char* mode, int64_t layout = 1) {
    EXPECT_REFUSED(161002, says, ApplyRotaryPosEmbV2, Handle(q), Handle(key), cos.handle(),
                   cos.handle(), layout, mode);
  };
  refused("cos shape is (2, 3, 4, 6), expected (2, 3, 1, 6)", heads, k, interleave);
  refused("keyRef shape is (1, 3, 1, 6), expected (2, 3, 1, 6)", angles, one, interleave);
  refused("expected a last dimension that is a multiple of 4", angles, k, quarter);
  refused("rotaryMode value is 'none', expected", angles, k, none);
  refused("layout value is 5, expected", angles, k, interleave, 5);
  refused("keyRef dtype is FLOAT16", angles, half, interleave);
  refused("queryRef rank is 4 (shape (2, 3, 4, 6)), expected 3", angles, k, interleave, 4);
}

TEST(DequantRopeQuantKvcache, Refusals) {
  const Device device;
  const DeviceTensor x = Halves({2, 3, 8}, 1), whole = Filled(ACL_INT32, {2, 3, 8}, 1),
                     angles = Halves({2, 3, 1, 2}, 1), cache = Filled(ACL_INT8, {2, 5, 1, 2}, 0),
                     index = Make(ACL_INT32, {2}, {0, 2}), late = Make(ACL_INT32, {2}, {0, 3}),
                     scale = Floats({2}, {1, 1}), q = Halves({2, 3, 2, 2}, 0),
                     none = Halves({0}, 0), values = Filled(ACL_INT8, {2, 5, 1, 2}, 0);
  const IntListHandle splits({{4, 2, 2}}), uneven({{3, 3, 2}});
  const auto plan = [&](const DeviceTensor& of, const aclIntArray* parts,
                        const DeviceTensor& rows) {
    return [&, parts](uint64_t* size, aclOpExecutor** executor) {
      return aclnnDequantRopeQuantKvcacheGetWorkspaceSize(
          of.handle(), angles.handle(), angles.handle(), Handle(cache), Handle(values),
          rows.handle(), scale.handle(), scale.handle(), nullptr, nullptr, nullptr, nullptr,
          nullptr, parts, nullptr, nullptr, false, nullptr, q.handle(), none.handle(),
          none.handle(), size, executor);
    };
  };
  EXPECT_EQ(Call(device, aclnnDequantRopeQuantKvcache, plan(x, splits.get(), index)).message, "");
  Refused(161002, "sizeSplits values are 3, 3, 2, expected a multiple of 2, 2, 2, whose sum is 8",
          plan(x, uneven.get(), index));
  Refused(161002, "weightScaleOptional value is null, expected a tensor, as x is INT32",
          plan(whole, splits.get(), index));
  const Outcome outcome = Call(device, aclnnDequantRopeQuantKvcache, plan(x, splits.get(), late));
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("indices value 1 is 3, expected 0 to 2, rows of the cache"),
            std::string::npos)
      << outcome.message;
}

TEST(QkvRmsNormRopeCache, Refusals) {
  const Device device;
  const DeviceTensor qkv = Halves({2, 16}, 1), gamma = Halves({4}, 1), angles = Halves({2, 4}, 1),
                     index = Make(ACL_INT64, {2}, {0, 1}), q = Halves({2, 8}, 0),
                     cache = Halves({1, 2, 3, 2}, 0), three = Halves({1, 1, 3, 3}, 0),
                     offset = Floats({1, 4}, {1, 1, 1, 1});
  const IntListHandle sizes({{1, 2, 4, 4}}), heads({{2, 1, 1}}), more({{1, 2, 1}}), two({{2, 1}});
  const auto refused = [&](const char* says, const aclIntArray* counts, const DeviceTensor& keys,
                           const aclTensor* more_offset = nullptr) {
    char mode[] = "PA_NZ";
    EXPECT_REFUSED(161002, says, QkvRmsNormRopeCache, qkv.handle(), gamma.handle(), gamma.handle(),
                   angles.handle(), angles.handle(), index.handle(), Handle(q), Handle(keys),
                   Handle(cache), nullptr, nullptr, more_offset, nullptr, sizes.get(), counts, 1e-6,
                   mode, nullptr, nullptr, nullptr);
  };
  refused("headNums size is 2, expected 3", two.get(), cache);
  const IntListHandle wraps({{(int64_t{1} << 62) + 1, 1, 1}});
  refused("headNums value 0 is 4611686018427387905, expected 1 <= value <= ", wraps.get(), cache);
  refused("headNums value 2 is 1, expected 2, the heads of keys", more.get(), cache);
  refused("kCacheRef shape is (1, 1, 3, 3), expected a last dimension that divides 4", heads.get(),
          three);
  refused("kOffsetOptional value is a tensor, expected null without kScaleOptional", heads.get(),
          cache, offset.handle());
}

}  // namespace
}  // namespace openaclnn::test
