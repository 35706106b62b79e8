// SPDX-License-Identifier: Apache-2.0
// The NaNs that GroupedBiasAddGrad computes.
#include "aclnnop/aclnn_grouped_bias_add_grad.h"
#include "tests/support/canonical_nan.h"

namespace openaclnn::test {
namespace {

// Long and short segments.
template <int64_t kRows>
Outputs GroupedBias(const Device& device, Operands& o) {
  const DeviceTensor grad = o.In({2, kRows, 133}), out = o.Out({2, 133});
  Launch(device, aclnnGroupedBiasAddGrad, [&](auto... outputs) {
    return aclnnGroupedBiasAddGradGetWorkspaceSize(grad.handle(), nullptr, Handle(out), outputs...);
  });
  return {out.Read()};
}

TEST(GroupedBiasAddGradNan, IsCanonical) {
  ExpectCanonicalNans(kRoomTypes, GroupedBias<1>);
  ExpectCanonicalNans(kRoomTypes, GroupedBias<130>);
  ExpectCanonicalNans(kRoomTypes, GroupedBias<2100>);
}

}  // namespace
}  // namespace openaclnn::test
