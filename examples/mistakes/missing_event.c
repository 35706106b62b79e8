/* SPDX-License-Identifier: Apache-2.0 */
/* One stream reads what another one writes, and nothing makes it wait: with luck it comes second.
 */
#include "aclnnop/aclnn_exp.h"
#include "mistake.h"

int main(void) {
  const aclrtStream first = OpenDevice();
  aclrtStream second = NULL;
  CHECK(aclrtCreateStream(&second));
  Tensor x = MakeFloats(1000, 0.0F), y = MakeFloats(1000, 0.0F), z = MakeFloats(1000, 0.0F);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnExpGetWorkspaceSize(x.handle, y.handle, &size, &executor));
  CHECK(aclnnExp(NULL, size, executor, first));
  CHECK(aclnnExpGetWorkspaceSize(y.handle, z.handle, &size, &executor));
  CHECK(aclnnExp(NULL, size, executor, second)); /* here */
  CHECK(aclrtSynchronizeStream(first));
  CHECK(aclrtSynchronizeStream(second));
  CHECK(aclrtDestroyStream(second));
  FreeTensor(&x);
  FreeTensor(&y);
  FreeTensor(&z);
  return CloseDevice(first);
}
