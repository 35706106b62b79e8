/* SPDX-License-Identifier: Apache-2.0 */
/* Floats behind a header of 6 bytes: a device that loads whole elements finds none there. */
#include "aclnnop/aclnn_exp.h"
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  const int64_t bytes[1] = {6 + 4 * 1000}, dims[1] = {1000};
  const char zero = 0;
  Tensor message = MakeFilled(ACL_INT8, 1, bytes, &zero), y = MakeFloats(1000, 0.0F);
  aclTensor* x = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1,
                                 (char*)message.memory + 6); /* here */
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnExpGetWorkspaceSize(x, y.handle, &size, &executor));
  CHECK(aclnnExp(NULL, size, executor, stream));
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclDestroyTensor(x));
  FreeTensor(&message);
  FreeTensor(&y);
  return CloseDevice(stream);
}
