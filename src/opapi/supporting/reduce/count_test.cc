// SPDX-License-Identifier: Apache-2.0
// Trace, Histc and Bincount against plain loops.
#include <cstring>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(Reduce, TracesDiagonals) {
  const Device device;
  Random random(71);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_INT32, ACL_BF16, ACL_DOUBLE}) {
    for (const Dims& dims : {Dims{7, 5}, Dims{90, 200}, Dims{0, 3}}) {
      const Doubles values = SmallValues(random, dims[0] * dims[1]);
      const aclDataType result = dtype == ACL_INT32 ? ACL_INT64 : dtype;
      const DeviceTensor self = Make(dtype, dims, values, random), out(result, DenseLayout({}));
      double sum = 0;
      for (int64_t i = 0; i < std::min(dims[0], dims[1]); ++i) {
        sum += values[static_cast<size_t>(i * dims[1] + i)];
      }
      EXPECT_RUN(device, Trace, self.handle(), Handle(out));
      ExpectNear(ValuesOf(out), {sum}, dtype);
    }
  }
  const DeviceTensor vector = Of({3}, {1, 2, 3}), out = Empty({});
  EXPECT_REFUSED(161002, "self rank is 1", Trace, vector.handle(), Handle(out));
}

TEST(Reduce, CountsInBins) {
  const Device device;
  Random random(72);
  const Doubles values = {-1, 0, 0.5, 1, 1.99, 2, 3, 4, 4.01, NAN};
  const DeviceTensor self = Make(ACL_FLOAT, {2, 5}, values, random), out = EmptyFloats({4});
  const ScalarHandle zero(0.0), four(4.0);
  EXPECT_RUN(device, Histc, self.handle(), 4, zero.get(), four.get(), Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{2, 2, 1, 2}));  // 4 is in the last

  const DeviceTensor whole = Make(ACL_INT32, {5}, {3, 1, 7, 7, 5}, random);
  const DeviceTensor counts(ACL_INT32, DenseLayout({3}));
  EXPECT_RUN(device, Histc, whole.handle(), 3, zero.get(), zero.get(), Handle(counts));
  EXPECT_EQ(ValuesOf(counts), (Doubles{1, 1, 3}));  // of [1, 7], which the values span

  const DeviceTensor equal = Floats({2}, {5, 5}), one = EmptyFloats({2});
  EXPECT_RUN(device, Histc, equal.handle(), 2, zero.get(), zero.get(), Handle(one));
  EXPECT_EQ(ValuesOf(one), (Doubles{0, 2}));  // of [4, 6]

  EXPECT_RUN(device, Histc, EmptyFloats({0}).handle(), 2, zero.get(), zero.get(), Handle(one));
  EXPECT_EQ(ValuesOf(one), (Doubles{0, 0}));
  EXPECT_REFUSED(161002, "bins value is 0", Histc, self.handle(), 0, zero.get(), four.get(),
                 Handle(out));
  EXPECT_REFUSED(161002, "max value is 0", Histc, self.handle(), 4, four.get(), zero.get(),
                 Handle(out));
  const Outcome outcome = RUN(device, Histc, self.handle(), 4, zero.get(), zero.get(), Handle(out));
  EXPECT_EQ(outcome.code, 507035) << "a NaN has no range";
}

