// SPDX-License-Identifier: Apache-2.0
// Random numbers, draws and dropout.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(RandomNumbers, RandomNumbersDependOnSeedAndPlaceAlone) {
  const Device device;
  const auto draw = [&](uint64_t seed) {
    const DeviceTensor out(ACL_FLOAT, DenseLayout({10000}));
    EXPECT_TRUE(Call(device, aclnnInplaceUniform, [&](auto... o) {
                  return aclnnInplaceUniformGetWorkspaceSize(Handle(out), 2.0, 4.0, seed,
                                                             uint64_t{7}, o...);
                }).ok());
    return ValuesOf(out);
  };
  const Doubles a = draw(1);
  EXPECT_EQ(a, draw(1));
  EXPECT_NE(a, draw(2));
  double sum = 0;
  for (const double value : a) {
    ASSERT_TRUE(2 <= value && value < 4) << value;
    sum += value;
  }
  EXPECT_NEAR(sum / 10000, 3, 0.03);
}

TEST(RandomNumbers, IntegersOfComplexNumbersAreReal) {
  const Device device;
  Random random(17);
  const DeviceTensor real(ACL_FLOAT, RandomLayout(random, {40}, false)),
      complex(ACL_COMPLEX64, RandomLayout(random, {40}, false));
  EXPECT_RUN(device, InplaceRandom, Handle(real), -9, 90, 5, 3);
  EXPECT_RUN(device, InplaceRandom, Handle(complex), -9, 90, 5, 3);
  Doubles parts;
  for (const double each : ValuesOf(real)) {
    parts.push_back(each);
    parts.push_back(0);
  }
  EXPECT_EQ(complex.Read(), ToBytes(ACL_FLOAT, parts));
  // FLOAT has no 2^30 + 1.
  EXPECT_REFUSED(161002, "to value is 1073741826, expected a number of FLOAT", InplaceRandom,
                 Handle(complex), (int64_t{1} << 30) + 1, (int64_t{1} << 30) + 2, 5, 3);
}

TEST(RandomNumbers, DropoutKeepsItsShare) {
  const Device device;
  const int64_t count = 10000;
  const IntListHandle shape({{count}});
  const DeviceTensor x = Make(ACL_FLOAT, {count}, Doubles(count, 1)),
                     mask(ACL_UINT8, DenseLayout({count / 128 * 16 + 16})),
                     again(ACL_UINT8, DenseLayout({count / 128 * 16 + 16})),
                     y(ACL_FLOAT, DenseLayout({count}));
  EXPECT_RUN(device, DropoutGenMaskV2, shape.get(), 0.25, 7, 3, ACL_FLOAT, Handle(mask));
  EXPECT_RUN(device, DropoutGenMask, shape.get(), 0.25, 7, 3, Handle(again));
  EXPECT_EQ(mask.Read(), again.Read());
  EXPECT_RUN(device, DropoutDoMask, x.handle(), mask.handle(), 0.25, Handle(y));
  double kept = 0;
  for (const double value : ValuesOf(y)) {
    ASSERT_TRUE(value == 0 || std::abs(value - 4.0 / 3) < 1e-6) << value;
    kept += value != 0;
  }
  EXPECT_NEAR(kept / count, 0.75, 0.02);
  EXPECT_REFUSED(161002, "prob value is 1.5", DropoutGenMask, shape.get(), 1.5, 7, 3, Handle(mask));
  EXPECT_REFUSED(161002, "mask shape is (1), expected (1264)", DropoutDoMask, x.handle(),
                 Make(ACL_UINT8, {1}, {0}).handle(), 0.25, Handle(y));
}

TEST(RandomNumbers, RandomNumbers) {
  const Device device;
  const DeviceTensor order(ACL_INT64, DenseLayout({100})), bits(ACL_FLOAT, DenseLayout({10000})),
      p = Make(ACL_FLOAT, {10000}, Doubles(10000, 0.3)), normal(ACL_FLOAT, DenseLayout({10000})),
      mean = Make(ACL_FLOAT, {}, {5}), five = Make(ACL_FLOAT, {1}, {5});
  EXPECT_RUN(device, Randperm, 100, 1, 2, Handle(order));
  Doubles drawn = ValuesOf(order);
  EXPECT_FALSE(std::is_sorted(drawn.begin(), drawn.end()));
  std::sort(drawn.begin(), drawn.end());
  for (size_t i = 0; i < 100; ++i) ASSERT_EQ(drawn[i], static_cast<double>(i));
  const auto average = [](const Doubles& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  EXPECT_RUN(device, InplaceBernoulliTensor, bits.handle(), p.handle(), 1, 2);
  EXPECT_NEAR(average(ValuesOf(bits)), 0.3, 0.02);
  EXPECT_RUN(device, NormalTensorFloat, mean.handle(), 0.5f, 1, 2, Handle(mean));
  EXPECT_RUN(device, NormalTensorTensor, five.handle(), p.handle(), 1, 2, Handle(normal));
  EXPECT_NEAR(average(ValuesOf(normal)), 5, 0.02);
  EXPECT_RUN(device, NormalFloatFloat, 5.0f, 0.3f, 1, 2, Handle(bits));
  EXPECT_EQ(ValuesOf(bits), ValuesOf(normal)) << "the same seed and deviation";
}

TEST(RandomNumbers, DrawsByWeights) {
  const Device device;
  const DeviceTensor weights = Make(ACL_FLOAT, {2, 4}, {0, 1, 3, 0, 1, 1, 1, 1}),
                     many(ACL_INT64, DenseLayout({2, 4000})), all(ACL_INT64, DenseLayout({2, 4})),
                     none = Make(ACL_FLOAT, {4}, {0, 0, 0, 0}), one(ACL_INT64, DenseLayout({1}));
  EXPECT_RUN(device, Multinomial, weights.handle(), 4000, true, 5, 6, Handle(many));
  const Doubles drawn = ValuesOf(many);
  double twos = 0;
  for (size_t i = 0; i < 4000; ++i) {
    ASSERT_TRUE(drawn[i] == 1 || drawn[i] == 2) << "what has no weight is not drawn";
    twos += drawn[i] == 2;
  }
  EXPECT_NEAR(twos / 4000, 0.75, 0.03);
  EXPECT_REFUSED(161002, "numsamples value is 5", Multinomial, weights.handle(), 5, false, 5, 6,
                 Handle(all));
  EXPECT_EQ(RUN(device, Multinomial, none.handle(), 1, true, 5, 6, Handle(one)).code, 507035);
  const DeviceTensor even = Make(ACL_FLOAT, {4}, {1, 2, 3, 4}), each(ACL_INT64, DenseLayout({4}));
  EXPECT_RUN(device, Multinomial, even.handle(), 4, false, 5, 6, Handle(each));
  Doubles sorted = ValuesOf(each);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, (Doubles{0, 1, 2, 3}));
}

}  // namespace
}  // namespace openaclnn::test
