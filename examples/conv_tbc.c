/* SPDX-License-Identifier: Apache-2.0 */
/* The convolution over time and its gradients, of ones. */
#include "aclnnop/aclnn_convolution.h"
#include "aclnnop/aclnn_convolution_backward.h"
#include "example.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  const float one = 1;
  const int64_t steps[3] = {5, 1, 2}, taps[3] = {1, 2, 2}, channels[1] = {2};
  const int8_t keep_dtype = 0;
  Tensor dy = MakeFilled(ACL_FLOAT, 3, steps, &one);
  Tensor x = MakeFilled(ACL_FLOAT, 3, steps, &one);
  Tensor w = MakeFilled(ACL_FLOAT, 3, taps, &one);
  Tensor bias = MakeFilled(ACL_FLOAT, 1, channels, &one);
  Tensor y = MakeTensor(ACL_FLOAT, 3, steps, NULL);
  Tensor dx = MakeTensor(ACL_FLOAT, 3, steps, NULL);
  Tensor dw = MakeTensor(ACL_FLOAT, 3, taps, NULL);
  Tensor db = MakeTensor(ACL_FLOAT, 1, channels, NULL);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;

  CHECK(aclnnConvTbcGetWorkspaceSize(x.handle, w.handle, bias.handle, 0, y.handle, keep_dtype,
                                     &size, &executor));
  Run(aclnnConvTbc, size, executor, stream);
  PrintFloats("convolution", &y, 10);

  CHECK(aclnnConvTbcBackwardGetWorkspaceSize(dy.handle, x.handle, w.handle, bias.handle, 0,
                                             keep_dtype, dx.handle, dw.handle, db.handle, &size,
                                             &executor));
  Run(aclnnConvTbcBackward, size, executor, stream);
  PrintFloats("gradient of the input", &dx, 10);
  PrintFloats("gradient of the weight", &dw, 4);
  PrintFloats("gradient of the bias", &db, 2);

  Tensor* all[8] = {&dy, &x, &w, &bias, &y, &dx, &dw, &db};
  for (int i = 0; i < 8; ++i) FreeTensor(all[i]);
  return CloseDevice(stream);
}
