// SPDX-License-Identifier: Apache-2.0
// Elements at other places: paddings, indices, scatters, repeats, searches.
#include <numeric>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

Doubles Counting(int64_t count) {
  Doubles values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

TEST(SupportingPlaces, FlipsAndRolls) {
  const Device device;
  Random random(31);
  const DeviceTensor self = Make(ACL_INT16, {2, 3, 2}, Counting(12), random);
  const DeviceTensor out(ACL_INT16, RandomLayout(random, {2, 3, 2}, false));
  const IntListHandle dims({{0, -2}}), none(IntListSpec{}), shifts({{1, -1}}), one({{5}}),
      twice({{0, 0}});
  EXPECT_RUN(device, Flip, self.handle(), dims.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1}));
  EXPECT_RUN(device, Roll, self.handle(), shifts.get(), dims.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{8, 9, 10, 11, 6, 7, 2, 3, 4, 5, 0, 1}));
  EXPECT_RUN(device, Roll, self.handle(), one.get(), none.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6}));
  EXPECT_REFUSED(161002, "each once", Flip, self.handle(), twice.get(), Handle(out));
  EXPECT_REFUSED(161002, "shifts size is 2, expected 1", Roll, self.handle(), shifts.get(),
                 none.get(), Handle(out));
}

TEST(SupportingPlaces, PadsWithAConstant) {
  const Device device;
  Random random(32);
  const DeviceTensor self = Make(ACL_FLOAT16, {2, 3}, Counting(6), random);
  const IntListHandle grow({{1, 2, 0, 1}}), crop({{-1, 0}}), odd({{1}}), too_much({{-4, 0}});
  const ScalarHandle value(-1.0);
  const DeviceTensor out(ACL_FLOAT16, RandomLayout(random, {3, 6}, false));
  EXPECT_RUN(device, ConstantPadNd, self.handle(), grow.get(), value.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out),
            (Doubles{-1, 0, 1, 2, -1, -1, -1, 3, 4, 5, -1, -1, -1, -1, -1, -1, -1, -1}));
  const DeviceTensor less(ACL_FLOAT16, RandomLayout(random, {2, 2}, false));
  EXPECT_RUN(device, ConstantPadNd, self.handle(), crop.get(), value.get(), Handle(less));
  EXPECT_EQ(ValuesOf(less), (Doubles{1, 2, 4, 5}));
  EXPECT_REFUSED(161002, "padding size is 1", ConstantPadNd, self.handle(), odd.get(), value.get(),
                 Handle(less));
  EXPECT_REFUSED(161002, "expected a result that is not negative", ConstantPadNd, self.handle(),
                 too_much.get(), value.get(), Handle(less));
}

TEST(SupportingPlaces, MirrorsAndTheirGradients) {
  const Device device;
  Random random(33);
  const DeviceTensor self = Make(ACL_FLOAT, {1, 1, 4}, {1, 2, 3, 4}, random);
  const DeviceTensor out(ACL_FLOAT, RandomLayout(random, {1, 1, 8}, false)),
      grad(ACL_FLOAT, RandomLayout(random, {1, 1, 4}, false));
  const IntListHandle padding({{3, 1}}), too_long({{4, 0}});
  EXPECT_RUN(device, ReflectionPad1d, self.handle(), padding.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{4, 3, 2, 1, 2, 3, 4, 3}));
  const DeviceTensor upstream = Make(ACL_FLOAT, {1, 1, 8}, {1, 2, 3, 4, 5, 6, 7, 8}, random);
  EXPECT_RUN(device, ReflectionPad1dBackward, upstream.handle(), self.handle(), padding.get(),
             Handle(grad));
  EXPECT_EQ(ValuesOf(grad), (Doubles{4, 3 + 5, 2 + 6 + 8, 1 + 7}));
  EXPECT_RUN(device, ReplicationPad1d, self.handle(), padding.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 1, 1, 1, 2, 3, 4, 4}));
  EXPECT_RUN(device, ReplicationPad1dBackward, upstream.handle(), self.handle(), padding.get(),
             Handle(grad));
  EXPECT_EQ(ValuesOf(grad), (Doubles{1 + 2 + 3 + 4, 5, 6, 7 + 8}));
  EXPECT_REFUSED(161002, "expected less than its length", ReflectionPad1d, self.handle(),
                 too_long.get(), Handle(out));
}

