// SPDX-License-Identifier: Apache-2.0
// What the supporting operators compute, over types and views, and what they refuse.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

// (3, 1, 4) with (2, 1) gives (3, 2, 4); every pair of types that are alike, every kind of view.
TEST(Supporting, BroadcastsAndPromotes) {
  const Device device;
  Random random(1);
  for (const aclDataType left : kTypes) {
    for (const aclDataType right : kTypes) {
      const aclDataType result = IsFloat(left) ? left : IsFloat(right) ? right : ACL_INT64;
      SCOPED_TRACE(testing::Message() << left << " " << right);
      const Doubles a = SmallValues(random, 12, 0, 1), b = SmallValues(random, 2, 0, 1);
      const DeviceTensor self = Make(left, {3, 1, 4}, a, random);
      const DeviceTensor other = Make(right, {2, 1}, b, random);
      const DeviceTensor out(result, RandomLayout(random, {3, 2, 4}, false));
      const ScalarHandle alpha(int64_t{3});
      ASSERT_EQ(Call(device, aclnnAdd,
                     [&](auto... o) {
                       return aclnnAddGetWorkspaceSize(self.handle(), other.handle(), alpha.get(),
                                                       Handle(out), o...);
                     })
                    .message,
                "");
      const Doubles got = ValuesOf(out);
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], a[i / 8 * 4 + i % 4] + 3 * b[i / 4 % 2]) << i;
      }
      EXPECT_EQ(out.Damage(), "");
    }
  }
}

TEST(Supporting, ConvertsBetweenAllTypes) {
  const Device device;
  Random random(2);
  for (const aclDataType from : kTypes) {
    for (const aclDataType to : kTypes) {
      SCOPED_TRACE(testing::Message() << from << " to " << to);
      const Doubles given = {0, 1, 2.5, 100.3, 65519, 1e-6, 3.14159};
      const DeviceTensor self = Make(from, {7}, given, random);
      const DeviceTensor out(to, RandomLayout(random, {7}, false));
      ASSERT_EQ(Call(device, aclnnCast,
                     [&](auto... o) {
                       return aclnnCastGetWorkspaceSize(self.handle(), to, Handle(out), o...);
                     })
                    .message,
                "");
      Doubles held = ValuesOf(self), got = ValuesOf(out);
      for (size_t i = 0; i < held.size(); ++i) {
        if (to == ACL_BOOL) held[i] = held[i] != 0;
        if (!IsFloat(to) && to != ACL_BOOL) {
          if (held[i] < 0 || held[i] > 100) continue;  // may not fit
          held[i] = std::trunc(held[i]);
        }
      }
      const Doubles want = ToDoubles(to, ToBytes(to, held));
      for (size_t i = 0; i < want.size(); ++i) {
        if (!IsFloat(to) && (held[i] < 0 || held[i] > 100)) continue;
        ASSERT_EQ(got[i], want[i]) << i;
      }
    }
  }
}

TEST(Supporting, WorksInPlaceAndOnTheSameView) {
  const Device device;
  const DeviceTensor self = Make(ACL_INT32, {4}, {1, -2, 3, -4});
  const ScalarHandle one(int64_t{1});
  ASSERT_TRUE(Call(device, aclnnInplaceAdd, [&](auto... o) {
                return aclnnInplaceAddGetWorkspaceSize(Handle(self), self.handle(), one.get(),
                                                       o...);
              }).ok());
  EXPECT_EQ(ValuesOf(self), (Doubles{2, -4, 6, -8}));
  ASSERT_TRUE(Call(device, aclnnAbs, [&](auto... o) {
                return aclnnAbsGetWorkspaceSize(self.handle(), Handle(self), o...);
              }).ok());
  EXPECT_EQ(ValuesOf(self), (Doubles{2, 4, 6, 8}));
}

