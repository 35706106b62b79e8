/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient of a bias that each group of rows has its own of: sums of the groups' rows. */
#include "aclnnop/aclnn_grouped_bias_add_grad.h"
#include "example.h"

/* Sums of `rows` rows of ones, `width` wide, in groups; prints the first column. */
static void Listed(aclrtStream stream, int64_t rows, int64_t width, const int32_t* list,
                   int64_t groups, int64_t list_type) {
  const float one = 1;
  const int64_t grad_dims[2] = {rows, width}, list_dims[1] = {groups};
  const int64_t out_dims[2] = {groups, width};
  Tensor dy = MakeFilled(ACL_FLOAT, 2, grad_dims, &one);
  Tensor ends = MakeTensor(ACL_INT32, 1, list_dims, list);
  Tensor db = MakeTensor(ACL_FLOAT, 2, out_dims, NULL);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnGroupedBiasAddGradV2GetWorkspaceSize(dy.handle, ends.handle, list_type, db.handle,
                                                  &size, &executor));
  Run(aclnnGroupedBiasAddGradV2, size, executor, stream);
  float* sums = (float*)malloc(db.bytes);
  ReadTensor(&db, sums);
  for (int64_t j = 0; j < groups; ++j) printf("%g%c", sums[j * width], j + 1 < groups ? ' ' : '\n');
  free(sums);
  FreeTensor(&dy);
  FreeTensor(&ends);
  FreeTensor(&db);
}

/* Ten groups of 100 rows of 30 ones, without a list. */
static void Unlisted(aclrtStream stream) {
  const float one = 1;
  const int64_t grad_dims[3] = {10, 100, 30}, out_dims[2] = {10, 30};
  Tensor dy = MakeFilled(ACL_FLOAT, 3, grad_dims, &one);
  Tensor db = MakeTensor(ACL_FLOAT, 2, out_dims, NULL);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnGroupedBiasAddGradGetWorkspaceSize(dy.handle, NULL, db.handle, &size, &executor));
  Run(aclnnGroupedBiasAddGrad, size, executor, stream);
  PrintFloats("(10, 100, 30) without a list", &db, 30);
  FreeTensor(&dy);
  FreeTensor(&db);
}

int main(void) {
  const aclrtStream stream = OpenDevice();
  const int32_t ends[3] = {400, 600, 1000}, short_ends[4] = {5, 15, 30, 40};
  const int32_t sizes[4] = {5, 10, 15, 10};
  printf("(1000, 30), groups end at 400, 600, 1000\n");
  Listed(stream, 1000, 30, ends, 3, 0);
  printf("(40, 10), groups end at 5, 15, 30, 40\n");
  Listed(stream, 40, 10, short_ends, 4, 0);
  printf("(40, 10), groups of 5, 10, 15, 10\n");
  Listed(stream, 40, 10, sizes, 4, 1);
  Unlisted(stream);
  return CloseDevice(stream);
}
