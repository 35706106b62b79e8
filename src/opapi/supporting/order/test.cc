// SPDX-License-Identifier: Apache-2.0
// Rows in order, searches and values that occur.
#include <numeric>

#include "supporting/rows_test.h"

namespace openaclnn::test {
namespace {

TEST(Order, RowsInOrder) {
  const Device device;
  Random random(23);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16, ACL_INT64, ACL_UINT8}) {
    for (const bool descending : {false, true}) {
      SCOPED_TRACE(testing::Message() << dtype << " " << descending);
      const Doubles given = SmallValues(random, 3 * 40 * 2);
      const DeviceTensor self = Make(dtype, {3, 40, 2}, given, random);
      const DeviceTensor values(dtype, RandomLayout(random, {3, 40, 2}, false)),
          indices(ACL_INT64, RandomLayout(random, {3, 40, 2}, false));
      EXPECT_RUN(device, Sort, self.handle(), true, 1, descending, Handle(values), Handle(indices));
      const DeviceTensor top(dtype, RandomLayout(random, {3, 7, 2}, false)),
          top_at(ACL_INT64, RandomLayout(random, {3, 7, 2}, false)),
          kth(dtype, RandomLayout(random, {3, 2}, false)),
          kth_at(ACL_INT64, RandomLayout(random, {3, 2}, false)),
          order(ACL_INT64, RandomLayout(random, {3, 40, 2}, false));
      EXPECT_RUN(device, Topk, self.handle(), 7, 1, descending, true, Handle(top), Handle(top_at));
      EXPECT_RUN(device, Kthvalue, self.handle(), 4, 1, false, Handle(kth), Handle(kth_at));
      EXPECT_RUN(device, Argsort, self.handle(), 1, descending, Handle(order));
      const Doubles got = ValuesOf(values), at = ValuesOf(indices), best = ValuesOf(top),
                    best_at = ValuesOf(top_at), fourth = ValuesOf(kth);
      EXPECT_EQ(ValuesOf(order), at);
      for (size_t row = 0; row < 6; ++row) {
        const auto place = [&](size_t i, size_t n) { return row / 2 * n * 2 + i * 2 + row % 2; };
        std::vector<size_t> want(40);
        std::iota(want.begin(), want.end(), size_t{0});
        std::stable_sort(want.begin(), want.end(), [&](size_t a, size_t b) {
          const double x = given[place(a, 40)], y = given[place(b, 40)];
          return descending ? x > y : x < y;
        });
        for (size_t i = 0; i < 40; ++i) {
          ASSERT_EQ(at[place(i, 40)], static_cast<double>(want[i])) << row << " " << i;
          ASSERT_EQ(got[place(i, 40)], given[place(want[i], 40)]);
        }
        for (size_t i = 0; i < 7; ++i) {
          ASSERT_EQ(best[place(i, 7)], got[place(i, 40)]);
          ASSERT_EQ(best_at[place(i, 7)], at[place(i, 40)]);
        }
        if (!descending) {
          ASSERT_EQ(fourth[row], got[place(3, 40)]);
        }
      }
    }
  }
}

// 2^53 and the next integer differ.
TEST(Order, LargeIntegersStayApart) {
  const Device device;
  const int64_t large = int64_t{1} << 53;
  const DeviceTensor self(ACL_INT64, DenseLayout({3}));
  std::vector<std::byte> bytes(24);
  const int64_t given[] = {large + 1, large, large + 2};
  std::memcpy(bytes.data(), given, 24);
  const_cast<DeviceTensor&>(self).Write(bytes);
  const DeviceTensor values(ACL_INT64, DenseLayout({3})), at(ACL_INT64, DenseLayout({3}));
  EXPECT_RUN(device, Sort, self.handle(), false, 0, false, Handle(values), Handle(at));
  EXPECT_EQ(ValuesOf(at), (Doubles{1, 0, 2}));
}

