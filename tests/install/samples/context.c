// SPDX-License-Identifier: Apache-2.0
// Looks rows up in a table, in contexts that the program makes itself (C99).
#include <string.h>

#include "aclnnop/aclnn_embedding.h"
#include "sample.h"

/* One row of `table` for each index, computed in the calling thread's context. */
static void LookUp(const float* table, int64_t rows, int64_t width, const int64_t* indices,
                   int64_t count, float* out) {
  const int64_t table_dims[2] = {rows, width};
  const int64_t out_dims[2] = {count, width};
  const size_t out_bytes = (size_t)(count * width) * sizeof(float);
  void* table_memory = ToDevice(table, (size_t)(rows * width) * sizeof(float));
  void* indices_memory = ToDevice(indices, (size_t)count * sizeof(int64_t));
  void* out_memory = ToDevice(NULL, out_bytes);
  aclTensor* table_tensor = Dense(table_memory, table_dims, 2, ACL_FLOAT);
  aclTensor* indices_tensor = Dense(indices_memory, &count, 1, ACL_INT64);
  aclTensor* out_tensor = Dense(out_memory, out_dims, 2, ACL_FLOAT);
  aclrtStream stream = NULL;
  CALL(aclrtCreateStream(&stream));

  uint64_t workspace_bytes = 0;
  aclOpExecutor* executor = NULL;
  CALL(aclnnEmbeddingGetWorkspaceSize(table_tensor, indices_tensor, out_tensor, &workspace_bytes,
                                      &executor));
  void* workspace = Workspace(workspace_bytes);
  CALL(aclnnEmbedding(workspace, workspace_bytes, executor, stream));
  CALL(aclrtSynchronizeStream(stream));
  CALL(aclrtMemcpy(out, out_bytes, out_memory, out_bytes, ACL_MEMCPY_DEVICE_TO_HOST));

  CALL(aclDestroyTensor(table_tensor));
  CALL(aclDestroyTensor(indices_tensor));
  CALL(aclDestroyTensor(out_tensor));
  if (workspace != NULL) CALL(aclrtFree(workspace));
  CALL(aclrtFree(table_memory));
  CALL(aclrtFree(indices_memory));
  CALL(aclrtFree(out_memory));
  CALL(aclrtDestroyStream(stream));
}

int main(void) {
  const float table[4][3] = {{0, 1, 2}, {10, 11, 12}, {20, 21, 22}, {30, 31, 32}};
  const int64_t indices[3] = {3, 0, 3};
  const float expected[3][3] = {{30, 31, 32}, {0, 1, 2}, {30, 31, 32}};
  aclrtContext first = NULL, second = NULL, current = NULL;

  CALL(aclInit(NULL));
  CALL(aclrtSetDevice(0));
  CALL(aclrtCreateContext(&first, 0));
  CALL(aclrtCreateContext(&second, 0));
  CALL(aclrtGetCurrentContext(&current));
  HOLDS(current == second);
  for (int turn = 0; turn < 2; ++turn) {
    float out[3][3] = {{0}};
    CALL(aclrtSetCurrentContext(turn == 0 ? first : second));
    LookUp(&table[0][0], 4, 3, indices, 3, &out[0][0]);
    HOLDS(memcmp(out, expected, sizeof out) == 0);
  }
  CALL(aclrtDestroyContext(second));
  CALL(aclrtDestroyContext(first));
  CALL(aclrtResetDevice(0));
  CALL(aclFinalize());
  return 0;
}
