// SPDX-License-Identifier: Apache-2.0
// The tables of handle_rows.h for libopapi.so, and the functions of all libraries without handles.
#include <dlfcn.h>

#include <tuple>
#include <type_traits>

#include "abi/exports.h"
#include "abi/handle_rows.h"
#include "acl/acl.h"
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "aclnnop/aclnn_grouped_bias_add_grad.h"
#include "aclnnop/aclnn_nsa_compress.h"
#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "aclnnop/aclnn_scaled_masked_softmax.h"
#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "openaclnn/status.h"

namespace openaclnn {
namespace {

using Names = std::vector<std::string>;
using Phase2 = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

uint64_t g_size;
aclOpExecutor* g_executor;

template <class T>
constexpr bool kIsTensor = std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, aclTensor>;
template <class T>
constexpr bool kIsArray = std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, aclIntArray>;

/// An argument of phase 1 that is no reason to refuse a handle.
template <class T>
T Sound(const Live& live) {
  if constexpr (kIsTensor<T>) {
    return static_cast<T>(live[HandleKind::kTensor]);
  } else if constexpr (kIsArray<T>) {
    return static_cast<T>(live[HandleKind::kIntArray]);
  } else if constexpr (std::is_same_v<T, uint64_t*>) {
    return &g_size;
  } else if constexpr (std::is_same_v<T, aclOpExecutor**>) {
    return &g_executor;
  } else {
    return T{};
  }
}

/// One row for the argument at kIndex, if it is a handle.
template <size_t kIndex, class... Args>
void AddArgument(const Live& live, const char* api, aclnnStatus (*plan)(Args...),
                 const Names& names, size_t* next, std::vector<HandleRow>* rows) {
  using T = std::tuple_element_t<kIndex, std::tuple<Args...>>;
  if constexpr (kIsTensor<T> || kIsArray<T>) {
    const std::string& name = names.at((*next)++);
    const int code = ACLNN_ERR_PARAM_INVALID;
    const std::tuple<Args...> sound(Sound<Args>(live)...);
    rows->push_back(
        {api, kIsTensor<T> ? HandleKind::kTensor : HandleKind::kIntArray,
         [sound, plan](void* handle) {
           auto arguments = sound;
           std::get<kIndex>(arguments) = static_cast<T>(handle);
           return std::apply(plan, arguments);
         },
         code, code, name.ends_with("Optional") ? kAnyResult : int{ACLNN_ERR_PARAM_NULLPTR},
         // Arrays are looked at after the tensors, which are not what any operator wants.
         kIsTensor<T> ? name + " value is" : ""});
  }
}

/// Every handle among the arguments of a phase 1; `names` are theirs, in order.
template <class... Args>
void AddPhase1(const Live& live, const char* api, aclnnStatus (*plan)(Args...), const Names& names,
               std::vector<HandleRow>* rows) {
  size_t next = 0;
  [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    (AddArgument<kIndex>(live, api, plan, names, &next, rows), ...);
  }
  (std::index_sequence_for<Args...>());
}

/// Every operator's phase 2, as the library exports them: they are all of one type.
void AddPhases2(std::vector<HandleRow>* rows) {
  static const std::set<std::string> exports = ExportsOf("opapi");
  for (const std::string& api : exports) {
    if (exports.count(api + "GetWorkspaceSize") == 0) continue;
    const auto run = reinterpret_cast<Phase2>(dlsym(RTLD_DEFAULT, api.c_str()));
    rows->push_back({api.c_str(), HandleKind::kExecutor,
                     [run](void* handle) {
                       return run(nullptr, 0, static_cast<aclOpExecutor*>(handle), nullptr);
                     },
                     ACLNN_ERR_INNER, ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_NULLPTR,
                     "executor"});
  }
}

}  // namespace

std::vector<HandleRow> OperatorRows(const Live& live) {
  std::vector<HandleRow> rows;
  const auto add = [&](const char* api, auto* plan, const Names& names) {
    AddPhase1(live, api, plan, names, &rows);
  };
  add("aclnnEmbeddingGetWorkspaceSize", aclnnEmbeddingGetWorkspaceSize,
      {"weight", "indices", "out"});
  add("aclnnEmbeddingDenseBackwardGetWorkspaceSize", aclnnEmbeddingDenseBackwardGetWorkspaceSize,
      {"grad", "indices", "out"});
  add("aclnnGroupedBiasAddGradGetWorkspaceSize", aclnnGroupedBiasAddGradGetWorkspaceSize,
      {"gradY", "groupIdxOptional", "out"});
  add("aclnnGroupedBiasAddGradV2GetWorkspaceSize", aclnnGroupedBiasAddGradV2GetWorkspaceSize,
      {"gradY", "groupIdxOptional", "out"});
  add("aclnnNsaCompressGetWorkspaceSize", aclnnNsaCompressGetWorkspaceSize,
      {"input", "weight", "actSeqLenOptional", "output"});
  add("aclnnNsaCompressGradGetWorkspaceSize", aclnnNsaCompressGradGetWorkspaceSize,
      {"outputGrad", "input", "weight", "actSeqLenOptional", "inputGradOut", "weightGradOut"});
  add("aclnnScaledMaskedSoftmaxGetWorkspaceSize", aclnnScaledMaskedSoftmaxGetWorkspaceSize,
      {"x", "mask", "y"});
  add("aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize",
      aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize, {"gradOutput", "y", "mask", "out"});
  AddPhases2(&rows);
  auto* executor = static_cast<aclOpExecutor*>(live[HandleKind::kExecutor]);
  rows.push_back(
      {"aclnnEmbeddingDenseBackward", HandleKind::kStream,
       [executor, live](void* handle) {
         return aclnnEmbeddingDenseBackward(live.workspace, live.workspace_size, executor, handle);
       },
       ACL_ERROR_RT_INVALID_HANDLE, ACL_ERROR_RT_INVALID_HANDLE, kAnyResult, "stream value is"});
  return rows;
}

std::vector<std::string> WithoutHandles() {
  return {
      // libascendcl
      "MsprofGetHashId", "MsprofRegisterCallback", "MsprofReportAdditionalInfo", "MsprofReportApi",
      "MsprofReportCompactInfo", "MsprofSysCycleTime", "aclAppLog", "aclCreateDataBuffer",
      "aclCreateTensorDesc", "aclGetDeviceCapability", "aclmdlFinalizeDump", "aclmdlInitDump",
      "aclmdlSetDump", "aclopCreateAttr", "aclrtBinaryGetFunction", "aclrtBinaryLoadFromData",
      "aclrtCtxGetSysParamOpt", "aclrtCtxSetSysParamOpt", "aclrtDeviceGetBareTgid",
      "aclrtGetDeviceSatMode", "aclrtGetFunctionAddr", "aclrtGetSysParamOpt", "aclrtMallocPhysical",
      "aclrtMemExportToShareableHandle", "aclrtMemImportFromShareableHandle",
      "aclrtMemSetPidToShareableHandle", "aclrtReleaseMemAddress", "aclrtReserveMemAddress",
      "aclrtSetDeviceSatMode", "aclrtSetOpExecuteTimeOut", "aclrtSetOpWaitTimeout",
      "aclrtSetSysParamOpt", "aclrtUnmapMem", "rtDevBinaryRegister", "rtFunctionRegister",
      "rtKernelLaunch", "aclDataTypeSize", "aclFinalize", "aclGetRecentErrMsg", "aclInit",
      "aclrtCreateContext", "aclrtCreateEvent", "aclrtCreateEventExWithFlag",
      "aclrtCreateEventWithFlag", "aclrtCreateStream", "aclrtCreateStreamWithConfig",
      "aclrtDeviceCanAccessPeer", "aclrtDeviceDisablePeerAccess", "aclrtDeviceEnablePeerAccess",
      "aclrtFree", "aclrtFreeHost", "aclrtGetCurrentContext", "aclrtGetDevice",
      "aclrtGetDeviceCount", "aclrtGetLastError", "aclrtGetMemInfo", "aclrtGetRunMode",
      "aclrtGetSocName", "aclrtGetVersion", "aclrtMalloc", "aclrtMallocAlign32", "aclrtMallocHost",
      "aclrtMemcpy", "aclrtMemcpy2d", "aclrtMemset", "aclrtPeekAtLastError",
      "aclrtPointerGetAttributes", "aclrtProcessReport", "aclrtResetDevice", "aclrtSetDevice",
      "aclrtSynchronizeDevice", "aclrtSynchronizeDeviceWithTimeout", "openaclnnGetVersion",
      // libnnopbase
      "aclCreateBoolArray", "aclCreateFloatArray", "aclCreateIntArray", "aclCreateScalar",
      "aclCreateTensor", "aclnnFinalize", "aclnnInit",
      // libnnopbase, for adapters
      "AddTensorAddrToCachedList", "CanUsePTACache", "InitHugeMemThreadLocal",
      "InitPTACacheThreadLocal", "PTAFindExecCache", "PTAGetExecCache", "ReleaseHugeMem",
      "ResetCacheThreadLocal", "SetPTACacheHashKey", "SetPTAHashKey", "UnInitHugeMemThreadLocal",
      "UnInitPTACacheThreadLocal", "aclnnReselectStaticKernel",
      "aclnnReselectStaticKernelWithPath"};
}

}  // namespace openaclnn
