// SPDX-License-Identifier: Apache-2.0
// The private C interface of libnnopbase.so that the operators in libopapi.so stand on.
#pragma once

#include <stdint.h>

#include "aclnn/acl_meta.h"
#include "ascendcl/interface.h"
#include "common/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Changed with every change of the structs below.
#define OPENACLNN_META_INTERFACE 6u

typedef enum OpenaclnnFound {
  OPENACLNN_LIVE,
  OPENACLNN_NULL,
  OPENACLNN_FOREIGN,  // was never a handle of this kind
  OPENACLNN_STALE     // was one and has been destroyed
} OpenaclnnFound;

/// The value of a scalar: what its type makes of the bytes.
typedef struct OpenaclnnScalar {
  int32_t dtype;  // aclDataType
  unsigned char value[16];
} OpenaclnnScalar;

/// Tensors that one call may have.
enum { OPENACLNN_MAX_OPERANDS = 256 };

typedef enum OpenaclnnRole { OPENACLNN_INPUT, OPENACLNN_OUTPUT } OpenaclnnRole;

/// An operator's use of a tensor's elements in this call.
typedef enum OpenaclnnUse {
  OPENACLNN_ALL,      // it reads an input; it writes all of an output, and never what was there
  OPENACLNN_PART,     // it may leave some of them alone, or all: values in memory decide
  OPENACLNN_COPIED,   // an input that it reads only for the output to hold the same
  OPENACLNN_UPDATED,  // an output of which it reads what was there
  OPENACLNN_READ,     // an output that it reads, and leaves as it is
  OPENACLNN_UNUSED    // it touches none of them: the shape counts, or not even that
} OpenaclnnUse;

/// A tensor of a call, in the order of the API's parameters, inputs first.
typedef struct OpenaclnnOperand {
  const char* name;
  OpenaclnnRole role;
  int32_t present;  // 0: the optional parameter was null
  OpenaclnnTensor tensor;
  /// For an output: bit i allows it to be the very view of operand i, or complex numbers whose real
  /// or imaginary parts that is; bit 63 speaks for all further operands.
  uint64_t may_alias;
  int32_t in_list;  // nonzero: a member of a list; those of one list have one name and follow
  int32_t shared;   // nonzero: an output that may share memory with the others of which this holds
  OpenaclnnUse use;
} OpenaclnnOperand;

/// The call that phase 1 of an operator hands over. The plan is destroyed when the executor and the
/// last task that runs it are gone.
typedef struct OpenaclnnCall {
  const char* api;  // name of phase 2; its address identifies the operator
  void* plan;
  void (*destroy)(void* plan);
  /// `data[i]`: element [0, …, 0] of operand i as the host addresses it; null for a view without
  /// elements or an absent operand. Returns 0 or the task's error code with its message.
  int (*run)(const void* plan, void* const* data, void* workspace, OpenaclnnMessage* message);
  uint64_t workspace_size;
  uint32_t operand_count;
  const OpenaclnnOperand* operands;
} OpenaclnnCall;

typedef struct OpenaclnnMeta {
  const OpenaclnnRuntime* runtime;
  /// Keeps the tensor until unpin(*pin) when it returns OPENACLNN_LIVE.
  OpenaclnnFound (*pin_tensor)(const aclTensor* handle, OpenaclnnTensor* tensor, void** pin);
  /// As pin_tensor, for an array, which owns `values`.
  OpenaclnnFound (*pin_int_array)(const aclIntArray* handle, const int64_t** values,
                                  uint64_t* count, void** pin);
  /// The values are 0 and 1.
  OpenaclnnFound (*pin_bool_array)(const aclBoolArray* handle, const uint8_t** values,
                                   uint64_t* count, void** pin);
  void (*unpin)(void* pin);
  OpenaclnnFound (*read_scalar)(const aclScalar* handle, OpenaclnnScalar* scalar);
  /// The members of a list, which are its own; pinned as an array is.
  OpenaclnnFound (*pin_tensor_list)(const aclTensorList* handle, const aclTensor* const** members,
                                    uint64_t* count, void** pin);
  OpenaclnnFound (*pin_scalar_list)(const aclScalarList* handle, const aclScalar* const** members,
                                    uint64_t* count, void** pin);
  /// Changes the dimensions of a tensor, dense, for an operator whose result decides them. Does
  /// nothing when the tensor has been destroyed.
  void (*set_view_shape)(const aclTensor* handle, const int64_t* dims, uint32_t rank);
  /// Takes the plan over in any case and copies the rest; writes why if it does not return 0.
  int (*create_executor)(const OpenaclnnCall* call, aclOpExecutor** executor,
                         OpenaclnnMessage* message);
  /// Phase 2 of the operator `api`. A refusal leaves the executor as it was.
  int (*execute)(const char* api, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                 void* stream, OpenaclnnMessage* message);
} OpenaclnnMeta;

/// Null unless `version` is the one this library was built with.
__attribute__((visibility("default"))) const OpenaclnnMeta* openaclnn_meta(uint32_t version);

#ifdef __cplusplus
}
#endif
