// SPDX-License-Identifier: Apache-2.0
// Elements moved, padded and repeated, and the gradients.
#include <complex>
#include <numeric>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

Doubles Counting(int64_t count) {
  Doubles values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

TEST(Arrange, JoinsFloatsIntoFloats) {
  const Device device;
  const DeviceTensor whole = Make(ACL_INT32, {2}, {1, -2}), real = Make(ACL_FLOAT16, {1}, {2.5}),
                     floats(ACL_FLOAT, DenseLayout({3})), integers(ACL_INT64, DenseLayout({3}));
  const ListHandle both({&whole, &real});
  EXPECT_RUN(device, Cat, both.get(), 0, Handle(floats));
  EXPECT_EQ(ValuesOf(floats), (Doubles{1, -2, 2.5}));
  EXPECT_REFUSED(161002, "out dtype is INT64, expected a float type for FLOAT16 of tensors", Cat,
                 both.get(), 0, Handle(integers));
}

TEST(Arrange, FlipsAndRolls) {
  const Device device;
  Random random(31);
  const DeviceTensor self = Make(ACL_FLOAT16, {2, 3, 2}, Counting(12), random);
  const DeviceTensor out(ACL_FLOAT16, RandomLayout(random, {2, 3, 2}, false));
  const IntListHandle dims({{0, -2}}), none(IntListSpec{}), shifts({{1, -1}}), one({{5}}),
      twice({{0, 0}});
  EXPECT_RUN(device, Flip, self.handle(), dims.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1}));
  EXPECT_RUN(device, Roll, self.handle(), shifts.get(), dims.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{8, 9, 10, 11, 6, 7, 2, 3, 4, 5, 0, 1}));
  EXPECT_RUN(device, Roll, self.handle(), one.get(), none.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6}));
  const IntListHandle again({{1, 1, -1}}), thrice({{INT64_MAX, 1, INT64_MIN}});
  EXPECT_RUN(device, Roll, self.handle(), thrice.get(), again.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{2, 3, 4, 5, 0, 1, 8, 9, 10, 11, 6, 7})) << "1 + 1 of 3";
  EXPECT_REFUSED(161002, "each once", Flip, self.handle(), twice.get(), Handle(out));
  EXPECT_REFUSED(161002, "shifts size is 2, expected 1", Roll, self.handle(), shifts.get(),
                 none.get(), Handle(out));
}

// The size of a plan does not grow with the number of coordinates: phase 2 is the one that lacks
// the memory.
TEST(Arrange, DimensionsLongerThanAnyMemory) {
  const Device device;
  const int64_t dims[] = {int64_t{1} << 62}, still[] = {0}, rows[] = {1};
  const auto tensor = [&](const int64_t* strides, const int64_t* storage) {
    return aclCreateTensor(dims, 1, ACL_INT8, strides, 0, ACL_FORMAT_ND, storage, 1, nullptr);
  };
  aclTensor *const self = tensor(still, rows), *const out = tensor(rows, dims);
  const IntListHandle axes({{0}}), shifts({{1}});
  const IntListHandle pads({{0, 0}});
  const ScalarHandle value(0.0);
  for (const Outcome& outcome : {RUN(device, Flip, self, axes.get(), out),
                                 RUN(device, Roll, self, shifts.get(), axes.get(), out),
                                 RUN(device, ConstantPadNd, self, pads.get(), value.get(), out)}) {
    EXPECT_EQ(outcome.code, 161001) << outcome.message;
    EXPECT_NE(outcome.message.find("data is null"), std::string::npos) << outcome.message;
  }
  for (const aclTensor* each : {self, out}) EXPECT_EQ(aclDestroyTensor(each), 0);
}

TEST(Arrange, PadsWithAConstant) {
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
  const IntListHandle far({{-INT64_MAX, INT64_MAX}});
  const DeviceTensor nothing_left(ACL_FLOAT16, DenseLayout({2, 2}));
  EXPECT_RUN(device, ConstantPadNd, less.handle(), far.get(), value.get(), Handle(nothing_left));
  EXPECT_EQ(ValuesOf(nothing_left), (Doubles{-1, -1, -1, -1}));
  const IntListHandle beyond({{INT64_MIN, INT64_MAX}});
  const DeviceTensor one_less(ACL_FLOAT16, RandomLayout(random, {2, 1}, false));
  EXPECT_RUN(device, ConstantPadNd, less.handle(), beyond.get(), value.get(), Handle(one_less));
  EXPECT_EQ(ValuesOf(one_less), (Doubles{-1, -1}));
  EXPECT_REFUSED(161002, "padding size is 1", ConstantPadNd, self.handle(), odd.get(), value.get(),
                 Handle(less));
  EXPECT_REFUSED(161002, "expected a result that is not negative", ConstantPadNd, self.handle(),
                 too_much.get(), value.get(), Handle(less));
}

