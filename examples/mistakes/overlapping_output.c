/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of an output share memory: which of them is left depends on who writes last. */
#include "aclnnop/aclnn_exp.h"
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  const int64_t dims[2] = {2, 4}, strides[2] = {1, 1}, storage[1] = {8}; /* here */
  const float one = 1.0F;
  Tensor x = MakeFilled(ACL_FLOAT, 2, dims, &one), memory = MakeFloats(8, 0.0F);
  aclTensor* y =
      aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, storage, 1, memory.memory);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  TELL(aclnnExpGetWorkspaceSize(x.handle, y, &size, &executor));
  CHECK(aclDestroyTensor(y));
  FreeTensor(&x);
  FreeTensor(&memory);
  return CloseDevice(stream);
}
