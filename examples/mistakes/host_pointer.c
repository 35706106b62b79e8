/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor over memory of the host: on a device the operator reads whatever lies at that address.
 */
#include "aclnnop/aclnn_exp.h"
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  static float host[4] = {1, 2, 3, 4};
  const int64_t dims[1] = {4};
  aclTensor* self =
      aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, host); /* here */
  Tensor out = MakeTensor(ACL_FLOAT, 1, dims, NULL);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnExpGetWorkspaceSize(self, out.handle, &size, &executor));
  TELL(aclnnExp(NULL, size, executor, stream));
  CHECK(aclDestroyTensor(self));
  FreeTensor(&out);
  return CloseDevice(stream);
}
