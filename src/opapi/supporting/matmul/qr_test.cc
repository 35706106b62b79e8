// SPDX-License-Identifier: Apache-2.0
// LinalgQr: an example, products of the factors, matrices that are singular, refusals.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

// As LAPACK has the signs.
TEST(LinalgQr, OfTwoRows) {
  const Device device;
  const DeviceTensor self = Of({2, 2}, {1, 2, 3, 4}), q = Empty({2, 2}), r = Empty({2, 2});
  EXPECT_RUN(device, LinalgQr, self.handle(), 0, Handle(q), Handle(r));
  const double root = std::sqrt(10);
  ExpectNear(ValuesOf(q), {-1 / root, -3 / root, -3 / root, 1 / root}, ACL_DOUBLE, 1e-12, 1e-12);
  ExpectNear(ValuesOf(r), {-root, -14 / root, 0, -2 / root}, ACL_DOUBLE, 1e-12, 1e-12);
}

/// Q R is self and Q' Q the identity, whatever its rank is.
void ExpectFactors(const Device& device, int64_t m, int64_t n, const Doubles& x) {
  for (const int64_t mode : {0, 1}) {
    const int64_t k = mode == 1 ? m : std::min(m, n);
    Random random(79);
    const DeviceTensor self = Make(ACL_DOUBLE, {m, n}, x, random), q = Empty({m, k}),
                       r = Empty({k, n});
    EXPECT_RUN(device, LinalgQr, self.handle(), mode, Handle(q), Handle(r));
    const Doubles a = ValuesOf(q), b = ValuesOf(r);
    const auto at = [](int64_t i, int64_t width, int64_t j) {
      return static_cast<size_t>(i * width + j);
    };
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t t = 0; t < k; ++t) sum += a[at(i, k, t)] * b[at(t, n, j)];
        EXPECT_NEAR(sum, x[at(i, n, j)], 1e-12);
        if (i > j && i < k) {
          EXPECT_EQ(b[at(i, n, j)], 0);
        }
      }
    }
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < k; ++j) {
        double sum = 0;
        for (int64_t t = 0; t < m; ++t) sum += a[at(t, k, i)] * a[at(t, k, j)];
        EXPECT_NEAR(sum, i == j, 1e-12);
      }
    }
  }
}

TEST(LinalgQr, FactorsOfAnyRank) {
  const Device device;
  Random random(80);
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{7, 4}, {4, 7}, {1, 3}, {3, 1}, {70, 3}}) {
    ExpectFactors(device, m, n, RealValues(random, m * n));
    ExpectFactors(device, m, n, Doubles(static_cast<size_t>(m * n), 2));
    ExpectFactors(device, m, n, Doubles(static_cast<size_t>(m * n)));
  }
}

TEST(LinalgQr, Refusals) {
  const Device device;
  const DeviceTensor self = Empty({3, 2}), q = Empty({3, 2}), r = Empty({2, 2}), none = Empty({0}),
                     whole = Empty({3, 3}), half(ACL_FLOAT16, DenseLayout({3, 2}));
  EXPECT_REFUSED(161002, "mode value is 3, expected 0, 1 or 2", LinalgQr, self.handle(), 3,
                 Handle(q), Handle(r));
  EXPECT_REFUSED(161002, "Q shape is (3, 2), expected (3, 3)", LinalgQr, self.handle(), 1,
                 Handle(q), Handle(self));
  EXPECT_REFUSED(161002, "R shape is (3, 3), expected (2, 2)", LinalgQr, self.handle(), 0,
                 Handle(q), Handle(whole));
  EXPECT_REFUSED(161002, "Q shape is (3, 2), expected no elements in mode 2", LinalgQr,
                 self.handle(), 2, Handle(q), Handle(r));
  EXPECT_REFUSED(161002, "Q dtype is FLOAT16, expected that of self, DOUBLE", LinalgQr,
                 self.handle(), 0, Handle(half), Handle(r));
  EXPECT_RUN(device, LinalgQr, self.handle(), 2, Handle(none), Handle(r));
}

}  // namespace
}  // namespace openaclnn::test
