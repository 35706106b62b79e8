// SPDX-License-Identifier: Apache-2.0
// Cdist and Pdist of many rows and of widths about those where sums and blocks end, of views, in
// each order of distance, against loops in double.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

double Distance(const double* a, const double* b, int64_t width, double order) {
  double sum = 0;
  for (int64_t k = 0; k < width; ++k) {
    const double size = std::abs(a[k] - b[k]);
    sum = std::isinf(order) ? (std::isnan(size) ? size : std::max(sum, size))
          : order == 0      ? sum + (size != 0)
                            : sum + std::pow(size, order);
  }
  return std::isinf(order) || order == 0 ? sum : std::pow(sum, 1 / order);
}

struct Problem {
  int64_t batches, rows, columns, width;
};
const Problem kProblems[] = {{1, 3, 5, 1},    {2, 70, 17, 3},  {1, 65, 64, 64}, {1, 9, 33, 65},
                             {3, 130, 1, 20}, {1, 2, 40, 200}, {1, 4, 3, 4200}, {1, 1, 300, 16}};

TEST(Distance, OfManyRows) {
  UnderEachSetting([](const std::string& name, const Device& device) {
    Random random(19);
    for (const Problem& of : kProblems) {
      const Dims a_dims = {of.batches, of.rows, of.width}, b_dims = {of.columns, of.width};
      Doubles a = Held(ACL_FLOAT, RealValues(random, of.batches * of.rows * of.width));
      Doubles b = Held(ACL_FLOAT, RealValues(random, of.columns * of.width));
      std::copy_n(a.begin(), of.width, b.begin());  // a distance of 0
      if (of.rows > 1) a[static_cast<size_t>(of.width)] = NAN;
      const DeviceTensor x1 = Make(ACL_FLOAT, a_dims, a, random),
                         x2 = Make(ACL_FLOAT, b_dims, b, random);
      for (const double order : {0.0, 1.0, 2.0, 3.0, double{INFINITY}}) {
        SCOPED_TRACE(testing::Message() << name << ", " << of.width << " wide, " << order);
        const DeviceTensor out(ACL_FLOAT,
                               RandomLayout(random, {of.batches, of.rows, of.columns}, false));
        EXPECT_RUN(device, Cdist, x1.handle(), x2.handle(), static_cast<float>(order), 0,
                   Handle(out));
        Doubles want;
        for (int64_t i = 0; i < of.batches * of.rows; ++i) {
          for (int64_t j = 0; j < of.columns; ++j) {
            want.push_back(
                Distance(a.data() + i * of.width, b.data() + j * of.width, of.width, order));
          }
        }
        ExpectNear(ValuesOf(out), want, ACL_FLOAT, 0x1.01p-24, 1e-30);
        EXPECT_EQ(out.Damage(), "");
      }
    }
  });
}

TEST(Distance, OfManyPairs) {
  const Device device;
  Random random(23);
  for (const int64_t rows : {2, 16, 65, 131, 300}) {
    const int64_t width = 33;
    const Doubles a = Held(ACL_FLOAT, RealValues(random, rows * width));
    const DeviceTensor self = Make(ACL_FLOAT, {rows, width}, a, random);
    for (const double order : {1.0, 2.0, 3.0}) {
      SCOPED_TRACE(testing::Message() << rows << " rows, " << order);
      const DeviceTensor out(ACL_FLOAT, RandomLayout(random, {rows * (rows - 1) / 2}, false));
      EXPECT_RUN(device, Pdist, self.handle(), static_cast<float>(order), Handle(out));
      Doubles want;
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = i + 1; j < rows; ++j) {
          want.push_back(Distance(a.data() + i * width, a.data() + j * width, width, order));
        }
      }
      ExpectNear(ValuesOf(out), want, ACL_FLOAT, 0x1.01p-24, 1e-30);
      EXPECT_EQ(out.Damage(), "");
    }
  }
}

}  // namespace
}  // namespace openaclnn::test
