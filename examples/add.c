/* SPDX-License-Identifier: Apache-2.0 */
/* A sum with a factor, out = self + alpha * other: one row is added to every row. */
#include "aclnnop/aclnn_add.h"
#include "example.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  const float rows[2][3] = {{1, 2, 3}, {4, 5, 6}}, row[3] = {10, 20, 30};
  const int64_t dims[2] = {2, 3}, row_dims[1] = {3};
  float factor = 0.5F;
  aclScalar* alpha = aclCreateScalar(&factor, ACL_FLOAT);
  Tensor self = MakeTensor(ACL_FLOAT, 2, dims, rows);
  Tensor other = MakeTensor(ACL_FLOAT, 1, row_dims, row);
  Tensor out = MakeTensor(ACL_FLOAT, 2, dims, NULL);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;

  CHECK(aclnnAddGetWorkspaceSize(self.handle, other.handle, alpha, out.handle, &size, &executor));
  Run(aclnnAdd, size, executor, stream);
  PrintFloats("sum", &out, 3);

  /* In place: the tensor that is added to is the result. */
  CHECK(aclnnInplaceAddGetWorkspaceSize(self.handle, other.handle, alpha, &size, &executor));
  Run(aclnnInplaceAdd, size, executor, stream);
  PrintFloats("sum in place", &self, 3);

  CHECK(aclDestroyScalar(alpha));
  FreeTensor(&self);
  FreeTensor(&other);
  FreeTensor(&out);
  return CloseDevice(stream);
}
