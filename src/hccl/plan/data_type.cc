// SPDX-License-Identifier: Apache-2.0
// The tables of types, reductions and results.
#include "hccl/plan/data_type.h"

#include <algorithm>
#include <iterator>

namespace openaclnn {
namespace {

constexpr HcclTypeInfo kTypes[] = {
    {HCCL_DATA_TYPE_INT8, "INT8", 1, true},        {HCCL_DATA_TYPE_INT16, "INT16", 2, true},
    {HCCL_DATA_TYPE_INT32, "INT32", 4, true},      {HCCL_DATA_TYPE_FP16, "FP16", 2, true},
    {HCCL_DATA_TYPE_FP32, "FP32", 4, true},        {HCCL_DATA_TYPE_INT64, "INT64", 8, true},
    {HCCL_DATA_TYPE_UINT64, "UINT64", 8, true},    {HCCL_DATA_TYPE_UINT8, "UINT8", 1, true},
    {HCCL_DATA_TYPE_UINT16, "UINT16", 2, true},    {HCCL_DATA_TYPE_UINT32, "UINT32", 4, true},
    {HCCL_DATA_TYPE_FP64, "FP64", 8, true},        {HCCL_DATA_TYPE_BFP16, "BFP16", 2, true},
    {HCCL_DATA_TYPE_INT128, "INT128", 16, false},  {HCCL_DATA_TYPE_HIF8, "HIF8", 1, false},
    {HCCL_DATA_TYPE_FP8E4M3, "FP8E4M3", 1, false}, {HCCL_DATA_TYPE_FP8E5M2, "FP8E5M2", 1, false},
    {HCCL_DATA_TYPE_FP8E8M0, "FP8E8M0", 1, false},
};

constexpr const char* kOps[] = {"SUM", "PROD", "MAX", "MIN"};

// By number, from 0.
constexpr const char* kResults[] = {
    "HCCL_SUCCESS",
    "HCCL_E_PARA",
    "HCCL_E_PTR",
    "HCCL_E_MEMORY",
    "HCCL_E_INTERNAL",
    "HCCL_E_NOT_SUPPORT",
    "HCCL_E_NOT_FOUND",
    "HCCL_E_UNAVAIL",
    "HCCL_E_SYSCALL",
    "HCCL_E_TIMEOUT",
    "HCCL_E_OPEN_FILE_FAILURE",
    "HCCL_E_TCP_CONNECT",
    "HCCL_E_ROCE_CONNECT",
    "HCCL_E_TCP_TRANSFER",
    "HCCL_E_ROCE_TRANSFER",
    "HCCL_E_RUNTIME",
    "HCCL_E_DRV",
    "HCCL_E_PROFILING",
    "HCCL_E_CCE",
    "HCCL_E_NETWORK",
    "HCCL_E_AGAIN",
    "HCCL_E_REMOTE",
    "HCCL_E_SUSPENDING",
};

}  // namespace

const HcclTypeInfo* FindHcclType(HcclDataType type) {
  const auto* found = std::ranges::find(kTypes, type, &HcclTypeInfo::type);
  return found != std::end(kTypes) ? found : nullptr;
}

const char* ReduceOpName(HcclReduceOp op) {
  const auto index = static_cast<unsigned>(op);
  return index < std::size(kOps) ? kOps[index] : nullptr;
}

const char* ResultName(int result) {
  const auto index = static_cast<unsigned>(result);
  return index < std::size(kResults) ? kResults[index] : nullptr;
}

}  // namespace openaclnn
