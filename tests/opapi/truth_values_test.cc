// SPDX-License-Identifier: Apache-2.0
// Numbers that go to BOOL are converted as each of them: any but 0 is true, fractions and NaN too.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

DeviceTensor Truths(const Dims& dims, const Doubles& values) {
  return Make(ACL_BOOL, dims, values);
}

TEST(TruthValues, OfFills) {
  const Device device;
  const DeviceTensor places = Make(ACL_INT64, {1, 1}, {1}), row = Make(ACL_INT64, {1}, {1});
  const IntListHandle pads({{1, 0}}), ones({{1}});
  for (const double number : Doubles{0.5, -0.5, 1e-45, NAN, 2, -INFINITY}) {
    SCOPED_TRACE(number);
    const ScalarHandle value(number);
    const DeviceTensor self = Truths({2, 2}, {0, 0, 0, 0}),
                       wide = Truths({2, 3}, {0, 0, 0, 0, 0, 0}),
                       out = Truths({2, 2}, {0, 0, 0, 0});
    EXPECT_RUN(device, ConstantPadNd, self.handle(), pads.get(), value.get(), Handle(wide));
    EXPECT_EQ(ValuesOf(wide), (Doubles{1, 0, 0, 1, 0, 0}));
    EXPECT_RUN(device, IndexFillTensor, self.handle(), 1, ones.get(), value.get(), Handle(out));
    EXPECT_EQ(ValuesOf(out), (Doubles{0, 1, 0, 1}));
    EXPECT_RUN(device, IndexFill, self.handle(), 0, row.handle(), value.get(), Handle(out));
    EXPECT_EQ(ValuesOf(out), (Doubles{0, 0, 1, 1}));
    EXPECT_RUN(device, ScatterValue, self.handle(), 1, places.handle(), value.get(), 0,
               Handle(out));
    EXPECT_EQ(ValuesOf(out), (Doubles{0, 1, 0, 0}));
    EXPECT_RUN(device, InplaceFillDiagonal, Handle(out), value.get(), false);
    EXPECT_EQ(ValuesOf(out), (Doubles{1, 1, 0, 1}));
  }
}

// The sum of all is 0, and the product a multiple of 2^64, or less than any number of DOUBLE.
TEST(TruthValues, OfSumsAndProducts) {
  const Device device;
  const IntListHandle all({});
  const DeviceTensor out = Truths({}, {0});
  const auto sum = [&](aclDataType dtype, const Doubles& values) {
    const DeviceTensor self = Make(dtype, {static_cast<int64_t>(values.size())}, values);
    EXPECT_RUN(device, ReduceSum, self.handle(), all.get(), false, ACL_BOOL, Handle(out));
    return ValuesOf(out)[0];
  };
  const auto product = [&](aclDataType dtype, const Doubles& values) {
    const DeviceTensor self = Make(dtype, {static_cast<int64_t>(values.size())}, values);
    EXPECT_RUN(device, ProdDim, self.handle(), 0, false, ACL_BOOL, Handle(out));
    const double along = ValuesOf(out)[0];
    EXPECT_RUN(device, Prod, self.handle(), ACL_BOOL, Handle(out));
    EXPECT_EQ(ValuesOf(out)[0], along);
    return along;
  };
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_INT64, ACL_INT8}) {
    EXPECT_EQ(sum(dtype, {1, -1}), 1);
    EXPECT_EQ(sum(dtype, {0, 0}), 0);
    EXPECT_EQ(product(dtype, {1, 0}), 0);
  }
  EXPECT_EQ(sum(ACL_FLOAT, {0, NAN}), 1);
  EXPECT_EQ(product(ACL_INT64, Doubles(8, 256)), 1);
  EXPECT_EQ(product(ACL_DOUBLE, {1e-200, 1e-200}), 1);
}

}  // namespace
}  // namespace openaclnn::test
