/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of scaled rows in which masked elements are zero, and its gradient. */
#include "aclnnop/aclnn_scaled_masked_softmax.h"
#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "example.h"

enum { kCount = 16 };

int main(void) {
  const aclrtStream stream = OpenDevice();
  const int64_t dims[4] = {2, 2, 2, 2};
  /* The last dimension is 2: rows whose two elements are both masked, then rows of two that stay.
   */
  float values[kCount];
  uint8_t mask_values[kCount];
  for (int i = 0; i < kCount; ++i) {
    values[i] = (float)(i + 1);
    mask_values[i] = i % 4 < 2;
  }
  Tensor dy = MakeTensor(ACL_FLOAT, 4, dims, values);
  Tensor y = MakeTensor(ACL_FLOAT, 4, dims, values);
  Tensor mask = MakeTensor(ACL_BOOL, 4, dims, mask_values);
  Tensor dx = MakeTensor(ACL_FLOAT, 4, dims, NULL);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;

  CHECK(aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(dy.handle, y.handle, mask.handle, 1.0,
                                                         false, dx.handle, &size, &executor));
  Run(aclnnScaledMaskedSoftmaxBackward, size, executor, stream);
  PrintFloats("gradient", &dx, 8);

  FreeTensor(&dy);
  FreeTensor(&y);
  FreeTensor(&mask);
  FreeTensor(&dx);

  /* The forward on equal logits: what is not masked shares 1. */
  const float zero = 0;
  const int64_t row[4] = {1, 1, 1, 8};
  const uint8_t row_mask[8] = {1, 0, 0, 1, 0, 1, 0, 1};
  Tensor x = MakeFilled(ACL_FLOAT, 4, row, &zero);
  Tensor few = MakeTensor(ACL_BOOL, 4, row, row_mask);
  Tensor out = MakeTensor(ACL_FLOAT, 4, row, NULL);
  CHECK(aclnnScaledMaskedSoftmaxGetWorkspaceSize(x.handle, few.handle, 1.0, false, out.handle,
                                                 &size, &executor));
  Run(aclnnScaledMaskedSoftmax, size, executor, stream);
  PrintFloats("softmax", &out, 8);
  FreeTensor(&x);
  FreeTensor(&few);
  FreeTensor(&out);
  return CloseDevice(stream);
}
