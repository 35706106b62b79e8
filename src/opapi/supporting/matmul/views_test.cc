// SPDX-License-Identifier: Apache-2.0
// A product of strided batches, exactly.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(Matmul, MultipliesMatrices) {
  const Device device;
  Random random(4);
  const int64_t m = 35, k = 200, n = 67;
  const Doubles a = SmallValues(random, 2 * m * k, -3, 3), b = SmallValues(random, k * n, -3, 3);
  const DeviceTensor self = Make(ACL_FLOAT, {2, m, k}, a, random);
  const DeviceTensor mat2 = Make(ACL_FLOAT, {k, n}, b, random);
  const DeviceTensor out(ACL_FLOAT, RandomLayout(random, {2, m, n}, false));
  ASSERT_EQ(Call(device, aclnnMatmul,
                 [&](auto... o) {
                   return aclnnMatmulGetWorkspaceSize(self.handle(), mat2.handle(), Handle(out),
                                                      int8_t{0}, o...);
                 })
                .message,
            "");
  const Doubles got = ValuesOf(out);
  for (int64_t i = 0; i < 2 * m * n; ++i) {
    double sum = 0;
    for (int64_t l = 0; l < k; ++l) {
      sum += a[static_cast<size_t>(i / n * k + l)] * b[static_cast<size_t>(l * n + i % n)];
    }
    ASSERT_EQ(got[static_cast<size_t>(i)], sum) << i;
  }
}

}  // namespace
}  // namespace openaclnn::test