// self[:, i, :, j] has the indices' shape first, self[:, i, j] in their place.
TEST(SupportingPlaces, IndicesApartAndTogether) {
  const Device device;
  Random random(34);
  const Doubles given = Counting(2 * 3 * 4 * 5);
  const DeviceTensor self = Make(ACL_INT32, {2, 3, 4, 5}, given, random);
  const DeviceTensor i = Make(ACL_INT64, {2, 1}, {2, 0}), j = Make(ACL_INT32, {3}, {-1, 1, 0}),
                     whole(ACL_INT32, DenseLayout({0}));
  const auto at = [&](size_t a, size_t b, size_t c, size_t d) {
    return given[((a * 3 + b) * 4 + c) * 5 + d];
  };
  const size_t rows[] = {2, 0};
  {
    const ListHandle indices({&whole, &i, &whole, &j});
    const DeviceTensor out(ACL_INT32, RandomLayout(random, {2, 3, 2, 4}, false));
    EXPECT_RUN(device, Index, self.handle(), indices.get(), Handle(out));
    const size_t columns[] = {4, 1, 0};
    const Doubles got = ValuesOf(out);
    for (size_t n = 0; n < got.size(); ++n) {
      ASSERT_EQ(got[n], at(n / 4 % 2, rows[n / 24], n % 4, columns[n / 8 % 3])) << n;
    }
  }
  const ListHandle indices({&whole, &i, &j});
  const DeviceTensor out(ACL_INT32, RandomLayout(random, {2, 2, 3, 5}, false));
  EXPECT_RUN(device, Index, self.handle(), indices.get(), Handle(out));
  const size_t columns[] = {3, 1, 0};
  const Doubles got = ValuesOf(out);
  for (size_t n = 0; n < got.size(); ++n) {
    ASSERT_EQ(got[n], at(n / 30, rows[n / 15 % 2], columns[n / 5 % 3], n % 5)) << n;
  }
  EXPECT_EQ(out.Damage(), "");
  EXPECT_REFUSED(161002, "out shape is (2, 3, 4, 5), expected (2, 2, 3, 5)", Index, self.handle(),
                 indices.get(), Handle(self));
}

TEST(SupportingPlaces, IndicesOutOfRangeFailTheTask) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {3}, {1, 2, 3}), index = Make(ACL_INT64, {2}, {0, 3});
  DeviceTensor out(ACL_FLOAT, DenseLayout({2}));
  out.Scramble();
  const ListHandle indices({&index});
  const Outcome outcome = RUN(device, Index, self.handle(), indices.get(), Handle(out));
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("index value 1 is 3"), std::string::npos) << outcome.message;
  EXPECT_EQ(out.Change(), "");
  const DeviceTensor values = Make(ACL_FLOAT, {2}, {7, 8});
  EXPECT_EQ(
      RUN(device, IndexPutImpl, Handle(self), indices.get(), values.handle(), false, false).code,
      507035);
  EXPECT_EQ(ValuesOf(self), (Doubles{1, 2, 3}));
}

TEST(SupportingPlaces, PutsAndAdds) {
  const Device device;
  Random random(35);
  const DeviceTensor self = Make(ACL_FLOAT, {3, 2}, {0, 0, 0, 0, 0, 0}, random);
  const DeviceTensor index = Make(ACL_INT64, {3}, {2, 0, 2}),
                     values = Make(ACL_FLOAT, {3, 2}, {1, 2, 3, 4, 5, 6}, random),
                     empty(ACL_INT64, DenseLayout({0})), one = Make(ACL_FLOAT, {}, {9});
  const ListHandle indices({&index}), nothing({&empty, &empty});
  EXPECT_RUN(device, IndexPutImpl, Handle(self), indices.get(), values.handle(), false, false);
  EXPECT_EQ(ValuesOf(self), (Doubles{3, 4, 0, 0, 5, 6})) << "the last one stays";
  EXPECT_RUN(device, IndexPutImpl, Handle(self), indices.get(), values.handle(), true, false);
  EXPECT_EQ(ValuesOf(self), (Doubles{6, 8, 0, 0, 11, 14}));
  EXPECT_RUN(device, IndexPutImpl, Handle(self), nothing.get(), one.handle(), false, false);
  EXPECT_EQ(ValuesOf(self), (Doubles{6, 8, 0, 0, 11, 14})) << "a mask that is false";
  EXPECT_EQ(self.Damage(), "");
}

// In FLOAT16 the running sum would stay at 2048.
TEST(SupportingPlaces, SumsAreRoundedOnce) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT16, {1}, {0}),
                     index = Make(ACL_INT64, {4096}, Doubles(4096, 0)),
                     ones = Make(ACL_FLOAT16, {4096}, Doubles(4096, 1));
  EXPECT_RUN(device, ScatterAdd, self.handle(), 0, index.handle(), ones.handle(), Handle(self));
  EXPECT_EQ(ValuesOf(self), (Doubles{4096}));
}

