// SPDX-License-Identifier: Apache-2.0
// Tasks of any numbers: what they compute of them fits 64 bits, and rows without elements are not
// gone over, of which there may be any number.
#include <unistd.h>

#include "supporting/family_test.h"
#include "tests/support/described.h"

namespace openaclnn::test {
namespace {

TEST(LongTasks, OfNoElements) {
  alarm(60);  // for one that does not end
  const Device device;
  const Dims rows = {INT64_MAX, 0}, more = {int64_t{1} << 31, int64_t{1} << 31, 0};
  const IntListHandle last({{0}});
  EXPECT_RUN(device, Eye, INT64_MAX, 0, Described(rows));
  EXPECT_RUN(device, Glu, Described(more), 2, Described(more));
  EXPECT_RUN(device, LayerNorm, Described(rows), last.get(), nullptr, nullptr, 1e-5,
             Described(rows), nullptr, nullptr);
  const DeviceTensor moments(
      ACL_FLOAT, {.dims = {INT64_MAX, 1}, .strides = {0, 0}, .offset = 0, .storage = 1});
  const FlagsHandle all({true, true, true});
  EXPECT_RUN(device, LayerNormBackward, Described(rows), Described(rows), last.get(),
             moments.handle(), moments.handle(), nullptr, nullptr, all.get(), Described(rows),
             Described({0}), Described({0}));
  EXPECT_RUN(device, InplaceFillDiagonal, Described(rows), ScalarHandle(1.0).get(), true);
  const DeviceTensor number(ACL_INT64, DenseLayout({1})),
      numbers(ACL_INT64, {.dims = {INT64_MAX}, .strides = {0}, .offset = 0, .storage = 1});
  EXPECT_RUN(device, OneHot, numbers.handle(), 0, number.handle(), number.handle(), 1,
             Described(rows, ACL_INT64));
  alarm(0);
}

TEST(LongTasks, OfFarCorrections) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {3}, {1, 2, 3}), out(ACL_FLOAT, DenseLayout({}));
  const IntListHandle dim({{0}});
  EXPECT_RUN(device, VarCorrection, self.handle(), dim.get(), INT64_MIN, false, Handle(out));
  EXPECT_EQ(ValuesOf(out), Doubles{0x1p-62});
  EXPECT_RUN(device, VarCorrection, self.handle(), dim.get(), INT64_MAX, false, Handle(out));
  EXPECT_EQ(ValuesOf(out), Doubles{INFINITY});
}

TEST(LongTasks, OfWindowsInPadding) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {1, 1, 1, 1}, {7}),
                     out(ACL_FLOAT, DenseLayout({1, 2, 2, 2})),
                     places(ACL_INT32, DenseLayout({1, 2, 2, 2}));
  const IntListHandle taps({{1 << 20}}), half({{1 << 19}}), one({{1}});
  EXPECT_RUN(device, MaxPool3dWithArgmax, self.handle(), taps.get(), one.get(), half.get(),
             one.get(), false, Handle(out), Handle(places));
  EXPECT_EQ(ValuesOf(out), Doubles(8, 7));
  EXPECT_EQ(ValuesOf(places), Doubles(8, 0));
}

}  // namespace
}  // namespace openaclnn::test