TEST(Order, NansAreTheLargest) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {5}, {2, NAN, 1, NAN, -INFINITY}),
                     values(ACL_FLOAT, DenseLayout({5})), at(ACL_INT64, DenseLayout({5}));
  EXPECT_RUN(device, Sort, self.handle(), true, 0, false, Handle(values), Handle(at));
  EXPECT_EQ(ValuesOf(at), (Doubles{4, 2, 0, 1, 3}));
  EXPECT_RUN(device, Sort, self.handle(), true, 0, true, Handle(values), Handle(at));
  EXPECT_EQ(ValuesOf(at), (Doubles{1, 3, 0, 2, 4}));
  ExpectNear(ValuesOf(values), {NAN, NAN, 2, 1, -INFINITY}, ACL_FLOAT);
}

Dims ShapeNow(const DeviceTensor& tensor) {
  int64_t* dims = nullptr;
  uint64_t rank = 0;
  EXPECT_EQ(aclGetViewShape(tensor.handle(), &dims, &rank), 0);
  const Dims shape(dims, dims + rank);
  delete[] dims;
  return shape;
}

TEST(Order, ResultsThatShapeThemselves) {
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

TEST(Order, PlacesInAScalarHaveNoElements) {
  const Device device;
  for (const double value : {0.0, 5.0}) {
    const DeviceTensor self = Make(ACL_FLOAT, {}, {value}), none(ACL_INT64, DenseLayout({0, 0})),
                       row(ACL_INT64, DenseLayout({1, 0})), column(ACL_INT64, DenseLayout({1, 1}));
    for (const DeviceTensor* out : {&none, &row}) {
      EXPECT_RUN(device, Nonzero, self.handle(), Handle(*out));
      EXPECT_EQ(ShapeNow(*out), (Dims{value == 0 ? 0 : 1, 0}));
    }
    EXPECT_REFUSED(161002, "out shape is (1, 1), expected (1, 0)", Nonzero, self.handle(),
                   Handle(column));
  }
}

TEST(Order, SearchesSortedRows) {
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
  const DeviceTensor shuffled = Make(ACL_FLOAT, {3}, {5, 1, 3}, random),
                     order = Make(ACL_INT64, {3}, {1, 2, 0}, random),
                     beyond = Make(ACL_INT64, {3}, {1, 2, 3}, random),
                     narrow_order = Make(ACL_INT32, {3}, {1, 2, 0}, random);
  EXPECT_RUN(device, SearchSorted, shuffled.handle(), self.handle(), false, false, order.handle(),
             Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 3, 0, 0, 3, 0}));
  const Outcome outcome = RUN(device, SearchSorted, shuffled.handle(), self.handle(), false, false,
                              beyond.handle(), Handle(out));
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("sorter value "), std::string::npos) << outcome.message;
  EXPECT_REFUSED(161002, "sorter dtype is INT32", SearchSorted, shuffled.handle(), self.handle(),
                 false, false, narrow_order.handle(), Handle(out));
  EXPECT_REFUSED(161002, "out dtype is INT64, expected INT32", SearchSorted, sorted.handle(),
                 self.handle(), true, true, nullptr, Handle(out));
}

// A row without elements has no median; without rows there is none to miss.
TEST(Order, MediansOfNothing) {
  const Device device;
  const DeviceTensor self = EmptyFloats({0, 3}), values = EmptyFloats({3}), none = EmptyFloats({0}),
                     at(ACL_INT64, DenseLayout({3})), none_at(ACL_INT64, DenseLayout({0}));
  EXPECT_REFUSED(161002, "self shape is (0, 3), expected elements", MedianDim, self.handle(), 0,
                 false, Handle(values), Handle(at));
  EXPECT_RUN(device, MedianDim, self.handle(), 1, false, Handle(none), Handle(none_at));
  EXPECT_RUN(device, MedianDim, EmptyFloats({0, 0}).handle(), 0, false, Handle(none),
             Handle(none_at));
}

}  // namespace
}  // namespace openaclnn::test
