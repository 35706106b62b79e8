/* SPDX-License-Identifier: Apache-2.0 */
/* The input is allocated and never filled: a device computes with whatever was left there. */
#include "aclnnop/aclnn_exp.h"
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  const int64_t dims[1] = {1000};
  Tensor x = MakeTensor(ACL_FLOAT, 1, dims, NULL), y = MakeFloats(1000, 0.0F); /* here */
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnExpGetWorkspaceSize(x.handle, y.handle, &size, &executor));
  CHECK(aclnnExp(NULL, size, executor, stream));
  CHECK(aclrtSynchronizeStream(stream));
  FreeTensor(&x);
  FreeTensor(&y);
  return CloseDevice(stream);
}
