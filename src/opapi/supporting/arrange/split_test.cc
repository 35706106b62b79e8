// SPDX-License-Identifier: Apache-2.0
// SplitWithSize, SplitTensor and Diag: parts, and what is refused.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(Split, GivesPartsOfAnyLength) {
  const Device device;
  Random random(3);
  const DeviceTensor self = Make(ACL_INT16, {2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}, random);
  const DeviceTensor a(ACL_INT16, RandomLayout(random, {2, 1}, false)),
      b(ACL_INT16, DenseLayout({2, 0})), c(ACL_INT16, RandomLayout(random, {2, 3}, false));
  const ListHandle parts({&a, &b, &c});
  const IntListHandle sizes({{1, 0, 3}});
  EXPECT_RUN(device, SplitWithSize, self.handle(), sizes.get(), -1, parts.get());
  EXPECT_EQ(ValuesOf(a), (Doubles{0, 4}));
  EXPECT_EQ(ValuesOf(c), (Doubles{1, 2, 3, 5, 6, 7}));
}

TEST(Split, RefusesWhatIsNoPart) {
  const Device device;
  const DeviceTensor self(ACL_FLOAT, DenseLayout({4})), scalar(ACL_FLOAT, DenseLayout({})),
      two(ACL_FLOAT, DenseLayout({2})), other(ACL_FLOAT16, DenseLayout({2}));
  const ListHandle pair({&two, &two}), one({&two}), mixed({&two, &other});
  const IntListHandle halves({{2, 2}}), less({{2, 1}}), more({{2, 3}}), negative({{5, -1}}),
      thirds({{1, 3}});
  EXPECT_REFUSED(161002, "splitSize sum is 3, expected 4", SplitWithSize, self.handle(), less.get(),
                 0, pair.get());
  EXPECT_REFUSED(161002, "splitSize value is (2, 3)", SplitWithSize, self.handle(), more.get(), 0,
                 pair.get());
  EXPECT_REFUSED(161002, "splitSize value is (5, -1)", SplitWithSize, self.handle(), negative.get(),
                 0, pair.get());
  EXPECT_REFUSED(161002, "out length is 1, expected 2", SplitWithSize, self.handle(), halves.get(),
                 0, one.get());
  EXPECT_REFUSED(161002, "out shape is (2), expected (1)", SplitWithSize, self.handle(),
                 thirds.get(), 0, pair.get());
  EXPECT_REFUSED(161002, "out dtype is FLOAT16", SplitWithSize, self.handle(), halves.get(), 0,
                 mixed.get());
  EXPECT_REFUSED(161002, "dim value is 1", SplitWithSize, self.handle(), halves.get(), 1,
                 pair.get());
  EXPECT_REFUSED(161002, "self rank is 0", SplitTensor, scalar.handle(), 2, 0, pair.get());
  EXPECT_REFUSED(161002, "splitSections value is 0", SplitTensor, self.handle(), 0, 0, pair.get());
  EXPECT_REFUSED(161002, "out length is 2, expected 4", SplitTensor, self.handle(), 1, 0,
                 pair.get());
}

TEST(Split, TheLastOfEqualPartsIsShorter) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {5}, {0, 1, 2, 3, 4}), a(ACL_FLOAT, DenseLayout({3})),
                     b(ACL_FLOAT, DenseLayout({2}));
  const ListHandle parts({&a, &b});
  EXPECT_RUN(device, SplitTensor, self.handle(), 3, 0, parts.get());
  EXPECT_EQ(ValuesOf(a), (Doubles{0, 1, 2}));
  EXPECT_EQ(ValuesOf(b), (Doubles{3, 4}));
  const DeviceTensor all(ACL_FLOAT, DenseLayout({5}));
  const ListHandle whole({&all});
  EXPECT_RUN(device, SplitTensor, self.handle(), UINT64_MAX, 0, whole.get());
  EXPECT_EQ(ValuesOf(all), ValuesOf(self));
}

TEST(Diag, IsAMatrixOrAVector) {
  const Device device;
  Random random(4);
  const DeviceTensor vector = Make(ACL_INT8, {2}, {7, 8}, random),
                     matrix = Make(ACL_INT8, {2, 3}, {1, 2, 3, 4, 5, 6}, random);
  const DeviceTensor square(ACL_INT8, RandomLayout(random, {3, 3}, false)),
      taken(ACL_INT8, RandomLayout(random, {2}, false)), one(ACL_INT8, DenseLayout({1})),
      none(ACL_INT8, DenseLayout({0}));
  EXPECT_RUN(device, Diag, vector.handle(), -1, Handle(square));
  EXPECT_EQ(ValuesOf(square), (Doubles{0, 0, 0, 7, 0, 0, 0, 8, 0}));
  EXPECT_RUN(device, Diag, matrix.handle(), 1, Handle(taken));
  EXPECT_EQ(ValuesOf(taken), (Doubles{2, 6}));
  EXPECT_RUN(device, Diag, matrix.handle(), -1, Handle(one));
  EXPECT_EQ(ValuesOf(one), (Doubles{4}));
  EXPECT_RUN(device, Diag, matrix.handle(), INT64_MIN, Handle(none));
  EXPECT_REFUSED(161002, "out shape is (1), expected (2)", Diag, matrix.handle(), 0, Handle(one));
  EXPECT_REFUSED(161002, "expected one that a matrix can have", Diag, vector.handle(), INT64_MIN,
                 Handle(square));
  EXPECT_REFUSED(161002, "expected one that a matrix can have", Diag, vector.handle(), INT64_MAX,
                 Handle(square));
  const DeviceTensor cube(ACL_INT8, DenseLayout({1, 1, 1}));
  EXPECT_REFUSED(161002, "self rank is 3", Diag, cube.handle(), 0, Handle(one));
}

}  // namespace
}  // namespace openaclnn::test
