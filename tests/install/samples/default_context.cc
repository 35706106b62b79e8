// SPDX-License-Identifier: Apache-2.0
// Adds gradients up by row, in the device's default context, with the headers of level2 (C++).
#include <cstdint>
#include <vector>

#include "aclnnop/level2/aclnn_embedding_dense_backward.h"
#include "sample.h"

int main() {
  constexpr int64_t kRows = 5;
  const std::vector<float> grad = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<int32_t> indices = {4, 1, 4, 2};
  // Row 2 is the padding: it gets no gradient.
  const std::vector<float> expected = {0, 0, 3, 4, 0, 0, 0, 0, 6, 8};
  std::vector<float> out(expected.size(), -1);
  const int64_t grad_dims[] = {4, 2}, indices_dims[] = {4}, out_dims[] = {kRows, 2};
  const size_t out_bytes = out.size() * sizeof(float);

  CALL(aclInit(nullptr));
  CALL(aclrtSetDevice(0));
  void* grad_memory = ToDevice(grad.data(), grad.size() * sizeof(float));
  void* indices_memory = ToDevice(indices.data(), indices.size() * sizeof(int32_t));
  void* out_memory = ToDevice(nullptr, out_bytes);
  aclTensor* grad_tensor = Dense(grad_memory, grad_dims, 2, ACL_FLOAT);
  aclTensor* indices_tensor = Dense(indices_memory, indices_dims, 1, ACL_INT32);
  aclTensor* out_tensor = Dense(out_memory, out_dims, 2, ACL_FLOAT);

  uint64_t workspace_bytes = 0;
  aclOpExecutor* executor = nullptr;
  CALL(aclnnEmbeddingDenseBackwardGetWorkspaceSize(grad_tensor, indices_tensor, kRows, 2, false,
                                                   out_tensor, &workspace_bytes, &executor));
  void* workspace = Workspace(workspace_bytes);
  // The default stream of the default context.
  CALL(aclnnEmbeddingDenseBackward(workspace, workspace_bytes, executor, nullptr));
  CALL(aclrtSynchronizeDevice());
  CALL(aclrtMemcpy(out.data(), out_bytes, out_memory, out_bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  HOLDS(out == expected);

  for (aclTensor* tensor : {grad_tensor, indices_tensor, out_tensor}) {
    CALL(aclDestroyTensor(tensor));
  }
  for (void* memory : {grad_memory, indices_memory, out_memory, workspace}) {
    if (memory != nullptr) CALL(aclrtFree(memory));
  }
  CALL(aclrtResetDevice(0));
  CALL(aclFinalize());
  return 0;
}
