// SPDX-License-Identifier: Apache-2.0
// The NaNs that ScaledMaskedSoftmaxBackward computes.
#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "tests/support/canonical_nan.h"

namespace openaclnn::test {
namespace {

Outputs MaskedSoftmaxBackward(const Device& device, Operands& o) {
  const DeviceTensor dy = o.In({2, 3, 7, 67}), y = o.In({2, 3, 7, 67}), dx = o.Out({2, 3, 7, 67});
  const DeviceTensor mask = o.Whole(ACL_BOOL, {2, 1, 7, 67}, 1);
  Launch(device, aclnnScaledMaskedSoftmaxBackward, [&](auto... outputs) {
    return aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(dy.handle(), y.handle(), mask.handle(),
                                                            0.5, false, Handle(dx), outputs...);
  });
  return {dx.Read()};
}

TEST(ScaledMaskedSoftmaxBackwardNan, IsCanonical) {
  ExpectCanonicalNans(kRoomTypes, MaskedSoftmaxBackward);
}

}  // namespace
}  // namespace openaclnn::test
