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

// torch.arange(0.1, -7.9, -4.0, dtype=torch.int64) is [0, -4]: the fractions are lost first.
TEST(Create, LinesOfComplexNumbers) {
  const Device device;
  const float number[] = {2, 4};
  aclScalar* const end = aclCreateScalar(const_cast<float*>(number), ACL_COMPLEX64);
  const ScalarHandle start(int64_t{0});
  const DeviceTensor line(ACL_COMPLEX128, DenseLayout({3})), real(ACL_DOUBLE, DenseLayout({3}));
  EXPECT_RUN(device, Linspace, start.get(), end, 3, Handle(line));
  EXPECT_EQ(line.Read(), ToBytes(ACL_DOUBLE, {0, 0, 1, 2, 2, 4}));
  const DeviceTensor one(ACL_COMPLEX64, DenseLayout({1}));
  EXPECT_RUN(device, Linspace, end, start.get(), 1, Handle(one));
  EXPECT_EQ(one.Read(), ToBytes(ACL_FLOAT, {2, 4}));
  EXPECT_REFUSED(161002, "end dtype is COMPLEX64, expected a real type", Linspace, start.get(), end,
                 3, Handle(real));
  aclDestroyScalar(end);
}

TEST(Create, AnIntegerOutputTakesNumbersWithoutFractions) {
  const Device device;
  Random random(40);
  const ScalarHandle start(0.1), end(-7.9), step(-4.0), half(0.5), low(-0.9), high(3.9);
  for (const aclDataType dtype : {ACL_INT64, ACL_INT32, ACL_INT8}) {
    const DeviceTensor out(dtype, RandomLayout(random, {2}, false));
    EXPECT_RUN(device, Arange, start.get(), end.get(), step.get(), Handle(out));
    EXPECT_EQ(ValuesOf(out), (Doubles{0, -4}));
    EXPECT_REFUSED(161002, "step value is 0.5", Arange, end.get(), start.get(), half.get(),
                   Handle(out));
    const DeviceTensor line(dtype, RandomLayout(random, {4}, false));
    EXPECT_RUN(device, Linspace, low.get(), high.get(), 4, Handle(line));
    EXPECT_EQ(ValuesOf(line), (Doubles{0, 1, 2, 3}));
  }
  const DeviceTensor real(ACL_FLOAT, RandomLayout(random, {2}, false));
  EXPECT_RUN(device, Arange, start.get(), end.get(), step.get(), Handle(real));
  ExpectNear(ValuesOf(real), {0.1, -3.9}, ACL_FLOAT);
}

// NaN, without its fraction, would be 0.
TEST(Create, ArangeWithoutAnEndOrAStart) {
  const Device device;
  const ScalarHandle zero(0.0), one(1.0), three(3.0), nan(std::nan("")), infinity(INFINITY);
  for (const aclDataType dtype : {ACL_INT64, ACL_FLOAT}) {
    const DeviceTensor out(dtype, DenseLayout({3}));
    EXPECT_REFUSED(161002, "start value is nan, expected a finite one", Arange, nan.get(),
                   three.get(), one.get(), Handle(out));
    EXPECT_REFUSED(161002, "end value is inf, expected a finite one", Arange, zero.get(),
                   infinity.get(), one.get(), Handle(out));
    EXPECT_REFUSED(161002, "step value is nan", Arange, zero.get(), three.get(), nan.get(),
                   Handle(out));
  }
}

// As ggml has it.
TEST(Create, ArangeTakesARowOfMoreDimensions) {
  const Device device;
  const ScalarHandle start(1.0), end(7.0), step(2.0);
  const DeviceTensor row(ACL_FLOAT, DenseLayout({1, 1, 1, 3})),
      square(ACL_FLOAT, DenseLayout({3, 3})), scalar(ACL_FLOAT, DenseLayout({}));
  EXPECT_RUN(device, Arange, start.get(), end.get(), step.get(), Handle(row));
  EXPECT_EQ(ValuesOf(row), (Doubles{1, 3, 5}));
  EXPECT_REFUSED(161002, "out shape is (3, 3)", Arange, start.get(), end.get(), step.get(),
                 Handle(square));
  EXPECT_REFUSED(161002, "out shape is ()", Arange, start.get(), start.get(), step.get(),
                 Handle(scalar));
}

}  // namespace
}  // namespace openaclnn::test
