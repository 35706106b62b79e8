// SPDX-License-Identifier: Apache-2.0
// The NaNs that EmbeddingDenseBackward computes.
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "tests/support/canonical_nan.h"

namespace openaclnn::test {
namespace {

template <bool kMean>
Outputs EmbeddingGradient(const Device& device, Operands& o) {
  const DeviceTensor grad = o.In({1500, 37}), indices = o.Whole(ACL_INT64, {1500}, 900);
  const DeviceTensor out = o.Out({901, 37});
  Launch(device, aclnnEmbeddingDenseBackward, [&](auto... outputs) {
    return aclnnEmbeddingDenseBackwardGetWorkspaceSize(grad.handle(), indices.handle(), 901, 901,
                                                       kMean, Handle(out), outputs...);
  });
  return {out.Read()};
}

TEST(EmbeddingDenseBackwardNan, IsCanonical) {
  ExpectCanonicalNans(kRoomTypes, EmbeddingGradient<false>);
  ExpectCanonicalNans(kRoomTypes, EmbeddingGradient<true>);
}

}  // namespace
}  // namespace openaclnn::test
