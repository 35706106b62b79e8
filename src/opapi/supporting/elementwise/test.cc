// SPDX-License-Identifier: Apache-2.0
// Results of elementwise operators, over types and views, and refusals that all operators share.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

bool IsWideUnsigned(aclDataType dtype) { return dtype == ACL_UINT16 || dtype == ACL_UINT32; }

// (3, 1, 4) with (2, 1) gives (3, 2, 4); every pair of types, every kind of view. UINT16 and UINT32
// meet no other type; LtTensor takes two of them, Add none.
TEST(Elementwise, BroadcastsAndPromotes) {
  const Device device;
  Random random(1);
  for (const aclDataType left : kTypes) {
    for (const aclDataType right : kTypes) {
      const aclDataType result = IsFloat(left) ? left : IsFloat(right) ? right : ACL_INT64;
      SCOPED_TRACE(testing::Message() << left << " " << right);
      const Doubles a = SmallValues(random, 12, 0, 1), b = SmallValues(random, 2, 0, 1);
      const DeviceTensor self = Make(left, {3, 1, 4}, a, random);
      const DeviceTensor other = Make(right, {2, 1}, b, random);
      const DeviceTensor truth(ACL_BOOL, RandomLayout(random, {3, 2, 4}, false)),
          sum(result, RandomLayout(random, {3, 2, 4}, false));
      const auto check = [&](const DeviceTensor& out, auto want) {
        const Doubles got = ValuesOf(out);
        for (size_t i = 0; i < got.size(); ++i) {
          ASSERT_EQ(got[i], want(a[i / 8 * 4 + i % 4], b[i / 4 % 2])) << i;
        }
        EXPECT_EQ(out.Damage(), "");
      };
      const bool wide = IsWideUnsigned(left) || IsWideUnsigned(right);
      if (wide && left != right) {
        EXPECT_REFUSED(161002, ", expected that of self, ", LtTensor, self.handle(), other.handle(),
                       Handle(truth));
        continue;
      }
      EXPECT_RUN(device, LtTensor, self.handle(), other.handle(), Handle(truth));
      check(truth, [](double x, double y) { return x < y; });
      if (wide) continue;
      const ScalarHandle alpha(int64_t{3});
      EXPECT_RUN(device, Add, self.handle(), other.handle(), alpha.get(), Handle(sum));
      const bool truths = left == ACL_BOOL && right == ACL_BOOL;  // whose sum is one
      check(sum, [=](double x, double y) { return truths ? (x + y > 0 ? 1 : 0) : x + 3 * y; });
    }
  }
}

TEST(Elementwise, ConvertsBetweenAllTypes) {
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

TEST(Elementwise, WorksInPlaceAndOnTheSameView) {
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

TEST(Elementwise, FloatsFollowIeee) {
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

TEST(Elementwise, RefusesInTheOrderOfItsChecks) {
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
TEST(Elementwise, HugeShapesWithoutElements) {
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

TEST(Elementwise, Bfloat16NeedsAProductThatHasIt) {
  const Device device({{"OPENACLNN_SOC", "Ascend910A"}});
  const DeviceTensor a(ACL_BF16, DenseLayout({2}));
  Refused(161002, "self dtype is BFLOAT16, expected",
          [&](auto... o) { return aclnnAbsGetWorkspaceSize(a.handle(), Handle(a), o...); });
}

TEST(Elementwise, BoundsMayBeTruthValues) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {3}, {-2, 0.5, 3}), low = Make(ACL_BOOL, {1}, {0}),
                     high = Make(ACL_BOOL, {3}, {1, 1, 0}), out(ACL_FLOAT, DenseLayout({3}));
  EXPECT_RUN(device, ClampTensor, self.handle(), low.handle(), high.handle(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{0, 0.5, 0}));
}

}  // namespace
}  // namespace openaclnn::test
