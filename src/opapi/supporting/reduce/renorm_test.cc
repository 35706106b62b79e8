// SPDX-License-Identifier: Apache-2.0
// Renorm and EmbeddingRenorm: examples, rows that are named twice or not at all, refusals.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

DeviceTensor Floats(const Dims& dims, const Doubles& values) {
  return Make(ACL_FLOAT, dims, values);
}

TEST(Renorm, SlicesOfNoLargerNorm) {
  const Device device;
  const DeviceTensor self = Floats({3, 3}, {1, 1, 1, 2, 2, 2, 3, 3, 3}),
                     out(ACL_FLOAT, DenseLayout({3, 3}));
  const ScalarHandle one(1.0), two(2.0), five(5.0), negative(-1.0);
  EXPECT_RUN(device, Renorm, self.handle(), one.get(), 0, five.get(), Handle(out));
  const double third = 5.0 / 3;
  ExpectNear(ValuesOf(out), {1, 1, 1, third, third, third, third, third, third}, ACL_FLOAT);
  // Columns have norm sqrt(14).
  EXPECT_RUN(device, InplaceRenorm, Handle(self), two.get(), -1, one.get());
  const double length = std::sqrt(14);
  ExpectNear(ValuesOf(self),
             {1 / length, 1 / length, 1 / length, 2 / length, 2 / length, 2 / length, 3 / length,
              3 / length, 3 / length},
             ACL_FLOAT);
  EXPECT_REFUSED(161002, "p value is -1, expected one that is not negative", Renorm, self.handle(),
                 negative.get(), 0, five.get(), Handle(out));
  EXPECT_REFUSED(161002, "maxNorm value is -1, expected one that is not negative", Renorm,
                 self.handle(), two.get(), 0, negative.get(), Handle(out));
  EXPECT_REFUSED(161002, "dim value is 2, expected a dimension of self, (3, 3)", Renorm,
                 self.handle(), two.get(), 2, five.get(), Handle(out));
}

TEST(Renorm, EmbeddingRowsAreScaledOnce) {
  const Device device;
  const DeviceTensor rows = Floats({3, 2}, {3, 4, 30, 40, 0.3, 0.4}),
                     named = Make(ACL_INT64, {2, 2}, {0, 2, 0, 0}),
                     beyond = Make(ACL_INT32, {1}, {3});
  // Were a row scaled twice by 1 / (norm + 1), it would show.
  EXPECT_RUN(device, EmbeddingRenorm, Handle(rows), named.handle(), 1e-3, 2.0);
  const double scale = 1e-3 / (5 + 1e-7), small = 1e-3 / (0.5 + 1e-7);
  ExpectNear(ValuesOf(rows), {3 * scale, 4 * scale, 30, 40, 0.3 * small, 0.4 * small}, ACL_FLOAT);
  EXPECT_EQ(RUN(device, EmbeddingRenorm, Handle(rows), beyond.handle(), 1.0, 2.0).code, 507035);
  EXPECT_NEAR(ValuesOf(rows)[0], 3 * scale, 1e-9);
  EXPECT_REFUSED(161002, "selfRef dtype is INT64, expected FLOAT, FLOAT16, BFLOAT16",
                 EmbeddingRenorm, Handle(named), beyond.handle(), 1.0, 2.0);
  EXPECT_REFUSED(161002, "normType value is -2, expected one that is not negative", EmbeddingRenorm,
                 Handle(rows), named.handle(), 1.0, -2.0);
}

}  // namespace
}  // namespace openaclnn::test
