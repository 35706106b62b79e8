// SPDX-License-Identifier: Apache-2.0
// Descriptions of tensors, as the libraries tell each other.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The arrays belong to the tensor, or to the executor that copied it.
typedef struct OpenaclnnTensor {
  int32_t dtype;   // aclDataType
  int32_t format;  // aclFormat
  uint32_t rank;
  uint32_t storage_rank;
  const int64_t* dims;
  const int64_t* strides;  // in elements
  const int64_t* storage_dims;
  int64_t offset;  // of the view's first element from `data`, in elements
  void* data;
} OpenaclnnTensor;

#ifdef __cplusplus
}
#endif
