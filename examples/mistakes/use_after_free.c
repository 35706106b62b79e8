/* SPDX-License-Identifier: Apache-2.0 */
/* Memory is freed between the two phases: on a device the operator writes into somebody else's. */
#include "aclnnop/aclnn_exp.h"
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  Tensor x = MakeFloats(4, 1.0F), y = MakeFloats(4, 0.0F);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnExpGetWorkspaceSize(x.handle, y.handle, &size, &executor));
  CHECK(aclrtFree(y.memory)); /* here */
  TELL(aclnnExp(NULL, size, executor, stream));
  CHECK(aclDestroyTensor(y.handle));
  FreeTensor(&x);
  return CloseDevice(stream);
}
