// SPDX-License-Identifier: Apache-2.0
// The NaNs that ConvTbc computes.
#include "aclnnop/aclnn_convolution.h"
#include "tests/support/canonical_nan.h"

namespace openaclnn::test {
namespace {

Outputs ConvTbc(const Device& device, Operands& o) {
  const DeviceTensor x = o.In({9, 2, 5}), w = o.In({3, 5, 37}), bias = o.In({37});
  const DeviceTensor y = o.Out({9, 2, 37});
  Launch(device, aclnnConvTbc, [&](auto... outputs) {
    return aclnnConvTbcGetWorkspaceSize(x.handle(), w.handle(), bias.handle(), 1, Handle(y), 0,
                                        outputs...);
  });
  return {y.Read()};
}

TEST(ConvTbcNan, IsCanonical) { ExpectCanonicalNans(kRoomTypes, ConvTbc); }

}  // namespace
}  // namespace openaclnn::test