TEST(Supporting, FloatsFollowIeee) {
  const Device device;
  const double inf = INFINITY, nan = NAN;
  const DeviceTensor a = Make(ACL_FLOAT, {5}, {1, -1, 0, nan, inf});
  const DeviceTensor b = Make(ACL_FLOAT, {5}, {0, 0, 0, 1, inf});
  const DeviceTensor out(ACL_FLOAT, DenseLayout({5}));
  ASSERT_TRUE(Call(device, aclnnDiv, [&](auto... o) {
                return aclnnDivGetWorkspaceSize(a.handle(), b.handle(), Handle(out), o...);
              }).ok());
  Doubles got = ValuesOf(out);
  EXPECT_EQ(got[0], inf);
  EXPECT_EQ(got[1], -inf);
  EXPECT_TRUE(std::isnan(got[2]) && std::isnan(got[3]) && std::isnan(got[4]));
  ASSERT_TRUE(Call(device, aclnnMaximum, [&](auto... o) {
                return aclnnMaximumGetWorkspaceSize(a.handle(), b.handle(), Handle(out), o...);
              }).ok());
  got = ValuesOf(out);
  EXPECT_EQ(got[0], 1);
  EXPECT_TRUE(std::isnan(got[3])) << "NaN is not passed over";
}

TEST(Supporting, SumsOverSomeDimensions) {
  const Device device;
  Random random(3);
  const Doubles values = SmallValues(random, 3 * 70 * 5, -9, 9);
  const int64_t dims[] = {-2};
  aclIntArray* list = aclCreateIntArray(dims, 1);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16, ACL_INT32, ACL_DOUBLE}) {
    const DeviceTensor self = Make(dtype, {3, 70, 5}, values, random);
    const DeviceTensor out(ACL_FLOAT, RandomLayout(random, {3, 1, 5}, false));
    ASSERT_EQ(Call(device, aclnnReduceSum,
                   [&](auto... o) {
                     return aclnnReduceSumGetWorkspaceSize(self.handle(), list, true, ACL_FLOAT,
                                                           Handle(out), o...);
                   })
                  .message,
              "");
    const Doubles got = ValuesOf(out);
    for (size_t i = 0; i < got.size(); ++i) {
      double sum = 0;
      for (size_t j = 0; j < 70; ++j) sum += values[i / 5 * 350 + j * 5 + i % 5];
      ASSERT_EQ(got[i], sum) << dtype << " " << i;
    }
  }
  aclDestroyIntArray(list);
}

// More than a chunk of terms, tiles cut by every border, batches broadcast.
TEST(Supporting, MultipliesMatrices) {
  const Device device;
  Random random(4);
  const int64_t m = 35, k = 200, n = 67;
  const Doubles a = SmallValues(random, 2 * m * k, -3, 3), b = SmallValues(random, k * n, -3, 3);
  const DeviceTensor self = Make(ACL_FLOAT, {2, m, k}, a, random);
  const DeviceTensor mat2 = Make(ACL_FLOAT, {k, n}, b, random);
  const DeviceTensor out(ACL_FLOAT, RandomLayout(random, {2, m, n}, false));
  ASSERT_EQ(Call(device, aclnnMatmul,
                 [&](auto... o) {
                   return aclnnMatmulGetWorkspaceSize(self.handle(), mat2.handle(), Handle(out),
                                                      int8_t{0}, o...);
                 })
                .message,
            "");
  const Doubles got = ValuesOf(out);
  for (int64_t i = 0; i < 2 * m * n; ++i) {
    double sum = 0;
    for (int64_t l = 0; l < k; ++l) {
      sum += a[static_cast<size_t>(i / n * k + l)] * b[static_cast<size_t>(l * n + i % n)];
    }
    ASSERT_EQ(got[static_cast<size_t>(i)], sum) << i;
  }
}

TEST(Supporting, MaskedSelectShapesItsResult) {
  const Device device;
  const DeviceTensor self = Make(ACL_INT64, {2, 3}, {1, 2, 3, 4, 5, 6});
  const DeviceTensor mask = Make(ACL_BOOL, {3}, {1, 0, 1});
  const DeviceTensor out(ACL_INT64, DenseLayout({6}));
  ASSERT_TRUE(Call(device, aclnnMaskedSelect, [&](auto... o) {
                return aclnnMaskedSelectGetWorkspaceSize(self.handle(), mask.handle(), Handle(out),
                                                         o...);
              }).ok());
  int64_t* dims = nullptr;
  uint64_t rank = 0;
  ASSERT_EQ(aclGetViewShape(out.handle(), &dims, &rank), 0);
  ASSERT_EQ(rank, 1u);
  EXPECT_EQ(dims[0], 4);
  delete[] dims;
  const Doubles got = ValuesOf(out);
  EXPECT_EQ(Doubles(got.begin(), got.begin() + 4), (Doubles{1, 3, 4, 6}));
}

