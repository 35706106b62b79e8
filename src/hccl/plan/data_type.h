// SPDX-License-Identifier: Apache-2.0
// What is known of HcclDataType, HcclReduceOp and HcclResult: sizes and names.
#pragma once

#include <cstdint>

#include "hccl/hccl_types.h"

namespace openaclnn {

struct HcclTypeInfo {
  HcclDataType type;
  const char* name;
  uint32_t bytes;
  bool reducible;
};

/// Null for a number that is no type.
const HcclTypeInfo* FindHcclType(HcclDataType type);

/// Null for a number that is no operation.
const char* ReduceOpName(HcclReduceOp op);

/// Null for a number that is no result.
const char* ResultName(int result);

}  // namespace openaclnn
