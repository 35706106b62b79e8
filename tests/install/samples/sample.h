// SPDX-License-Identifier: Apache-2.0
// What the sample programs share: stop at the first failure, put a tensor on the device, compare.
#ifndef OPENACLNN_TESTS_INSTALL_SAMPLES_SAMPLE_H_
#define OPENACLNN_TESTS_INSTALL_SAMPLES_SAMPLE_H_

#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

/* Ends the program when a call does not return 0 or a condition does not hold. */
#define CALL(call)                                                                 \
  do {                                                                             \
    const int code_ = (call);                                                      \
    if (code_ != 0) {                                                              \
      fprintf(stderr, "%s returned %d: %s\n", #call, code_, aclGetRecentErrMsg()); \
      exit(1);                                                                     \
    }                                                                              \
  } while (0)
#define HOLDS(condition)                                  \
  do {                                                    \
    if (!(condition)) {                                   \
      fprintf(stderr, "does not hold: %s\n", #condition); \
      exit(1);                                            \
    }                                                     \
  } while (0)

/* New device memory of that many bytes, with those of `host` in it unless that is NULL. */
static inline void* ToDevice(const void* host, size_t bytes) {
  void* device = NULL;
  CALL(aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  if (host != NULL) CALL(aclrtMemcpy(device, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  return device;
}

/* A dense tensor over device memory. */
static inline aclTensor* Dense(void* device, const int64_t* dims, uint64_t rank, aclDataType type) {
  aclTensor* tensor = aclCreateTensor(dims, rank, type, NULL, 0, ACL_FORMAT_ND, dims, rank, device);
  HOLDS(tensor != NULL);
  return tensor;
}

/* Device memory for an operator's workspace; NULL when it needs none. */
static inline void* Workspace(uint64_t bytes) { return bytes == 0 ? NULL : ToDevice(NULL, bytes); }

#endif  // OPENACLNN_TESTS_INSTALL_SAMPLES_SAMPLE_H_