TEST(SupportingPlaces, ScattersAlongADimension) {
  const Device device;
  Random random(36);
  const DeviceTensor self = Make(ACL_FLOAT, {2, 3}, {1, 2, 3, 4, 5, 6}, random);
  const DeviceTensor index = Make(ACL_INT64, {2, 2}, {2, 0, 1, 1}, random),
                     src = Make(ACL_FLOAT, {2, 3}, {10, 20, 30, 40, 50, 60}, random);
  const DeviceTensor out(ACL_FLOAT, RandomLayout(random, {2, 3}, false));
  EXPECT_RUN(device, Scatter, self.handle(), 1, index.handle(), src.handle(), 0, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{20, 2, 10, 4, 50, 6}));
  EXPECT_RUN(device, Scatter, self.handle(), 1, index.handle(), src.handle(), 1, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{21, 2, 13, 4, 95, 6}));
  EXPECT_RUN(device, Scatter, self.handle(), 1, index.handle(), src.handle(), 2, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{20, 2, 30, 4, 10000, 6}));
  const ScalarHandle value(7.0);
  EXPECT_RUN(device, ScatterValue, self.handle(), 1, index.handle(), value.get(), 0, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{7, 2, 7, 4, 7, 6}));
}

TEST(SupportingPlaces, ScattersRefuseOtherRows) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {2, 3}, {1, 2, 3, 4, 5, 6}),
                     index = Make(ACL_INT64, {2, 2}, {2, 0, 1, 1}),
                     wide(ACL_INT64, DenseLayout({3, 2}));
  const ScalarHandle value(7.0);
  EXPECT_EQ(RUN(device, InplaceScatterValue, Handle(self), 0, index.handle(), value.get(), 0).code,
            507035);
  EXPECT_EQ(ValuesOf(self), (Doubles{1, 2, 3, 4, 5, 6}));
  EXPECT_REFUSED(161002, "index shape is (3, 2), expected at most self", ScatterValue,
                 self.handle(), 1, wide.handle(), value.get(), 0, Handle(self));
  EXPECT_REFUSED(161002, "reduction value is 3", ScatterValue, self.handle(), 1, index.handle(),
                 value.get(), 3, Handle(self));
}

TEST(SupportingPlaces, WholeSlices) {
  const Device device;
  Random random(37);
  const DeviceTensor self = Make(ACL_INT32, {3, 2}, {1, 2, 3, 4, 5, 6}, random),
                     index = Make(ACL_INT64, {2}, {2, 2}),
                     source = Make(ACL_INT32, {2, 2}, {10, 20, 30, 40}, random),
                     out(ACL_INT32, RandomLayout(random, {3, 2}, false));
  const ScalarHandle two(int64_t{2}), nine(int64_t{9});
  EXPECT_RUN(device, IndexAdd, self.handle(), 0, index.handle(), source.handle(), two.get(),
             Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 2, 3, 4, 85, 126}));
  EXPECT_RUN(device, IndexCopy, self.handle(), -2, index.handle(), source.handle(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 2, 3, 4, 30, 40}));
  EXPECT_RUN(device, IndexFill, self.handle(), 0, index.handle(), nine.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 2, 3, 4, 9, 9}));
  const IntListHandle columns({{-1}}), bad({{2}});
  EXPECT_RUN(device, InplaceIndexFillTensor, Handle(self), 1, columns.get(), nine.get());
  EXPECT_EQ(ValuesOf(self), (Doubles{1, 9, 3, 9, 5, 9}));
  EXPECT_REFUSED(161002, "index value is 2", InplaceIndexFillTensor, Handle(self), 1, bad.get(),
                 nine.get());
}

TEST(SupportingPlaces, MasksAndTaking) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {2, 3}, Counting(6)),
                     mask = Make(ACL_BOOL, {3}, {1, 0, 1}),
                     source = Make(ACL_FLOAT, {5}, {10, 20, 30, 40, 50}),
                     few = Make(ACL_FLOAT, {3}, {1, 1, 1}),
                     index = Make(ACL_INT64, {2, 2}, {5, 0, -1, 3}),
                     taken(ACL_FLOAT, DenseLayout({2, 2}));
  EXPECT_RUN(device, Take, self.handle(), index.handle(), Handle(taken));
  EXPECT_EQ(ValuesOf(taken), (Doubles{5, 0, 5, 3}));
  EXPECT_EQ(RUN(device, InplaceMaskedScatter, Handle(self), mask.handle(), few.handle()).code,
            507035);
  EXPECT_EQ(ValuesOf(self), Counting(6));
  EXPECT_RUN(device, InplaceMaskedScatter, Handle(self), mask.handle(), source.handle());
  EXPECT_EQ(ValuesOf(self), (Doubles{10, 1, 20, 30, 4, 40}));
}

