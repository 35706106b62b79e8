/* SPDX-License-Identifier: Apache-2.0 */
/* A blocking copy waits for no stream: it may read the result before the operator has written it.
 */
#include "aclnnop/aclnn_exp.h"
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  Tensor x = MakeFloats(1000, 0.0F), y = MakeFloats(1000, 0.0F);
  static float host[1000];
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnExpGetWorkspaceSize(x.handle, y.handle, &size, &executor));
  CHECK(aclnnExp(NULL, size, executor, stream));
  ReadTensor(&y, host); /* here */
  CHECK(aclrtSynchronizeStream(stream));
  FreeTensor(&x);
  FreeTensor(&y);
  return CloseDevice(stream);
}
