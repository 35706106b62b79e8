// SPDX-License-Identifier: Apache-2.0
// The NaNs that ScaledMaskedSoftmax computes.
#include "aclnnop/aclnn_scaled_masked_softmax.h"
#include "tests/support/canonical_nan.h"

namespace openaclnn::test {
namespace {

Outputs MaskedSoftmax(const Device& device, Operands& o) {
  const DeviceTensor x = o.In({2, 3, 7, 67}), y = o.Out({2, 3, 7, 67});
  const DeviceTensor mask = o.Whole(ACL_BOOL, {2, 1, 7, 67}, 1);
  Launch(device, aclnnScaledMaskedSoftmax, [&](auto... outputs) {
    return aclnnScaledMaskedSoftmaxGetWorkspaceSize(x.handle(), mask.handle(), 0.5, false,
                                                    Handle(y), outputs...);
  });
  return {y.Read()};
}

TEST(ScaledMaskedSoftmaxNan, IsCanonical) { ExpectCanonicalNans(kRoomTypes, MaskedSoftmax); }

}  // namespace
}  // namespace openaclnn::test
