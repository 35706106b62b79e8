// SPDX-License-Identifier: Apache-2.0
// The NaNs that NsaCompressGrad computes.
#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "tests/support/canonical_nan.h"
#include "tests/support/int_list.h"

namespace openaclnn::test {
namespace {

Outputs CompressGradient(const Device& device, Operands& o) {
  const DeviceTensor dy = o.In({3, 2, 32}), x = o.In({64, 2, 32}), w = o.In({32, 2});
  const DeviceTensor dx = o.Out({64, 2, 32}), dw = o.Out({32, 2});
  const IntListHandle ends({.values = {64}});
  Launch(device, aclnnNsaCompressGrad, [&](auto... outputs) {
    return aclnnNsaCompressGradGetWorkspaceSize(dy.handle(), x.handle(), w.handle(), ends.get(), 32,
                                                16, 0, nullptr, Handle(dx), Handle(dw), outputs...);
  });
  return {dx.Read(), dw.Read()};
}

TEST(NsaCompressGradNan, IsCanonical) {
  ExpectCanonicalNans(std::span(kRoomTypes).subspan(1), CompressGradient);
}

}  // namespace
}  // namespace openaclnn::test