TEST(SupportingPlaces, RepeatsEachElement) {
  const Device device;
  Random random(38);
  const DeviceTensor self = Make(ACL_INT64, {2, 2}, {1, 2, 3, 4}, random),
                     repeats = Make(ACL_INT64, {2}, {0, 3}),
                     negative = Make(ACL_INT64, {2}, {-1, 4}),
                     out(ACL_INT64, RandomLayout(random, {2, 3}, false)),
                     flat(ACL_INT64, RandomLayout(random, {8}, false));
  EXPECT_RUN(device, RepeatInterleaveWithDim, self.handle(), repeats.handle(), 1, 3, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{2, 2, 2, 4, 4, 4}));
  EXPECT_RUN(device, RepeatInterleaveInt, self.handle(), 2, 8, Handle(flat));
  EXPECT_EQ(ValuesOf(flat), (Doubles{1, 1, 2, 2, 3, 3, 4, 4}));
  const DeviceTensor rows(ACL_INT64, DenseLayout({4, 2}));
  EXPECT_RUN(device, RepeatInterleaveIntWithDim, self.handle(), 2, 0, 4, Handle(rows));
  EXPECT_EQ(ValuesOf(rows), (Doubles{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(
      RUN(device, RepeatInterleaveWithDim, self.handle(), negative.handle(), 1, 3, Handle(out))
          .code,
      507035);
  EXPECT_REFUSED(161002, "repeats value is 3, expected 8 of 4 elements", RepeatInterleaveInt,
                 self.handle(), 3, 8, Handle(flat));
}

TEST(SupportingPlaces, WhatIsMade) {
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

Dims ShapeNow(const DeviceTensor& tensor) {
  int64_t* dims = nullptr;
  uint64_t rank = 0;
  EXPECT_EQ(aclGetViewShape(tensor.handle(), &dims, &rank), 0);
  const Dims shape(dims, dims + rank);
  delete[] dims;
  return shape;
}

TEST(SupportingPlaces, ResultsThatShapeThemselves) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {2, 3}, {0, 3, 1, 3, 0, 1});
  const DeviceTensor places(ACL_INT64, DenseLayout({2, 6})), values(ACL_FLOAT, DenseLayout({6})),
      inverse(ACL_INT64, DenseLayout({2, 3})), counts(ACL_INT64, DenseLayout({6}));
  EXPECT_RUN(device, NonzeroV2, self.handle(), Handle(places));
  EXPECT_EQ(ShapeNow(places), (Dims{2, 4}));
  const Doubles found = ValuesOf(places);
  EXPECT_EQ(Doubles(found.begin(), found.begin() + 8), (Doubles{0, 0, 1, 1, 1, 2, 0, 2}));
  EXPECT_RUN(device, Unique2, self.handle(), true, true, true, Handle(values), Handle(inverse),
             Handle(counts));
  EXPECT_EQ(ShapeNow(values), (Dims{3}));
  EXPECT_EQ(ShapeNow(counts), (Dims{3}));
  const Doubles unique = ValuesOf(values), how_many = ValuesOf(counts);
  EXPECT_EQ(Doubles(unique.begin(), unique.begin() + 3), (Doubles{0, 1, 3}));
  EXPECT_EQ(Doubles(how_many.begin(), how_many.begin() + 3), (Doubles{2, 2, 2}));
  EXPECT_EQ(ValuesOf(inverse), (Doubles{0, 2, 1, 2, 0, 1}));
}

TEST(SupportingPlaces, SearchesSortedRows) {
  const Device device;
  Random random(40);
  const DeviceTensor sorted = Make(ACL_FLOAT, {2, 4}, {1, 2, 2, 5, 0, 0, 1, NAN}, random),
                     self = Make(ACL_FLOAT, {2, 3}, {2, 9, 0, 0, NAN, 0.5}, random),
                     out(ACL_INT64, RandomLayout(random, {2, 3}, false)),
                     small(ACL_INT32, RandomLayout(random, {2, 3}, false));
  EXPECT_RUN(device, SearchSorted, sorted.handle(), self.handle(), false, false, nullptr,
             Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 4, 0, 0, 3, 2}));
  EXPECT_RUN(device, SearchSorted, sorted.handle(), self.handle(), true, true, nullptr,
             Handle(small));
  EXPECT_EQ(ValuesOf(small), (Doubles{3, 4, 0, 2, 4, 2}));
  EXPECT_REFUSED(161002, "out dtype is INT64, expected INT32", SearchSorted, sorted.handle(),
                 self.handle(), true, true, nullptr, Handle(out));
}

TEST(SupportingPlaces, GradientOfRepeats) {
  const Device device;
  Random random(72);
  const DeviceTensor grad = Make(ACL_FLOAT, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}, random),
                     repeats = Make(ACL_INT64, {3}, {1, 0, 3}, random),
                     out(ACL_FLOAT, RandomLayout(random, {3, 2}, false));
  EXPECT_RUN(device, RepeatInterleaveGrad, grad.handle(), repeats.handle(), 0, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 2, 0, 0, 15, 18}));
}

}  // namespace
}  // namespace openaclnn::test
