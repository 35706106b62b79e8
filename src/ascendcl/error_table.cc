// SPDX-License-Identifier: Apache-2.0
// The table of error codes: name, number and the prefix that the vendor's messages carry.
#include "ascendcl/error_table.h"

#include <algorithm>
#include <iterator>

namespace openaclnn {
namespace {

// Sorted by code.
constexpr ErrorEntry kErrors[] = {
    {100000, "ACL_ERROR_INVALID_PARAM", "EH0002"},
    {100001, "ACL_ERROR_UNINITIALIZE", "EH0001"},
    {100002, "ACL_ERROR_REPEAT_INITIALIZE", "EH0001"},
    {100003, "ACL_ERROR_INVALID_FILE", "EH0001"},
    {100006, "ACL_ERROR_PARSE_FILE", "EH0001"},
    {100037, "ACL_ERROR_REPEAT_FINALIZE", "EH0001"},
    {107000, "ACL_ERROR_RT_PARAM_INVALID", "EE1001"},
    {107001, "ACL_ERROR_RT_INVALID_DEVICEID", "EE1001"},
    {107002, "ACL_ERROR_RT_CONTEXT_NULL", "EE1010"},
    {107003, "ACL_ERROR_RT_STREAM_CONTEXT", "EE1010"},
    {107006, "ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID", "EE1001"},
    {107007, "ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL", "EE1001"},
    {107011, "ACL_ERROR_RT_STREAM_SUBSCRIBE", "EE1001"},
    {107015, "ACL_ERROR_RT_STREAM_NO_CB_REG", "EE1001"},
    {107017, "ACL_ERROR_RT_INVALID_HANDLE", "EE1003"},
    {161001, "ACLNN_ERR_PARAM_NULLPTR", "EZ1001"},
    {161002, "ACLNN_ERR_PARAM_INVALID", "EZ1001"},
    {200000, "ACL_ERROR_BAD_ALLOC", "EE1013"},
    {207000, "ACL_ERROR_RT_FEATURE_NOT_SUPPORT", "EE1005"},
    {207001, "ACL_ERROR_RT_MEMORY_ALLOCATION", "EE1023"},
    {207005, "ACL_ERROR_RT_RESOURCE_ALLOC_FAIL", "EE1023"},
    {207008, "ACL_ERROR_RT_NO_STREAM_RESOURCE", "EE1023"},
    {361001, "ACLNN_ERR_RUNTIME_ERROR", "EZ9999"},
    {500000, "ACL_ERROR_INTERNAL_ERROR", "EH9999"},
    {507008, "ACL_ERROR_RT_SOC_VERSION", "EE2002"},
    {507012, "ACL_ERROR_RT_REPORT_TIMEOUT", "EE1002"},
    {507035, "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION", "EZ2001"},
    {507046, "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT", "EE1002"},
    {561000, "ACLNN_ERR_INNER", "EZ9999"},
    {561002, "ACLNN_ERR_INNER_TILING_ERROR", "EZ9999"},
    {561003, "ACLNN_ERR_INNER_FIND_KERNEL_ERROR", "EZ9999"},
    {561101, "ACLNN_ERR_INNER_CREATE_EXECUTOR", "EZ9999"},
    {561103, "ACLNN_ERR_INNER_NULLPTR", "EZ9999"},
};

constexpr ErrorEntry kInternalError = {500000, "ACL_ERROR_INTERNAL_ERROR", "EH9999"};

}  // namespace

const ErrorEntry& FindError(int code) {
  const auto* found =
      std::lower_bound(std::begin(kErrors), std::end(kErrors), code,
                       [](const ErrorEntry& entry, int value) { return entry.code < value; });
  return found != std::end(kErrors) && found->code == code ? *found : kInternalError;
}

}  // namespace openaclnn
