// SPDX-License-Identifier: Apache-2.0
// Repeated elements and gradients of paddings, which go by rows: of views, of every size of
// elements, against loops over coordinates.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

int64_t CountOf(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

/// `repeats` of the slices of a dimension.
Doubles Repeated(const Doubles& x, const Dims& dims, size_t dim, const Doubles& repeats) {
  int64_t inner = 1, outer = 1;
  for (size_t d = 0; d < dims.size(); ++d) (d < dim ? outer : inner) *= d == dim ? 1 : dims[d];
  Doubles found;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < dims[dim]; ++i) {
      for (double n = 0; n < repeats[static_cast<size_t>(i)]; ++n) {
        const auto from = x.begin() + (o * dims[dim] + i) * inner;
        found.insert(found.end(), from, from + inner);
      }
    }
  }
  return found;
}

TEST(RepeatInterleave, OfViews) {
  const Device device;
  Random random(77);
  const Dims dims = {3, 5, 7};
  const aclDataType types[] = {ACL_INT8, ACL_BF16, ACL_FLOAT, ACL_INT64};
  for (int round = 0; round < 6; ++round) {
    for (const aclDataType dtype : types) {
      const Doubles x = SmallValues(random, CountOf(dims));
      const DeviceTensor self = round == 0 ? Make(dtype, dims, x) : Make(dtype, dims, x, random);
      for (size_t dim = 0; dim < dims.size(); ++dim) {
        SCOPED_TRACE(testing::Message() << dtype << ", dimension " << dim);
        const Doubles counts = SmallValues(random, dims[dim], 0, 3);
        int64_t all = 0;
        for (const double count : counts) all += static_cast<int64_t>(count);
        Dims result = dims;
        result[dim] = all;
        const DeviceTensor repeats = Make(ACL_INT64, {dims[dim]}, counts, random),
                           out(dtype, RandomLayout(random, result, false));
        EXPECT_RUN(device, RepeatInterleaveWithDim, self.handle(), repeats.handle(),
                   static_cast<int64_t>(dim), all, Handle(out));
        EXPECT_EQ(ValuesOf(out), Repeated(x, dims, dim, counts));
        EXPECT_EQ(out.Damage(), "");
      }
      const DeviceTensor flat(dtype, RandomLayout(random, {3 * CountOf(dims)}, false));
      EXPECT_RUN(device, RepeatInterleaveInt, self.handle(), 3, 3 * CountOf(dims), Handle(flat));
      EXPECT_EQ(ValuesOf(flat),
                Repeated(x, {CountOf(dims)}, 0, Doubles(static_cast<size_t>(CountOf(dims)), 3)));
    }
  }
}

// Longer than what a thread takes at once: a slice may begin in one part and end in another.
TEST(RepeatInterleave, OfManyElements) {
  const Device device;
  Random random(78);
  const int64_t count = 9001;
  const Doubles x = SmallValues(random, count), counts = SmallValues(random, count, 0, 4);
  int64_t all = 0;
  for (const double each : counts) all += static_cast<int64_t>(each);
  const DeviceTensor self = Make(ACL_FLOAT, {count}, x), out = EmptyFloats({all}),
                     repeats = Make(ACL_INT32, {count}, counts);
  EXPECT_RUN(device, RepeatInterleave, self.handle(), repeats.handle(), all, Handle(out));
  EXPECT_EQ(ValuesOf(out), Repeated(x, {count}, 0, counts));
}

/// Where a coordinate of what is padded comes from.
int64_t SourceOf(int64_t at, int64_t before, int64_t length, bool reflects) {
  const int64_t place = at - before;
  if (!reflects) return std::clamp<int64_t>(place, 0, length - 1);
  return place < 0 ? -place : place >= length ? 2 * (length - 1) - place : place;
}

struct Padding {
  Dims in, pads;  // pads: from the last dimension on
  bool reflects;
};
const Padding kPaddings[] = {
    {{2, 3, 9, 13}, {2, 3, 1, 4}, true},  {{2, 3, 9, 13}, {5, 1, 0, 3}, false},
    {{2, 1, 1, 1}, {6, 0, 0, 4}, false},  {{1, 2, 6, 5}, {-1, 2, 3, -2}, true},
    {{1, 2, 6, 5}, {-2, 1, 2, 0}, false}, {{1, 1, 3, 4}, {9, 9, 9, 9}, false},
    {{2, 2, 2, 300}, {0, 7, 1, 0}, true},
};

TEST(PaddingGradient, GathersRowsInOrder) {
  const Device device;
  Random random(79);
  for (const Padding& of : kPaddings) {
    SCOPED_TRACE(testing::Message() << of.in[2] << " x " << of.in[3]);
    Dims padded = of.in;
    padded[3] += of.pads[0] + of.pads[1];
    padded[2] += of.pads[2] + of.pads[3];
    const Doubles by = Held(ACL_FLOAT, RealValues(random, CountOf(padded)));
    Doubles want(static_cast<size_t>(CountOf(of.in)));
    for (size_t i = 0; i < by.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t x = SourceOf(at % padded[3], of.pads[0], of.in[3], of.reflects);
      const int64_t y = SourceOf(at / padded[3] % padded[2], of.pads[2], of.in[2], of.reflects);
      const int64_t plane = at / padded[3] / padded[2];
      want[static_cast<size_t>((plane * of.in[2] + y) * of.in[3] + x)] += by[i];
    }
    const DeviceTensor grad = Make(ACL_FLOAT, padded, by, random), self = EmptyFloats(of.in),
                       out(ACL_FLOAT, RandomLayout(random, of.in, false));
    const IntListHandle pads(IntListSpec{of.pads});
    if (of.reflects) {
      EXPECT_RUN(device, ReflectionPad2dBackward, grad.handle(), self.handle(), pads.get(),
                 Handle(out));
    } else {
      EXPECT_RUN(device, ReplicationPad2dBackward, grad.handle(), self.handle(), pads.get(),
                 Handle(out));
    }
    ExpectNear(ValuesOf(out), want, ACL_FLOAT, 0x1.01p-24, 1e-12);
    EXPECT_EQ(out.Damage(), "");
  }
}

}  // namespace
}  // namespace openaclnn::test
