// SPDX-License-Identifier: Apache-2.0
// Tensors that are made.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(Create, WhatIsMade) {
  const Device device;
  Random random(39);
  const DeviceTensor eye(ACL_BF16, RandomLayout(random, {2, 3}, false)),
      line(ACL_FLOAT, RandomLayout(random, {5}, false)), none(ACL_FLOAT, DenseLayout({0}));
  EXPECT_RUN(device, Eye, 2, 3, Handle(eye));
  EXPECT_EQ(ValuesOf(eye), (Doubles{1, 0, 0, 0, 1, 0}));
  const ScalarHandle start(-1.0), end(1.0), seven(int64_t{7});
  EXPECT_RUN(device, Linspace, start.get(), end.get(), 5, Handle(line));
  EXPECT_EQ(ValuesOf(line), (Doubles{-1, -0.5, 0, 0.5, 1}));
  EXPECT_RUN(device, Linspace, start.get(), end.get(), 0, Handle(none));
  EXPECT_REFUSED(161002, "steps value is -1", Linspace, start.get(), end.get(), -1, Handle(none));
  const DeviceTensor classes = Make(ACL_INT64, {3}, {1, -1, 0}), on = Make(ACL_INT64, {1}, {5}),
                     off = Make(ACL_INT64, {1}, {2}),
                     hot(ACL_INT64, RandomLayout(random, {2, 3}, false));
  EXPECT_RUN(device, OneHot, classes.handle(), 2, on.handle(), off.handle(), 0, Handle(hot));
  EXPECT_EQ(ValuesOf(hot), (Doubles{2, 2, 5, 5, 2, 2}));
  const DeviceTensor tall = Make(ACL_INT32, {5, 2}, Doubles(10, 0), random);
  EXPECT_RUN(device, InplaceFillDiagonal, Handle(tall), seven.get(), true);
  EXPECT_EQ(ValuesOf(tall), (Doubles{7, 0, 0, 7, 0, 0, 7, 0, 0, 7}));
  const DeviceTensor triangle = Make(ACL_FLOAT, {2, 2}, {1, 2, 3, 4}, random);
  EXPECT_RUN(device, InplaceTriu, Handle(triangle), 0);
  EXPECT_EQ(ValuesOf(triangle), (Doubles{1, 2, 0, 4}));
}

}  // namespace
}  // namespace openaclnn::test
