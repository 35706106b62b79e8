// SPDX-License-Identifier: Apache-2.0
// Dot of integers: exact in 64 bits, one type for all, vectors alone.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(DotOfIntegers, IsExactWhereFloatsAreNot) {
  const Device device;
  Random random(82);
  // More than a run; products of which FLOAT has no last digits.
  const int64_t count = 1500;
  Doubles a, b;
  int64_t wanted = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t x = 30000 + i, y = i % 2 == 0 ? 30001 : -30001;
    a.push_back(static_cast<double>(x));
    b.push_back(static_cast<double>(y));
    wanted += x * y;
  }
  DeviceTensor self(ACL_INT32, RandomLayout(random, {count}, false)),
      tensor(ACL_INT32, RandomLayout(random, {count}, false));
  const DeviceTensor out(ACL_INT32, DenseLayout({}));
  self.Write(ToBytes(ACL_INT32, a));
  tensor.Write(ToBytes(ACL_INT32, b));
  EXPECT_RUN(device, Dot, self.handle(), tensor.handle(), Handle(out));
  EXPECT_EQ(ValuesOf(out), Doubles{static_cast<double>(wanted)});
}

TEST(DotOfIntegers, OfNothingIsZero) {
  const Device device;
  const DeviceTensor none = Make(ACL_UINT8, {0}, {}), out = Make(ACL_UINT8, {}, {7});
  EXPECT_RUN(device, Dot, none.handle(), none.handle(), Handle(out));
  EXPECT_EQ(ValuesOf(out), Doubles{0});
}

TEST(DotOfIntegers, WhatIsRefused) {
  const Device device;
  const DeviceTensor bytes = Make(ACL_INT8, {2}, {1, 2}), floats = Make(ACL_FLOAT, {2}, {1, 2}),
                     words = Make(ACL_INT64, {2}, {1, 2}),
                     matrix = Make(ACL_FLOAT, {2, 2}, {1, 2, 3, 4}),
                     byte(ACL_INT8, DenseLayout({})), number(ACL_FLOAT, DenseLayout({})),
                     vector(ACL_FLOAT, DenseLayout({2}));
  EXPECT_REFUSED(161002, "tensor dtype is FLOAT, expected that of self, INT8", Dot, bytes.handle(),
                 floats.handle(), Handle(byte));
  EXPECT_REFUSED(161002, "out dtype is FLOAT, expected that of self, INT8", Dot, bytes.handle(),
                 bytes.handle(), Handle(number));
  EXPECT_REFUSED(161002, "tensor dtype is INT8, expected FLOAT, ", Dot, floats.handle(),
                 bytes.handle(), Handle(number));
  EXPECT_REFUSED(161002, "self dtype is INT64", Dot, words.handle(), words.handle(), Handle(byte));
  EXPECT_REFUSED(161002, "self rank is 2 (shape (2, 2)), expected 1", Dot, matrix.handle(),
                 floats.handle(), Handle(vector));
}

}  // namespace
}  // namespace openaclnn::test
