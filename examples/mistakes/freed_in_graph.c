/* SPDX-License-Identifier: Apache-2.0 */
/* A graph executes once more when one of its operands was freed: it has the addresses of then. */
#include "aclnnop/aclnn_exp.h"
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  Tensor x = MakeFloats(1000, 0.0F), y = MakeFloats(1000, 0.0F);
  aclmdlRI graph = NULL;
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK(aclnnExpGetWorkspaceSize(x.handle, y.handle, &size, &executor));
  CHECK(aclnnExp(NULL, size, executor, stream));
  CHECK(aclmdlRICaptureEnd(stream, &graph));
  FreeTensor(&y); /* here */
  CHECK(aclmdlRIExecuteAsync(graph, stream));
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclmdlRIDestroy(graph));
  FreeTensor(&x);
  return CloseDevice(stream);
}
