// SPDX-License-Identifier: Apache-2.0
// Stands in front of the operators.
#include "declarations/headers.inc"
#include "openaclnn_capture/record.h"

#define LIST(...) __VA_ARGS__
#define OPERATOR(name, parameters, arguments, outputs)                                             \
  extern "C" ACL_FUNC_VISIBILITY aclnnStatus name##GetWorkspaceSize(                               \
      LIST parameters, uint64_t* workspaceSize, aclOpExecutor** executor) {                        \
    return openaclnn::capture::Plan({#name, #arguments, #outputs}, NEXT(name##GetWorkspaceSize),   \
                                    workspaceSize, executor, LIST arguments);                      \
  }                                                                                                \
  extern "C" ACL_FUNC_VISIBILITY aclnnStatus name(void* workspace, uint64_t workspaceSize,         \
                                                  aclOpExecutor* executor, aclrtStream stream) {   \
    return openaclnn::capture::Run(#name, NEXT(name), workspace, workspaceSize, executor, stream); \
  }

#include "declarations/capture.inc"
