// SPDX-License-Identifier: Apache-2.0
// Products of BFLOAT16 of any magnitude: the bits of every instruction set.
#include "tests/support/pairs.h"

#include "generated/supporting_headers.inc"
#include "tests/support/call.h"
#include "tests/support/problem.h"

namespace openaclnn::test {
namespace {

// Dense and strided; one block of rows, many of them, batches; more than a unit of terms.
TEST(MatmulPairs, HaveTheBitsOfEveryInstructionSet) {
  const Dims shapes[][3] = {{{70, 777}, {777, 65}, {70, 65}},
                            {{3, 2100}, {2100, 130}, {3, 130}},
                            {{130, 64}, {64, 33}, {130, 33}},
                            {{25, 3}, {3, 33}, {25, 33}},
                            {{20, 20, 90}, {20, 90, 35}, {20, 20, 35}}};
  for (const auto& [left, right, result] : shapes) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
      ExpectSameBitsOfPairs([&](const Device& device, auto&& fill) {
        DeviceTensor a = PlaceTensor(seed, ACL_BF16, left, seed > 0, true);
        DeviceTensor b = PlaceTensor(seed + 1, ACL_BF16, right, seed > 0, true);
        DeviceTensor out = PlaceTensor(seed + 2, ACL_BF16, result, false, false);
        fill(&a);
        fill(&b);
        const Planned planned = Planned::Plan([&](auto... outputs) {
          return aclnnMatmulGetWorkspaceSize(a.handle(), b.handle(),
                                             const_cast<aclTensor*>(out.handle()), 0, outputs...);
        });
        EXPECT_EQ(planned.outcome().message, "");
        EXPECT_EQ(Execute(device, planned, aclnnMatmul).message, "");
        return std::vector{out.Read()};
      });
    }
  }
}

}  // namespace
}  // namespace openaclnn::test
