// SPDX-License-Identifier: Apache-2.0
// Calls of a supporting operator that has next to nothing to do: what tests/instructions.py counts
// of everything around a kernel.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"
#include "require.h"

namespace {

/// Both phases of Add over 16 elements, and the wait for it.
void CallOften(long calls) {
  constexpr size_t kTensorBytes = 64;
  const int64_t dims[] = {16};
  aclrtStream stream = nullptr;
  void* memory = nullptr;
  Require(aclrtCreateStream(&stream));
  Require(aclrtMalloc(&memory, 3 * kTensorBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  Require(aclrtMemset(memory, 3 * kTensorBytes, 0, 3 * kTensorBytes));
  aclTensor* tensors[3];
  for (size_t i = 0; i < 3; ++i) {
    tensors[i] = aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1,
                                 static_cast<char*>(memory) + i * kTensorBytes);
  }
  float one = 1;
  aclScalar* alpha = aclCreateScalar(&one, ACL_FLOAT);
  for (long i = 0; i < calls; ++i) {
    uint64_t workspace_size = 0;
    aclOpExecutor* executor = nullptr;
    Require(aclnnAddGetWorkspaceSize(tensors[0], tensors[1], alpha, tensors[2], &workspace_size,
                                     &executor));
    Require(aclnnAdd(nullptr, workspace_size, executor, stream));
    Require(aclrtSynchronizeStream(stream));
  }
  aclDestroyScalar(alpha);
  for (aclTensor* each : tensors) aclDestroyTensor(each);
  Require(aclrtFree(memory));
  Require(aclrtDestroyStream(stream));
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view kCalls = "--calls=";
  if (argc != 2 || !std::string_view(argv[1]).starts_with(kCalls)) {
    fprintf(stderr, "small_call_bench --calls=N\n");
    return 1;
  }
  Require(aclInit(nullptr));
  Require(aclrtSetDevice(0));
  CallOften(std::atol(argv[1] + kCalls.size()));
  return aclFinalize();
}
