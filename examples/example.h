/* SPDX-License-Identifier: Apache-2.0 */
/* What the examples share: a device, tensors that hold host values, both phases of an operator. */
#ifndef OPENACLNN_EXAMPLES_EXAMPLE_H_
#define OPENACLNN_EXAMPLES_EXAMPLE_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

/* Ends the program with the library's own words unless the call returns 0. */
#define CHECK(call)                                                       \
  do {                                                                    \
    int code_ = (call);                                                   \
    if (code_ != 0) {                                                     \
      fprintf(stderr, "%s: %d %s\n", #call, code_, aclGetRecentErrMsg()); \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

/* A dense tensor in device memory. */
typedef struct Tensor {
  aclTensor* handle;
  void* memory;
  size_t bytes;
} Tensor;

static inline aclrtStream OpenDevice(void) {
  aclrtStream stream = NULL;
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  return stream;
}

static inline int CloseDevice(aclrtStream stream) {
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  return aclFinalize();
}

/* `host` holds all elements; NULL leaves them as they are, for an output. */
static inline Tensor MakeTensor(aclDataType type, int rank, const int64_t* dims, const void* host) {
  Tensor tensor = {NULL, NULL, aclDataTypeSize(type)};
  for (int i = 0; i < rank; ++i) tensor.bytes *= (size_t)dims[i];
  CHECK(aclrtMalloc(&tensor.memory, tensor.bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  if (host != NULL) {
    CHECK(aclrtMemcpy(tensor.memory, tensor.bytes, host, tensor.bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  tensor.handle = aclCreateTensor(dims, (uint64_t)rank, type, NULL, 0, ACL_FORMAT_ND, dims,
                                  (uint64_t)rank, tensor.memory);
  if (tensor.handle == NULL) {
    fprintf(stderr, "aclCreateTensor: %s\n", aclGetRecentErrMsg());
    exit(1);
  }
  return tensor;
}

/* Every element the same. */
static inline Tensor MakeFilled(aclDataType type, int rank, const int64_t* dims,
                                const void* value) {
  const size_t size = aclDataTypeSize(type);
  size_t count = 1;
  for (int i = 0; i < rank; ++i) count *= (size_t)dims[i];
  char* host = (char*)malloc(count * size);
  for (size_t i = 0; i < count * size; ++i) host[i] = ((const char*)value)[i % size];
  const Tensor tensor = MakeTensor(type, rank, dims, host);
  free(host);
  return tensor;
}

static inline void ReadTensor(const Tensor* tensor, void* host) {
  CHECK(aclrtMemcpy(host, tensor->bytes, tensor->memory, tensor->bytes, ACL_MEMCPY_DEVICE_TO_HOST));
}

static inline void FreeTensor(Tensor* tensor) {
  CHECK(aclDestroyTensor(tensor->handle));
  CHECK(aclrtFree(tensor->memory));
}

typedef aclnnStatus (*Phase2)(void*, uint64_t, aclOpExecutor*, aclrtStream);

/* Phase 2 of an operator, after phase 1 gave the size and the executor; waits for the result. */
static inline void Run(Phase2 phase2, uint64_t size, aclOpExecutor* executor, aclrtStream stream) {
  void* workspace = NULL;
  if (size > 0) CHECK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(phase2(workspace, size, executor, stream));
  CHECK(aclrtSynchronizeStream(stream));
  if (workspace != NULL) CHECK(aclrtFree(workspace));
}

static inline void PrintFloats(const char* what, const Tensor* tensor, int columns) {
  const int count = (int)(tensor->bytes / sizeof(float));
  float* host = (float*)malloc(tensor->bytes);
  ReadTensor(tensor, host);
  printf("%s\n", what);
  for (int i = 0; i < count; ++i) {
    printf("%g%c", host[i], (i + 1) % columns == 0 ? '\n' : ' ');
  }
  free(host);
}

#endif /* OPENACLNN_EXAMPLES_EXAMPLE_H_ */
