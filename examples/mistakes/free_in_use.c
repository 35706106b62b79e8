/* SPDX-License-Identifier: Apache-2.0 */
/* Memory is freed while an operator that is queued still writes it: aclrtFree waits for nothing,
 * and on a device the next who allocates has it meanwhile.
 */
#include "aclnnop/aclnn_exp.h"
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  Tensor x = MakeFloats(1000, 0.0F), y = MakeFloats(1000, 0.0F);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnExpGetWorkspaceSize(x.handle, y.handle, &size, &executor));
  CHECK(aclnnExp(NULL, size, executor, stream));
  FreeTensor(&y); /* here */
  CHECK(aclrtSynchronizeStream(stream));
  FreeTensor(&x);
  return CloseDevice(stream);
}
