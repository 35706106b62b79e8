/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor is destroyed before phase 1 is given it. */
#include "aclnnop/aclnn_exp.h"
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  Tensor x = MakeFloats(4, 1.0F), y = MakeFloats(4, 0.0F);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclDestroyTensor(x.handle)); /* here */
  TELL(aclnnExpGetWorkspaceSize(x.handle, y.handle, &size, &executor));
  CHECK(aclrtFree(x.memory));
  FreeTensor(&y);
  return CloseDevice(stream);
}
