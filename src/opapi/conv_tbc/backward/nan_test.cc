// SPDX-License-Identifier: Apache-2.0
// The NaNs that ConvTbcBackward computes.
#include "aclnnop/aclnn_convolution_backward.h"
#include "tests/support/canonical_nan.h"

namespace openaclnn::test {
namespace {

Outputs ConvTbcBackward(const Device& device, Operands& o) {
  const DeviceTensor dy = o.In({4, 2, 37}), x = o.In({4, 2, 5}), w = o.In({3, 5, 37});
  const DeviceTensor bias = o.In({37}), dx = o.Out({4, 2, 5}), dw = o.Out({3, 5, 37});
  const DeviceTensor db = o.Out({37});
  Launch(device, aclnnConvTbcBackward, [&](auto... outputs) {
    return aclnnConvTbcBackwardGetWorkspaceSize(dy.handle(), x.handle(), w.handle(), bias.handle(),
                                                1, 0, Handle(dx), Handle(dw), Handle(db),
                                                outputs...);
  });
  return {dx.Read(), dw.Read(), db.Read()};
}

TEST(ConvTbcBackwardNan, IsCanonical) { ExpectCanonicalNans(kRoomTypes, ConvTbcBackward); }

}  // namespace
}  // namespace openaclnn::test
