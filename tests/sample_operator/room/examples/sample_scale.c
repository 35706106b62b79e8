/* SPDX-License-Identifier: Apache-2.0 */
/* SampleScale multiplies a tensor by a number. */
#include "aclnnop/aclnn_sample_scale.h"
#include "example.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  const float numbers[2][3] = {{1, 2, 3}, {4, 5, 6}};
  const int64_t dims[2] = {2, 3};
  Tensor self = MakeTensor(ACL_FLOAT, 2, dims, numbers);
  Tensor out = MakeTensor(ACL_FLOAT, 2, dims, NULL);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;

  CHECK(aclnnSampleScaleGetWorkspaceSize(self.handle, 0.5, out.handle, &size, &executor));
  Run(aclnnSampleScale, size, executor, stream);
  PrintFloats("halves", &out, 3);

  FreeTensor(&self);
  FreeTensor(&out);
  return CloseDevice(stream);
}
