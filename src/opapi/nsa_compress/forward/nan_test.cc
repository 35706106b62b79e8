// SPDX-License-Identifier: Apache-2.0
// The NaNs that NsaCompress computes.
#include "aclnnop/aclnn_nsa_compress.h"
#include "tests/support/canonical_nan.h"
#include "tests/support/int_list.h"

namespace openaclnn::test {
namespace {

Outputs Compress(const Device& device, Operands& o) {
  const DeviceTensor x = o.In({64, 2, 32}), w = o.In({16, 2}), y = o.Out({4, 2, 32});
  const IntListHandle ends({.values = {64}});
  Launch(device, aclnnNsaCompress, [&](auto... outputs) {
    return aclnnNsaCompressGetWorkspaceSize(x.handle(), w.handle(), ends.get(), nullptr, 16, 16, 0,
                                            Handle(y), outputs...);
  });
  return {y.Read()};
}

TEST(NsaCompressNan, IsCanonical) {
  ExpectCanonicalNans(std::span(kRoomTypes).subspan(1), Compress);
}

}  // namespace
}  // namespace openaclnn::test