TEST(Arrange, MirrorsAndTheirGradients) {
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

// All of self is cut off, and what is left is behind it.
TEST(Arrange, ReplicatesWithPadsOfAnySize) {
  const Device device;
  Random random(39);
  const DeviceTensor self = Make(ACL_FLOAT, {1, 1, 4}, {1, 2, 3, 4}, random);
  const DeviceTensor grad(ACL_FLOAT, DenseLayout({1, 1, 4}));
  for (const int64_t before : {INT64_MIN, INT64_MIN + 1}) {
    const int64_t count = 4 + before + INT64_MAX;
    const IntListHandle padding({{before, INT64_MAX}});
    const DeviceTensor out(ACL_FLOAT, RandomLayout(random, {1, 1, count}, false));
    EXPECT_RUN(device, ReplicationPad1d, self.handle(), padding.get(), Handle(out));
    EXPECT_EQ(ValuesOf(out), Doubles(static_cast<size_t>(count), 4.0));
    const DeviceTensor upstream =
        Make(ACL_FLOAT, {1, 1, count}, Doubles(static_cast<size_t>(count), 1.0), random);
    EXPECT_RUN(device, ReplicationPad1dBackward, upstream.handle(), self.handle(), padding.get(),
               Handle(grad));
    EXPECT_EQ(ValuesOf(grad), (Doubles{0, 0, 0, static_cast<double>(count)}));
  }
}

TEST(Arrange, RepeatsEachElement) {
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

TEST(Arrange, GradientOfRepeats) {
  const Device device;
  Random random(72);
  const DeviceTensor grad = Make(ACL_FLOAT, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}, random),
                     repeats = Make(ACL_INT64, {3}, {1, 0, 3}, random),
                     out(ACL_FLOAT, RandomLayout(random, {3, 2}, false));
  EXPECT_RUN(device, RepeatInterleaveGrad, grad.handle(), repeats.handle(), 0, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 2, 0, 0, 15, 18}));
  // Integers that double does not hold.
  const ScalarHandle large((int64_t{1} << 53) + 1);
  const DeviceTensor longs(ACL_INT64, DenseLayout({2})), one = Make(ACL_INT64, {1}, {2}),
                                                         sum(ACL_INT64, DenseLayout({1}));
  EXPECT_RUN(device, InplaceFillScalar, Handle(longs), large.get());
  EXPECT_RUN(device, RepeatInterleaveGrad, longs.handle(), one.handle(), 0, Handle(sum));
  const ScalarHandle twice((int64_t{1} << 54) + 2);
  const DeviceTensor rest(ACL_INT64, DenseLayout({1})), same = Make(ACL_INT64, {1}, {0});
  EXPECT_RUN(device, Subs, sum.handle(), twice.get(), ScalarHandle(int64_t{1}).get(), Handle(rest));
  EXPECT_EQ(ValuesOf(rest), (Doubles{0}));
}

// Views without elements may have dimensions of any length.
TEST(Arrange, NothingOfAnyLength) {
  const Device device;
  const int64_t much = int64_t{1} << 60;
  const DeviceTensor wide = EmptyFloats({0, much}), tall = EmptyFloats({much, 0}),
                     boxes = EmptyFloats({0, 4, much}), padded = EmptyFloats({0, 4, much + 2});
  const IntListHandle one({{1}}), none({{0, 0}}), pads({{1, 1}});
  const ScalarHandle zero(0.0);
  EXPECT_RUN(device, Flip, wide.handle(), one.get(), Handle(EmptyFloats({0, much})));
  EXPECT_RUN(device, Roll, wide.handle(), one.get(), one.get(), Handle(EmptyFloats({0, much})));
  EXPECT_RUN(device, ConstantPadNd, tall.handle(), none.get(), zero.get(),
             Handle(EmptyFloats({much, 0})));
  EXPECT_RUN(device, ReplicationPad1d, boxes.handle(), pads.get(), Handle(padded));
  EXPECT_RUN(device, ReflectionPad1dBackward, padded.handle(), boxes.handle(), pads.get(),
             Handle(EmptyFloats({0, 4, much})));
  EXPECT_RUN(device, RepeatInterleaveIntWithDim, tall.handle(), 1, 0, much,
             Handle(EmptyFloats({much, 0})));
  EXPECT_RUN(device, Cumsum, tall.handle(), 1, ACL_FLOAT, Handle(EmptyFloats({much, 0})));
}