TEST(Reduce, CountsNumbers) {
  const Device device;
  Random random(73);
  const DeviceTensor self = Make(ACL_INT32, {6}, {3, 1, 3, 0, 3, 1}, random);
  const DeviceTensor counts(ACL_INT64, DenseLayout({6}));
  EXPECT_RUN(device, Bincount, self.handle(), nullptr, 6, Handle(counts));
  EXPECT_EQ(ValuesOf(counts), (Doubles{1, 2, 0, 3, 0, 0}));

  const DeviceTensor weights = Make(ACL_FLOAT, {6}, {0.5, 1, 2, 4, 8, 16}, random);
  const DeviceTensor sums(ACL_FLOAT, DenseLayout({4}));
  EXPECT_RUN(device, Bincount, self.handle(), weights.handle(), 0, Handle(sums));
  EXPECT_EQ(ValuesOf(sums), (Doubles{4, 17, 0, 10.5}));

  const DeviceTensor short_of(ACL_INT64, DenseLayout({3}));
  EXPECT_EQ(RUN(device, Bincount, self.handle(), nullptr, 0, Handle(short_of)).code, 507035);
  EXPECT_REFUSED(161002, "out shape is (3)", Bincount, self.handle(), nullptr, 4, Handle(short_of));
  EXPECT_REFUSED(161002, "out dtype is INT64", Bincount, self.handle(), weights.handle(), 0,
                 Handle(counts));
  EXPECT_REFUSED(161002, "self dtype is FLOAT", Bincount, weights.handle(), nullptr, 0,
                 Handle(counts));
}

DeviceTensor Wide(const std::vector<int64_t>& values) {
  DeviceTensor tensor(ACL_INT64, DenseLayout({static_cast<int64_t>(values.size())}));
  std::vector<std::byte> bytes(values.size() * 8);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  tensor.Write(bytes);
  return tensor;
}

// Ranges that are wider than the largest number, or narrower than the distance of two.
TEST(Reduce, CountsInAnyRange) {
  const Device device;
  const ScalarHandle zero(0.0), low(int64_t{INT64_MIN}), high(int64_t{INT64_MAX});
  const auto counts = [&](const DeviceTensor& self, int64_t bins, const ScalarHandle& min,
                          const ScalarHandle& max) {
    const DeviceTensor out(self.dtype(), DenseLayout({bins}));
    EXPECT_RUN(device, Histc, self.handle(), bins, min.get(), max.get(), Handle(out));
    return ValuesOf(out);
  };
  const DeviceTensor three = Floats({3}, {-3e38, 0, 3e38});
  EXPECT_EQ(counts(three, 4, zero, zero), (Doubles{1, 0, 1, 1}));
  EXPECT_EQ(counts(three, 4, ScalarHandle(-1.7e308), ScalarHandle(1.7e308)), (Doubles{0, 0, 3, 0}));
  EXPECT_EQ(counts(Floats({2}, {1e30, 1e30}), 2, zero, zero), (Doubles{0, 2}));
  const int64_t large = int64_t{1} << 53;
  EXPECT_EQ(counts(Wide({large, large + 1, large + 2}), 3, zero, zero), (Doubles{1, 1, 1}));
  const DeviceTensor ends = Wide({INT64_MIN, -1, 0, INT64_MAX});
  EXPECT_EQ(counts(ends, 2, zero, zero), (Doubles{2, 2}));
  EXPECT_EQ(counts(ends, 2, low, high), (Doubles{2, 2}));
  EXPECT_EQ(counts(Wide({INT64_MAX, INT64_MAX}), 2, zero, zero), (Doubles{0, 2}));
  EXPECT_EQ(counts(Wide({0, 1, 2}), 2, ScalarHandle(0.5), ScalarHandle(2.5)), (Doubles{1, 1}));
}

TEST(Reduce, NamesNumbersThatAreNoBins) {
  const Device device;
  const DeviceTensor out(ACL_INT64, DenseLayout({4}));
  for (const int64_t value : {INT64_MAX, (int64_t{1} << 53) + 1, INT64_MIN, int64_t{-1}}) {
    const DeviceTensor self = Wide({1, value});
    const Outcome outcome = RUN(device, Bincount, self.handle(), nullptr, 0, Handle(out));
    EXPECT_EQ(outcome.code, 507035);
    EXPECT_NE(outcome.message.find("value is " + std::to_string(value) + ","), std::string::npos)
        << outcome.message;
  }
}

}  // namespace
}  // namespace openaclnn::test
