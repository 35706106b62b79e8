// SPDX-License-Identifier: Apache-2.0
// Unique, UniqueDim and UniqueConsecutive: examples, shapes that handles get, refusals.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kAll = 1000;

Dims ShapeOfHandle(const DeviceTensor& tensor) {
  int64_t* dims = nullptr;
  uint64_t rank = 0;
  EXPECT_EQ(aclGetViewShape(tensor.handle(), &dims, &rank), 0);
  Dims shape(dims, dims + rank);
  delete[] dims;
  return shape;
}

Doubles FirstOf(const DeviceTensor& tensor, size_t count) {
  Doubles values = ValuesOf(tensor);
  values.resize(count);
  return values;
}

TEST(Unique, OfColumns) {
  const Device device;
  const DeviceTensor self = Of({2, 5}, {3, 1, 3, 1, 1, 4, 2, 4, 0, 2}), out = Empty({2, 5}),
                     inverse(ACL_INT64, DenseLayout({5})), counts(ACL_INT64, DenseLayout({5}));
  EXPECT_RUN(device, UniqueDim, self.handle(), true, true, -1, Handle(out), Handle(inverse),
             Handle(counts));
  EXPECT_EQ(ShapeOfHandle(out), (Dims{2, 3}));
  EXPECT_EQ(FirstOf(out, 6), (Doubles{1, 1, 3, 0, 2, 4}));
  EXPECT_EQ(ValuesOf(inverse), (Doubles{2, 1, 2, 0, 1}));
  EXPECT_EQ(ShapeOfHandle(counts), (Dims{3}));
  EXPECT_EQ(FirstOf(counts, 3), (Doubles{1, 2, 2}));
}

TEST(Unique, OfNeighbours) {
  const Device device;
  const DeviceTensor self = Of({6}, {2, 2, NAN, NAN, 1, 2}), out = Empty({6}),
                     inverse(ACL_INT64, DenseLayout({6})), counts(ACL_INT64, DenseLayout({6})),
                     none(ACL_INT64, DenseLayout({0}));
  EXPECT_RUN(device, UniqueConsecutive, self.handle(), true, true, kAll, Handle(out),
             Handle(inverse), Handle(counts));
  EXPECT_EQ(ShapeOfHandle(out), (Dims{5}));
  const Doubles found = FirstOf(out, 5);
  EXPECT_TRUE(found[0] == 2 && std::isnan(found[1]) && std::isnan(found[2]) && found[3] == 1);
  EXPECT_EQ(ValuesOf(inverse), (Doubles{0, 0, 1, 2, 3, 4}));
  EXPECT_EQ(FirstOf(counts, 5), (Doubles{2, 1, 1, 1, 1}));
  const DeviceTensor again = Empty({6});
  EXPECT_RUN(device, UniqueConsecutive, self.handle(), false, false, 0, Handle(again), Handle(none),
             Handle(none));
  EXPECT_EQ(ShapeOfHandle(again), (Dims{5}));
  const DeviceTensor values = Empty({6}), of = Of({6}, {2, 5, 2, 1, 1, 2});
  EXPECT_RUN(device, Unique, of.handle(), true, true, Handle(values), Handle(inverse));
  EXPECT_EQ(FirstOf(values, 3), (Doubles{1, 2, 5}));
  EXPECT_EQ(ValuesOf(inverse), (Doubles{1, 2, 1, 0, 0, 1}));
}

TEST(Unique, ShowsNoRoomThatIsNotWritten) {
  const Device device;
  const DeviceTensor self = Of({3, 2}, {1, 1, 1, 1, 2, 2}), out = Empty({3, 2}),
                     inverse(ACL_INT64, DenseLayout({3, 2})), counts(ACL_INT64, DenseLayout({6}));
  EXPECT_RUN(device, UniqueConsecutive, self.handle(), true, true, 0, Handle(out), Handle(inverse),
             Handle(counts));
  EXPECT_EQ(ShapeOfHandle(inverse), (Dims{3}));
  EXPECT_EQ(FirstOf(inverse, 3), (Doubles{0, 0, 1}));
  EXPECT_EQ(ShapeOfHandle(counts), (Dims{2}));
  const DeviceTensor again = Empty({6}), each(ACL_INT64, DenseLayout({3, 2})),
                     number(ACL_INT64, DenseLayout({6}));
  EXPECT_RUN(device, UniqueConsecutive, self.handle(), true, true, kAll, Handle(again),
             Handle(each), Handle(number));
  EXPECT_EQ(ShapeOfHandle(each), (Dims{3, 2}));  // its room is that of self
}

TEST(Unique, RefusesWhatHasNoRoom) {
  const Device device;
  Layout gaps = DenseLayout({2, 3});
  gaps.strides = {4, 1};
  gaps.storage = 8;
  const DeviceTensor self = Empty({2, 3}), small = Empty({2, 2}), apart(ACL_DOUBLE, gaps),
                     two(ACL_INT64, DenseLayout({2})), narrow(ACL_INT32, DenseLayout({3})),
                     three(ACL_INT64, DenseLayout({3}));
  const auto refused = [&](const DeviceTensor& out, const DeviceTensor& inverse,
                           const DeviceTensor& counts, int64_t dim, const std::string& says) {
    Refused(161002, says, [&](auto... o) {
      return aclnnUniqueDimGetWorkspaceSize(self.handle(), true, true, dim, Handle(out),
                                            Handle(inverse), Handle(counts), o...);
    });
  };
  refused(small, three, three, 1, "valueOut shape is (2, 2), expected (2, 3)");
  refused(apart, three, three, 1,
          "valueOut strides are (4, 1) for shape (2, 3), expected a contiguous tensor");
  refused(self, two, three, 1, "inverseOut shape is (2), expected 3 elements");
  Layout steps = DenseLayout({3});
  steps.strides = {2};
  steps.storage = 5;
  const DeviceTensor stepped(ACL_INT64, steps);
  refused(self, stepped, three, 1,
          "inverseOut strides are (2) for shape (3), expected a contiguous tensor");
  refused(self, three, narrow, 1, "countsOut dtype is INT32, expected INT64");
  refused(self, three, three, 2, "dim value is 2, expected a dimension of self, (2, 3)");
  refused(self, three, three, kAll, "dim value is 1000, expected a dimension of self, (2, 3)");
}

}  // namespace
}  // namespace openaclnn::test
