/* SPDX-License-Identifier: Apache-2.0 */
/* Embedding looks rows up; its gradient adds the rows of equal indices. */
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "example.h"

int main(void) {
  const aclrtStream stream = OpenDevice();
  const float grad[2][3] = {{1, 2, 3}, {4, 5, 6}};
  const int64_t indices[2] = {1, 2}, rows[2] = {2, 3}, table[2] = {4, 3}, count[1] = {2};
  Tensor dy = MakeTensor(ACL_FLOAT, 2, rows, grad);
  Tensor index = MakeTensor(ACL_INT64, 1, count, indices);
  Tensor dw = MakeTensor(ACL_FLOAT, 2, table, NULL);
  Tensor y = MakeTensor(ACL_FLOAT, 2, rows, NULL);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;

  /* Four rows; row 0 is padding and gets no gradient. */
  CHECK(aclnnEmbeddingDenseBackwardGetWorkspaceSize(dy.handle, index.handle, 4, 0, false, dw.handle,
                                                    &size, &executor));
  Run(aclnnEmbeddingDenseBackward, size, executor, stream);
  PrintFloats("gradient of the table", &dw, 3);

  /* The forward reads the rows back. */
  CHECK(aclnnEmbeddingGetWorkspaceSize(dw.handle, index.handle, y.handle, &size, &executor));
  Run(aclnnEmbedding, size, executor, stream);
  PrintFloats("rows 1 and 2", &y, 3);

  FreeTensor(&dy);
  FreeTensor(&index);
  FreeTensor(&dw);
  FreeTensor(&y);
  return CloseDevice(stream);
}
