// SPDX-License-Identifier: Apache-2.0
// Sizes and names of HcclDataType, HcclReduceOp and HcclResult.
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
