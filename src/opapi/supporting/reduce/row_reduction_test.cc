// SPDX-License-Identifier: Apache-2.0
// Sums and extremes of rows whose lengths are about those of lanes, blocks and groups.
#include "supporting/rows_test.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kLengths[] = {1, 2, 15, 16, 17, 63, 64, 65, 1023, 1024, 1025, 3100, 70001};

Doubles Reduced(const Device& device, const DeviceTensor& self, int64_t dim, int64_t results,
                bool largest) {
  const DeviceTensor out(ACL_DOUBLE, DenseLayout({results}));
  const IntListHandle dims({{dim}});
  if (largest) {
    EXPECT_RUN(device, Amax, self.handle(), dims.get(), false, Handle(out));
  } else {
    EXPECT_RUN(device, ReduceSum, self.handle(), dims.get(), false, ACL_DOUBLE, Handle(out));
  }
  return ValuesOf(out);
}

TEST(RowReduction, LengthsAroundLanesAndBlocks) {
  const Device device;
  Random random(61);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16, ACL_DOUBLE, ACL_INT32}) {
    for (const int64_t n : kLengths) {
      SCOPED_TRACE(testing::Message() << dtype << " " << n);
      const Doubles values = SmallValues(random, 3 * n, -9, 9);
      Doubles sums(3), largest(3, -10);
      for (size_t i = 0; i < values.size(); ++i) {
        const size_t row = i / static_cast<size_t>(n);
        sums[row] += values[i];
        largest[row] = std::max(largest[row], values[i]);
      }
      const DeviceTensor rows = Make(dtype, {3, n}, values, random);
      EXPECT_EQ(Reduced(device, rows, 1, 3, false), sums);
      EXPECT_EQ(Reduced(device, rows, 1, 3, true), largest);
      Doubles turned(values.size());
      for (size_t i = 0; i < values.size(); ++i) {
        turned[i % static_cast<size_t>(n) * 3 + i / static_cast<size_t>(n)] = values[i];
      }
      const DeviceTensor columns = Make(dtype, {n, 3}, turned, random);
      EXPECT_EQ(Reduced(device, columns, 0, 3, false), sums);
      EXPECT_EQ(Reduced(device, columns, 0, 3, true), largest);
    }
  }
}

TEST(RowReduction, StridesAndThreadsDoNotChangeABit) {
  Random random(62);
  const Doubles values = RealValues(random, 700 * 90);
  std::vector<Doubles> seen;
  for (const char* threads : {"1", "3"}) {
    const Device device({{"OPENACLNN_NUM_THREADS", threads}});
    const DeviceTensor dense = Make(ACL_FLOAT, {700, 90}, values),
                       strided = Make(ACL_FLOAT, {700, 90}, values, random);
    DeviceTensor turned(ACL_FLOAT, Layout{{700, 90}, {1, 701}, 0, 90 * 701});
    turned.Write(ToBytes(ACL_FLOAT, values));
    for (const DeviceTensor* self :
         std::initializer_list<const DeviceTensor*>{&dense, &strided, &turned}) {
      Doubles all = Reduced(device, *self, 0, 90, false);
      const Doubles rows = Reduced(device, *self, 1, 700, false);
      all.insert(all.end(), rows.begin(), rows.end());
      const DeviceTensor total(ACL_DOUBLE, DenseLayout({}));
      const IntListHandle none(IntListSpec{});
      EXPECT_RUN(device, Mean, self->handle(), none.get(), false, ACL_DOUBLE, Handle(total));
      all.push_back(ValuesOf(total)[0]);
      seen.push_back(all);
    }
  }
  for (const Doubles& each : seen) EXPECT_EQ(each, seen[0]);
}

TEST(RowReduction, ExtremesKeepNanAndInfinity) {
  const Device device;
  Doubles values(2 * 1100, -INFINITY);
  values[1099] = NAN;
  const DeviceTensor self = Make(ACL_FLOAT, {2, 1100}, values);
  const Doubles largest = Reduced(device, self, 1, 2, true);
  EXPECT_TRUE(std::isnan(largest[0]));
  EXPECT_EQ(largest[1], -INFINITY);
  const Doubles columns = Reduced(device, self, 0, 1100, true);
  EXPECT_TRUE(std::isnan(columns[1099]));
  EXPECT_EQ(columns[1098], -INFINITY);
}

TEST(RowReduction, SumsOfNothing) {
  const Device device;
  EXPECT_EQ(Reduced(device, DeviceTensor(ACL_FLOAT, DenseLayout({4, 0})), 1, 4, false), Doubles(4));
  EXPECT_EQ(Reduced(device, DeviceTensor(ACL_FLOAT, DenseLayout({0, 4})), 0, 4, false), Doubles(4));
}

}  // namespace
}  // namespace openaclnn::test
