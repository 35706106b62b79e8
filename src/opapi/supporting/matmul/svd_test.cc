// SPDX-License-Identifier: Apache-2.0
// Svd: an example, factors of any rank, the largest and smallest numbers, refusals.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(Svd, OfTwoRows) {
  const Device device;
  const DeviceTensor self = Of({2, 2}, {3, 0, 4, 5}), s = Empty({2}), u = Empty({2, 2}),
                     v = Empty({2, 2});
  EXPECT_RUN(device, Svd, self.handle(), true, true, Handle(s), Handle(u), Handle(v));
  const double five = std::sqrt(5), ten = std::sqrt(10), half = std::sqrt(0.5);
  ExpectNear(ValuesOf(s), {3 * five, five}, ACL_DOUBLE, 1e-13);
  ExpectNear(ValuesOf(u), {1 / ten, 3 / ten, 3 / ten, -1 / ten}, ACL_DOUBLE, 1e-13);
  ExpectNear(ValuesOf(v), {half, half, half, -half}, ACL_DOUBLE, 1e-13);
}

double Sum(int64_t n, const std::function<double(int64_t)>& term) {
  double sum = 0;
  for (int64_t t = 0; t < n; ++t) sum += term(t);
  return sum;
}

void ExpectOrthogonal(const Doubles& columns, int64_t rows, int64_t count) {
  const auto at = [&](int64_t i, int64_t j) { return columns[static_cast<size_t>(i * count + j)]; };
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < count; ++j) {
      EXPECT_NEAR(Sum(rows, [&](int64_t t) { return at(t, i) * at(t, j); }), i == j, 1e-13);
    }
  }
}

/// U S V' is self, U and V orthogonal, S falling, whatever the rank is.
void ExpectFactors(const Device& device, int64_t m, int64_t n, const Doubles& x, double size) {
  const int64_t k = std::min(m, n);
  for (const bool full : {false, true}) {
    SCOPED_TRACE(testing::Message() << m << ", " << n << ", " << full);
    Random random(71);
    const int64_t left = full ? m : k, right = full ? n : k;
    const DeviceTensor self = Make(ACL_DOUBLE, {m, n}, x, random), s = Empty({k}),
                       u = Empty({m, left}), v = Empty({n, right}), alone = Empty({k});
    EXPECT_RUN(device, Svd, self.handle(), full, true, Handle(s), Handle(u), Handle(v));
    EXPECT_RUN(device, Svd, self.handle(), full, false, Handle(alone), nullptr, nullptr);
    const Doubles values = ValuesOf(s), a = ValuesOf(u), b = ValuesOf(v);
    EXPECT_EQ(ValuesOf(alone), values);
    EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend()) && values.back() >= 0);
    ExpectOrthogonal(a, m, left);
    ExpectOrthogonal(b, n, right);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const double sum = Sum(k, [&](int64_t t) {
          return a[static_cast<size_t>(i * left + t)] * (values[static_cast<size_t>(t)] / size) *
                 b[static_cast<size_t>(j * right + t)];
        });
        EXPECT_NEAR(sum, x[static_cast<size_t>(i * n + j)] / size, 1e-12);
      }
    }
  }
}

TEST(Svd, FactorsOfAnyRank) {
  const Device device;
  Random random(72);
  for (const auto& [m, n] :
       {std::pair<int64_t, int64_t>{7, 4}, {4, 7}, {1, 3}, {3, 1}, {70, 3}, {33, 33}}) {
    const auto count = static_cast<size_t>(m * n);
    ExpectFactors(device, m, n, RealValues(random, m * n), 1);
    ExpectFactors(device, m, n, Doubles(count, 2), 1);
    ExpectFactors(device, m, n, Doubles(count), 1);
    Doubles one(count);
    one[count / 2] = -3;
    ExpectFactors(device, m, n, one, 1);
  }
}

TEST(Svd, OfTheLargestAndSmallestNumbers) {
  const Device device;
  Random random(73);
  for (const double size : {0x1p1000, 0x1p-1000}) {
    Doubles x = RealValues(random, 20);
    for (double& element : x) element *= size;
    ExpectFactors(device, 5, 4, x, size);
  }
  const DeviceTensor self = Of({2, 2}, {1, INFINITY, 0, 1}), s = Empty({2}), u = Empty({2, 2}),
                     v = Empty({2, 2});
  EXPECT_RUN(device, Svd, self.handle(), true, true, Handle(s), Handle(u), Handle(v));
  for (const DeviceTensor* each : {&s, &u, &v}) {
    for (const double element : ValuesOf(*each)) EXPECT_TRUE(std::isnan(element));
  }
}

TEST(Svd, Refusals) {
  const Device device;
  const DeviceTensor self = Empty({3, 2}), s = Empty({2}), u = Empty({3, 2}), v = Empty({2, 2}),
                     full = Empty({3, 3}), line = Empty({3}), half(ACL_FLOAT, DenseLayout({2, 2}));
  const auto refused = [&](const DeviceTensor& x, bool is_full, const DeviceTensor& values,
                           const DeviceTensor& left, const DeviceTensor& right,
                           const std::string& says) {
    Refused(161002, says, [&](auto... o) {
      return aclnnSvdGetWorkspaceSize(x.handle(), is_full, true, Handle(values), Handle(left),
                                      Handle(right), o...);
    });
  };
  refused(line, false, s, u, v, "input rank is 1, expected 2 to 8");
  refused(self, false, line, u, v, "sigma shape is (3), expected (2)");
  refused(self, true, s, u, v, "u shape is (3, 2), expected (3, 3)");
  refused(self, true, s, full, u, "v shape is (3, 2), expected (2, 2)");
  refused(self, false, s, u, half, "v dtype is FLOAT, expected that of input, DOUBLE");
  EXPECT_REFUSED(161001, "u", Svd, self.handle(), false, true, Handle(s), nullptr, Handle(v));
}

}  // namespace
}  // namespace openaclnn::test