TEST(Arrange, RepeatsAreAVector) {
  const Device device;
  const DeviceTensor grad = Empty({4}), out = Empty({4});
  for (const Dims& dims : {Dims{2, 2}, Dims{1, 1}, Dims{1, 1, 1, 1, 1, 1, 1, 4}}) {
    const DeviceTensor repeats(ACL_INT64, DenseLayout(dims));
    EXPECT_REFUSED(161002, "repeats shape is (", RepeatInterleaveGrad, grad.handle(),
                   repeats.handle(), 0, Handle(out));
  }
}

// Diagonals far outside keep all or nothing.
TEST(Arrange, TrianglesOfFarDiagonals) {
  const Device device;
  const DeviceTensor self = Of({2, 3}, {1, 2, 3, 4, 5, 6}), out = Empty({2, 3});
  const Doubles all = {1, 2, 3, 4, 5, 6}, nothing(6, 0.0);
  EXPECT_RUN(device, Tril, self.handle(), INT64_MAX, Handle(out));
  EXPECT_EQ(ValuesOf(out), all);
  EXPECT_RUN(device, Tril, self.handle(), INT64_MIN, Handle(out));
  EXPECT_EQ(ValuesOf(out), nothing);
  EXPECT_RUN(device, Triu, self.handle(), INT64_MAX, Handle(out));
  EXPECT_EQ(ValuesOf(out), nothing);
  EXPECT_RUN(device, Triu, self.handle(), INT64_MIN, Handle(out));
  EXPECT_EQ(ValuesOf(out), all);
}

TEST(Arrange, ChannelsAreShuffled) {
  const Device device;
  const DeviceTensor self = Make(ACL_INT8, {1, 6, 1}, {0, 1, 2, 3, 4, 5}),
                     out(ACL_INT8, DenseLayout({1, 6, 1})), flat(ACL_INT8, DenseLayout({1, 6})),
                     eight(ACL_INT8, DenseLayout({1, 6, 1, 1, 1, 1, 1, 1}));
  EXPECT_RUN(device, ChannelShuffle, self.handle(), 2, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{0, 3, 1, 4, 2, 5}));
  for (const int64_t groups : {0, 4, -2}) {
    EXPECT_REFUSED(161002, ", expected a divisor of the channels, 6", ChannelShuffle, self.handle(),
                   groups, Handle(out));
  }
  EXPECT_REFUSED(161002, "self rank is 2", ChannelShuffle, flat.handle(), 2, Handle(flat));
  EXPECT_REFUSED(161002, "self rank is 8", ChannelShuffle, eight.handle(), 2, Handle(eight));
}

TEST(Arrange, ComplexNumbersBetweenOthers) {
  const Device device;
  const IntListHandle pad(IntListSpec{{1, -1}});
  const ScalarHandle half(0.5);
  DeviceTensor self(ACL_COMPLEX64, DenseLayout({2}));
  self.Write(ToBytes(ACL_FLOAT, {1, 2, 3, 4}));
  const DeviceTensor out(ACL_COMPLEX64, DenseLayout({2})), wide(ACL_COMPLEX128, DenseLayout({2}));
  EXPECT_RUN(device, ConstantPadNd, self.handle(), pad.get(), half.get(), Handle(out));
  EXPECT_EQ(ToDoubles(ACL_FLOAT, out.Read()), (Doubles{0.5, 0, 1, 2}));
  std::complex<double> value(-1, 2);
  const std::unique_ptr<aclScalar, decltype(&aclDestroyScalar)> complex(
      aclCreateScalar(&value, ACL_COMPLEX128), &aclDestroyScalar);
  const DeviceTensor given(ACL_COMPLEX128, DenseLayout({2})), real = Make(ACL_FLOAT, {2}, {1, 2});
  EXPECT_RUN(device, InplaceCopy, Handle(given), self.handle());
  EXPECT_RUN(device, ConstantPadNd, given.handle(), pad.get(), complex.get(), Handle(wide));
  EXPECT_EQ(ToDoubles(ACL_DOUBLE, wide.Read()), (Doubles{-1, 2, 1, 2}));
  EXPECT_REFUSED(161002, "value dtype is COMPLEX128, expected a real type", ConstantPadNd,
                 real.handle(), pad.get(), complex.get(), Handle(real));
}

// As torch.stack does, whose output is of the promoted type.
TEST(Arrange, StacksAreOfTheTypeOfTheOutput) {
  const Device device;
  const DeviceTensor half = Make(ACL_FLOAT16, {2}, {0.5, 2}), whole = Make(ACL_INT32, {2}, {-3, 7}),
                     wide = Make(ACL_FLOAT, {2}, {0.1, 4}), out(ACL_FLOAT, DenseLayout({3, 2})),
                     integers(ACL_INT64, DenseLayout({3, 2}));
  const ListHandle members({&half, &whole, &wide});
  EXPECT_RUN(device, Stack, members.get(), 0, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{0.5, 2, -3, 7, static_cast<float>(0.1), 4}));
  EXPECT_REFUSED(161002, "out dtype is INT64, expected a float type for FLOAT16 of tensors", Stack,
                 members.get(), 0, Handle(integers));
}

