/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace that phase 2 is given is smaller than phase 1 asked for. */
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "mistake.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  const int64_t tokens[3] = {0, 1, 2};
  const int64_t count[1] = {3}, dims[2] = {3, 2}, table[2] = {4, 2};
  const float one = 1.0F;
  Tensor grad = MakeFilled(ACL_FLOAT, 2, dims, &one);
  Tensor indices = MakeTensor(ACL_INT64, 1, count, tokens);
  Tensor out = MakeTensor(ACL_FLOAT, 2, table, NULL);
  uint64_t size = 0;
  void* workspace = NULL;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnEmbeddingDenseBackwardGetWorkspaceSize(grad.handle, indices.handle, 4, 0, false,
                                                    out.handle, &size, &executor));
  CHECK(aclrtMalloc(&workspace, 1, ACL_MEM_MALLOC_HUGE_FIRST)); /* here */
  TELL(aclnnEmbeddingDenseBackward(workspace, size, executor, stream));
  CHECK(aclrtFree(workspace));
  FreeTensor(&grad);
  FreeTensor(&indices);
  FreeTensor(&out);
  return CloseDevice(stream);
}