TEST(Supporting, RandomNumbersDependOnSeedAndPlaceAlone) {
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

TEST(Supporting, AClassOutOfRangeFailsTheTask) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {2, 3}, {1, 2, 3, 4, 5, 6});
  const DeviceTensor target = Make(ACL_INT64, {2}, {1, 3});
  const DeviceTensor weight = Make(ACL_FLOAT, {3}, {1, 1, 1});
  DeviceTensor out(ACL_FLOAT, DenseLayout({})), total(ACL_FLOAT, DenseLayout({}));
  out.Scramble();
  const Outcome outcome = Call(device, aclnnNLLLoss, [&](auto... o) {
    return aclnnNLLLossGetWorkspaceSize(self.handle(), target.handle(), weight.handle(), 1, -100,
                                        Handle(out), Handle(total), o...);
  });
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("target value 1 is 3"), std::string::npos) << outcome.message;
  EXPECT_EQ(out.Change(), "");
}

TEST(Supporting, RefusesInTheOrderOfItsChecks) {
  const Device device;
  const DeviceTensor a(ACL_FLOAT, DenseLayout({2, 3})), b(ACL_FLOAT, DenseLayout({2})),
      integers(ACL_INT32, DenseLayout({2, 3}));
  const aclTensor* none = nullptr;
  Refused(161001, "aclnnMul: other value is null",
          [&](auto... o) { return aclnnMulGetWorkspaceSize(a.handle(), none, Handle(a), o...); });
  Refused(161002, "other shape is (2), expected one that can be broadcast", [&](auto... o) {
    return aclnnMulGetWorkspaceSize(a.handle(), b.handle(), Handle(a), o...);
  });
  Refused(161002, "out shape is (2), expected (2, 3)", [&](auto... o) {
    return aclnnMulGetWorkspaceSize(a.handle(), a.handle(), Handle(b), o...);
  });
  Refused(161002, "out dtype is INT32, expected a float type",
          [&](auto... o) { return aclnnSqrtGetWorkspaceSize(a.handle(), Handle(integers), o...); });
  Refused(161002, "mat2 shape is (2, 3), expected one that self", [&](auto... o) {
    return aclnnMmGetWorkspaceSize(a.handle(), a.handle(), Handle(a), int8_t{0}, o...);
  });
  Refused(161002, "dim value is 2, expected a dimension of self",
          [&](auto... o) { return aclnnSoftmaxGetWorkspaceSize(a.handle(), 2, Handle(a), o...); });
}

// Shapes that nobody could hold are planned or refused at once.
TEST(Supporting, HugeShapesWithoutElements) {
  const Device device;
  const int64_t big = int64_t{1} << 40;
  const DeviceTensor row(ACL_FLOAT, DenseLayout({0}));
  const TensorHandle huge({.dims = {big, 0, big}}), other({.dims = {big, 0, big}});
  EXPECT_EQ(Call(device, aclnnAbs,
                 [&](auto... o) { return aclnnAbsGetWorkspaceSize(huge.get(), other.get(), o...); })
                .message,
            "");
  EXPECT_EQ(Call(device, aclnnSoftmax,
                 [&](auto... o) {
                   return aclnnSoftmaxGetWorkspaceSize(huge.get(), 1, other.get(), o...);
                 })
                .message,
            "");
  Refused(161002, "out shape is (0)", [&](auto... o) {
    const DeviceTensor self(ACL_FLOAT, DenseLayout({1})), mask(ACL_BOOL, DenseLayout({2}));
    return aclnnMaskedSelectGetWorkspaceSize(self.handle(), mask.handle(), Handle(row), o...);
  });
}

TEST(Supporting, Bfloat16NeedsAProductThatHasIt) {
  const Device device({{"OPENACLNN_SOC", "Ascend910A"}});
  const DeviceTensor a(ACL_BF16, DenseLayout({2}));
  Refused(161002, "self dtype is BFLOAT16, expected",
          [&](auto... o) { return aclnnAbsGetWorkspaceSize(a.handle(), Handle(a), o...); });
}

}  // namespace
}  // namespace openaclnn::test