// The members say what the shape is.
TEST(Arrange, StacksSayWhichShapeTheOutputMustHave) {
  const Device device;
  const DeviceTensor a = Make(ACL_FLOAT, {1}, {3}), b = Make(ACL_FLOAT, {1}, {4}),
                     wide = Make(ACL_FLOAT, {2}, {3, 4}), small(ACL_FLOAT, DenseLayout({1})),
                     out(ACL_FLOAT, DenseLayout({2, 1}));
  const ListHandle members({&a, &b}), apart({&a, &wide});
  EXPECT_REFUSED(161002, "out shape is (1), expected (2, 1)", Stack, members.get(), 0,
                 Handle(small));
  EXPECT_REFUSED(161002, "out shape is (2, 1), expected (1, 2)", Stack, members.get(), -1,
                 Handle(out));
  EXPECT_REFUSED(161002, "tensors shape is (2), expected (1)", Stack, apart.get(), 0, Handle(out));
  EXPECT_REFUSED(161002, "dim value is 2, expected one of the 2 dimensions of out", Stack,
                 members.get(), 2, Handle(out));
  EXPECT_RUN(device, Stack, members.get(), 0, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{3, 4}));
}

// Elements without arithmetic, of 8 and of 16 bytes, along steps of every sign.
TEST(Arrange, MovesWhatIsNoNumber) {
  const Device device;
  Random random(87);
  for (const aclDataType dtype : {ACL_UINT64, ACL_COMPLEX64, ACL_COMPLEX128}) {
    const auto words = dtype == ACL_COMPLEX128 ? size_t{2} : size_t{1};
    const auto element = [&](int64_t i) {
      std::vector<int64_t> bits(words, 1000 + i);
      return bits;
    };
    const auto of = [&](const std::vector<int64_t>& order) {
      std::vector<std::byte> bytes;
      for (const int64_t i : order) {
        const auto bits = element(i);
        const auto* const first = reinterpret_cast<const std::byte*>(bits.data());
        bytes.insert(bytes.end(), first, first + 8 * words);
      }
      return bytes;
    };
    const std::vector<int64_t> counting = {0, 1, 2, 3, 4, 5};
    DeviceTensor self(dtype, RandomLayout(random, {2, 3}, false));
    self.Write(of(counting));
    const auto expect = [&](const DeviceTensor& out, const std::vector<int64_t>& order) {
      EXPECT_EQ(out.Read(), of(order)) << dtype;
      EXPECT_EQ(out.Damage(), "");
    };
    const auto make = [&](const Dims& dims) {
      DeviceTensor out(dtype, RandomLayout(random, dims, false));
      out.Scramble();
      return out;
    };
    const IntListHandle both({{0, 1}}), last({{1}}), twice({{1, 2}}), turned({{1, 0}});
    if (dtype != ACL_UINT64) {  // which Flip's page does not list
      const DeviceTensor flipped = make({2, 3}), mirrored = make({2, 3});
      EXPECT_RUN(device, Flip, self.handle(), both.get(), Handle(flipped));
      expect(flipped, {5, 4, 3, 2, 1, 0});
      EXPECT_RUN(device, Flip, self.handle(), last.get(), Handle(mirrored));
      expect(mirrored, {2, 1, 0, 5, 4, 3});
    }
    const DeviceTensor repeated = make({2, 6}), permuted = make({3, 2});
    EXPECT_RUN(device, Repeat, self.handle(), twice.get(), Handle(repeated));
    expect(repeated, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    EXPECT_RUN(device, Permute, self.handle(), turned.get(), Handle(permuted));
    expect(permuted, {0, 3, 1, 4, 2, 5});
    DeviceTensor other(dtype, RandomLayout(random, {2, 3}, false));
    other.Write(of({5, 4, 3, 2, 1, 0}));
    const ListHandle members({&self, &other});
    const DeviceTensor stacked = make({2, 2, 3});
    EXPECT_RUN(device, Stack, members.get(), 1, Handle(stacked));
    expect(stacked, {0, 1, 2, 5, 4, 3, 3, 4, 5, 2, 1, 0});
    if (dtype != ACL_COMPLEX64) continue;  // the only one that Cat's page lists
    const DeviceTensor joined = make({4, 3});
    EXPECT_RUN(device, Cat, members.get(), 0, Handle(joined));
    expect(joined, {0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0});
  }
}

}  // namespace
}  // namespace openaclnn::test
