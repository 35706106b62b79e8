// SPDX-License-Identifier: Apache-2.0
// FusedFloydAttention and its gradient: bits under all settings, and what must not be taken.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

/// Operands of one batch of two heads, 3 first and 4 second places, 70 keys.
struct Floyd {
  explicit Floyd(Random& random, aclDataType type = ACL_FLOAT)
      : dtype(type),
        q(Drawn(random, kRows)),
        k1(Drawn(random, kFirst)),
        v1(Drawn(random, kFirst)),
        k2(Drawn(random, kSecond)),
        v2(Drawn(random, kSecond)),
        dy(Drawn(random, kRows)) {}

  DeviceTensor Drawn(Random& random, const Dims& dims) const {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    return Make(dtype, dims, RealValues(random, count), random);
  }
  DeviceTensor Room(const Dims& dims) const { return {dtype, DenseLayout(dims)}; }

  /// All results, the forward's first.
  std::vector<std::vector<std::byte>> Run(const Device& device) const {
    const DeviceTensor max = EmptyFloats(kSums), sum = EmptyFloats(kSums), out = Room(kRows),
                       dq = Room(kRows), dk1 = Room(kFirst), dv1 = Room(kFirst),
                       dk2 = Room(kSecond), dv2 = Room(kSecond);
    EXPECT_RUN(device, FusedFloydAttention, q.handle(), k1.handle(), v1.handle(), k2.handle(),
               v2.handle(), nullptr, 0.5, Handle(max), Handle(sum), Handle(out));
    EXPECT_RUN(device, FusedFloydAttentionGrad, q.handle(), k1.handle(), v1.handle(), k2.handle(),
               v2.handle(), dy.handle(), nullptr, max.handle(), sum.handle(), out.handle(), 0.5,
               Handle(dq), Handle(dk1), Handle(dv1), Handle(dk2), Handle(dv2));
    std::vector<std::vector<std::byte>> results;
    for (const DeviceTensor* each : {&max, &sum, &out, &dq, &dk1, &dv1, &dk2, &dv2}) {
      results.push_back(each->Read());
    }
    return results;
  }

  static inline const Dims kRows = {1, 2, 3, 4, 5}, kFirst = {1, 2, 3, 70, 5},
                           kSecond = {1, 2, 70, 4, 5}, kSums = {1, 2, 3, 4, 8};
  aclDataType dtype;
  DeviceTensor q, k1, v1, k2, v2, dy;
};

TEST(FusedFloydAttention, ThreadsAndInstructionSets) {
  std::vector<std::vector<std::byte>> fused, baseline;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    SCOPED_TRACE(setting);
    Random random(71);
    const auto results = Floyd(random).Run(device);
    auto& expected = IsFused(setting) ? fused : baseline;
    if (expected.empty()) expected = results;
    EXPECT_TRUE(results == expected);
  });
}

TEST(FusedFloydAttention, RowsThatSeeNoKey) {
  const Device device;
  const DeviceTensor x = Floats({1, 1, 1, 1, 2}, {1, 2}),
                     mask = Make(ACL_BOOL, {1, 1, 1, 1, 1}, {1}),
                     max = EmptyFloats({1, 1, 1, 1, 8}), sum = EmptyFloats({1, 1, 1, 1, 8}),
                     out = EmptyFloats({1, 1, 1, 1, 2});
  EXPECT_RUN(device, FusedFloydAttention, x.handle(), x.handle(), x.handle(), x.handle(),
             x.handle(), mask.handle(), 1.0, Handle(max), Handle(sum), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{0, 0}));
  EXPECT_EQ(ValuesOf(max), Doubles(8, 0.0));
  EXPECT_EQ(ValuesOf(sum), Doubles(8, 0.0));
}

TEST(FusedFloydAttention, Refusals) {
  const Device device;
  const DeviceTensor q = EmptyFloats({1, 2, 3, 4, 5}), first = EmptyFloats({1, 2, 3, 6, 5}),
                     second = EmptyFloats({1, 2, 6, 4, 5}), sums = EmptyFloats({1, 2, 3, 4, 8}),
                     one = EmptyFloats({1, 2, 3, 4, 1}),
                     mask = Make(ACL_BOOL, {1, 1, 3, 1, 5}, Doubles(15, 0.0)),
                     number = EmptyFloats({1, 1, 3, 1, 6}), whole(ACL_INT32, DenseLayout({1}));
  const auto refused = [&](const char* says, const DeviceTensor& k1, const DeviceTensor& k2,
                           const aclTensor* hides, const DeviceTensor& max) {
    EXPECT_REFUSED(161002, says, FusedFloydAttention, q.handle(), k1.handle(), first.handle(),
                   k2.handle(), second.handle(), hides, 1.0, max.handle(), sums.handle(),
                   q.handle());
  };
  refused("keyJk shape is (1, 2, 3, 6, 5), expected (1, 2, 6, 4, 5)", first, first, nullptr, sums);
  refused("keyIj rank is 1", whole, second, nullptr, sums);
  refused("attenMaskOptional shape is (1, 1, 3, 1, 5), expected (1, 1, 3, 1, 6)", first, second,
          mask.handle(), sums);
  refused("attenMaskOptional dtype is FLOAT, expected BOOL, UINT8", first, second, number.handle(),
          sums);
  refused("softmaxMaxOut shape is (1, 2, 3, 4, 1), expected (1, 2, 3, 4, 8)", first, second,
          nullptr, one);
}

}  // namespace
}  // namespace openaclnn::test
