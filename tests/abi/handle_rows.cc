// SPDX-License-Identifier: Apache-2.0
// The tables of handle_rows.h.
#include "abi/handle_rows.h"

#include <pthread.h>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_calculate_matmul_weight_size.h"
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "openaclnn/status.h"

namespace openaclnn {
namespace {

// Where functions that should have refused would write.
struct Scratch {
  unsigned char bytes[64];
  void* pointer;
  uint64_t count;
  int64_t number;
  int64_t* numbers;
  float ms;
  int status;
} g_scratch;

void Nothing(void*) {}

template <class T>
T* Status() {
  return reinterpret_cast<T*>(&g_scratch.status);
}

/// What a create function that gave null has recorded.
int CodeOf(const void* made) {
  return made != nullptr ? 0 : aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
}

constexpr int kHandle = ACL_ERROR_RT_INVALID_HANDLE;

HandleRow Row(const char* api, HandleKind kind, std::function<int(void*)> call, int null,
              const char* says) {
  return {api, kind, std::move(call), kHandle, kHandle, null, says};
}

void AddStreamRows(const Live& live, std::vector<HandleRow>* rows) {
  using H = void*;
  const H event = live[HandleKind::kEvent];
  const auto row = [&](const char* api, std::function<int(H)> call, int null = kAnyResult) {
    rows->push_back(Row(api, HandleKind::kStream, std::move(call), null, "stream value is"));
  };
  const int null = ACL_ERROR_INVALID_PARAM;
  const auto kind = ACL_MEMCPY_DEFAULT;
  row("aclrtDestroyStream", aclrtDestroyStream, null);
  row("aclrtDestroyStreamForce", aclrtDestroyStreamForce, null);
  row("aclrtSynchronizeStream", aclrtSynchronizeStream);
  row("aclrtSynchronizeStreamWithTimeout",
      [](H h) { return aclrtSynchronizeStreamWithTimeout(h, 0); });
  row("aclrtStreamQuery", [](H h) { return aclrtStreamQuery(h, Status<aclrtStreamStatus>()); });
  row("aclrtSetStreamFailureMode", [](H h) { return aclrtSetStreamFailureMode(h, 0); });
  row("aclrtSetStreamOverflowSwitch", [](H h) { return aclrtSetStreamOverflowSwitch(h, 0); });
  row("aclrtGetStreamOverflowSwitch",
      [](H h) { return aclrtGetStreamOverflowSwitch(h, Status<uint32_t>()); });
  row("aclrtValueWrite", [](H h) { return aclrtValueWrite(nullptr, 0, 0, h); });
  row("aclrtValueWait", [](H h) { return aclrtValueWait(nullptr, 0, 0, h); });
  row("aclrtCmoAsync", [](H h) { return aclrtCmoAsync(nullptr, 0, ACL_RT_CMO_TYPE_PREFETCH, h); });
  row("aclrtRecordEvent", [=](H h) { return aclrtRecordEvent(event, h); });
  row("aclrtResetEvent", [=](H h) { return aclrtResetEvent(event, h); });
  row("aclrtStreamWaitEvent", [=](H h) { return aclrtStreamWaitEvent(h, event); });
  row("aclrtMemcpyAsync", [=](H h) { return aclrtMemcpyAsync(nullptr, 0, nullptr, 0, kind, h); });
  row("aclrtMemcpy2dAsync",
      [=](H h) { return aclrtMemcpy2dAsync(nullptr, 0, nullptr, 0, 0, 0, kind, h); });
  row("aclrtMemsetAsync", [](H h) { return aclrtMemsetAsync(nullptr, 0, 0, 0, h); });
  row("aclrtSubscribeReport", [](H h) { return aclrtSubscribeReport(1, h); });
  row("aclrtUnSubscribeReport", [](H h) { return aclrtUnSubscribeReport(1, h); });
  row("aclrtLaunchCallback",
      [](H h) { return aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_BLOCK, h); });
  row("aclrtLaunchHostFunc", [](H h) { return aclrtLaunchHostFunc(h, Nothing, nullptr); });
  row("aclrtAllocatorRegister", [](H h) {
    aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
    const int code = aclrtAllocatorRegister(h, desc);
    aclrtAllocatorDestroyDesc(desc);
    return code;
  });
  row("aclrtAllocatorUnregister", aclrtAllocatorUnregister);
  row("aclrtAllocatorGetByStream", [](H h) {
    return aclrtAllocatorGetByStream(h, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  });
  const H graph = live[HandleKind::kGraph];
  row("aclmdlRICaptureBegin",
      [](H h) { return aclmdlRICaptureBegin(h, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL); });
  row("aclmdlRICaptureEnd", [](H h) { return aclmdlRICaptureEnd(h, &g_scratch.pointer); });
  row("aclmdlRICaptureGetInfo", [](H h) {
    return aclmdlRICaptureGetInfo(h, Status<aclmdlRICaptureStatus>(), &g_scratch.pointer);
  });
  row("aclmdlRIExecuteAsync", [=](H h) { return aclmdlRIExecuteAsync(graph, h); });
  row("aclmdlRICaptureTaskGrpBegin", aclmdlRICaptureTaskGrpBegin);
  row("aclmdlRICaptureTaskGrpEnd",
      [](H h) { return aclmdlRICaptureTaskGrpEnd(h, &g_scratch.pointer); });
  row("aclmdlRICaptureTaskUpdateBegin",
      [](H h) { return aclmdlRICaptureTaskUpdateBegin(h, nullptr); });
  row("aclmdlRICaptureTaskUpdateEnd", aclmdlRICaptureTaskUpdateEnd);
}

HandleRow MetaRow(const char* api, HandleKind kind, std::function<int(void*)> call, int null,
                  const char* says) {
  const int code = ACLNN_ERR_PARAM_INVALID;
  return {api, kind, std::move(call), code, code, null, says};
}

void AddTensorRows(std::vector<HandleRow>* rows) {
  const auto on_tensor = [&](const char* api, std::function<int(aclTensor*)> call,
                             int null = ACLNN_ERR_PARAM_NULLPTR) {
    rows->push_back(MetaRow(
        api, HandleKind::kTensor, [call](void* h) { return call(static_cast<aclTensor*>(h)); },
        null, "tensor value is"));
  };
  Scratch& s = g_scratch;
  on_tensor("aclDestroyTensor", aclDestroyTensor, 0);
  on_tensor("aclInitTensor", [](aclTensor* t) {
    return aclInitTensor(t, nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
  });
  on_tensor("aclGetViewShape", [&](auto* t) { return aclGetViewShape(t, &s.numbers, &s.count); });
  on_tensor("aclGetStorageShape",
            [&](auto* t) { return aclGetStorageShape(t, &s.numbers, &s.count); });
  on_tensor("aclGetViewStrides",
            [&](auto* t) { return aclGetViewStrides(t, &s.numbers, &s.count); });
  on_tensor("aclGetViewOffset", [&](auto* t) { return aclGetViewOffset(t, &s.number); });
  on_tensor("aclGetFormat", [](auto* t) { return aclGetFormat(t, Status<aclFormat>()); });
  on_tensor("aclGetDataType", [](auto* t) { return aclGetDataType(t, Status<aclDataType>()); });
  on_tensor("aclSetRawTensorAddr", [](auto* t) { return aclSetRawTensorAddr(t, nullptr); });
  on_tensor("aclGetRawTensorAddr", [&](auto* t) { return aclGetRawTensorAddr(t, &s.pointer); });
}

}  // namespace

std::vector<HandleRow> RuntimeRows(const Live& live) {
  using H = void*;
  const H stream = live[HandleKind::kStream], event = live[HandleKind::kEvent];
  std::vector<HandleRow> rows;
  AddStreamRows(live, &rows);
  const auto on_context = [&](const char* api, std::function<int(H)> call) {
    rows.push_back(Row(api, HandleKind::kContext, std::move(call), kHandle, "context value is"));
  };
  const auto on_event = [&](const char* api, std::function<int(H)> call, int null = kHandle,
                            const char* says = "event value is") {
    rows.push_back(Row(api, HandleKind::kEvent, std::move(call), null, says));
  };
  const int null = ACL_ERROR_INVALID_PARAM;
  on_context("aclrtDestroyContext", aclrtDestroyContext);
  on_context("aclrtSetCurrentContext", aclrtSetCurrentContext);
  on_event("aclrtDestroyEvent", aclrtDestroyEvent, null);
  on_event("aclrtRecordEvent", [=](H h) { return aclrtRecordEvent(h, stream); });
  on_event("aclrtResetEvent", [=](H h) { return aclrtResetEvent(h, stream); });
  on_event("aclrtStreamWaitEvent", [=](H h) { return aclrtStreamWaitEvent(stream, h); });
  on_event("aclrtSynchronizeEvent", aclrtSynchronizeEvent);
  on_event("aclrtSynchronizeEventWithTimeout",
           [](H h) { return aclrtSynchronizeEventWithTimeout(h, -1); });
  on_event("aclrtEventGetTimestamp",
           [](H h) { return aclrtEventGetTimestamp(h, Status<uint64_t>()); });
  on_event("aclrtQueryEventStatus",
           [](H h) { return aclrtQueryEventStatus(h, Status<aclrtEventRecordedStatus>()); });
  on_event("aclrtQueryEvent", [](H h) { return aclrtQueryEvent(h, Status<aclrtEventStatus>()); });
  on_event(
      "aclrtQueryEventWaitStatus",
      [](H h) { return aclrtQueryEventWaitStatus(h, Status<aclrtEventWaitStatus>()); }, null);
  on_event(
      "aclrtEventElapsedTime", [=](H h) { return aclrtEventElapsedTime(&g_scratch.ms, h, event); },
      kHandle, "startEvent value is");
  on_event(
      "aclrtEventElapsedTime", [=](H h) { return aclrtEventElapsedTime(&g_scratch.ms, event, h); },
      ACL_ERROR_RT_INVALID_HANDLE, "endEvent value is");
  const auto on_graph = [&](const char* api, std::function<int(H)> call) {
    rows.push_back(Row(api, HandleKind::kGraph, std::move(call), kHandle, "modelRI value is"));
  };
  on_graph("aclmdlRIDestroy", aclmdlRIDestroy);
  on_graph("aclmdlRISetName", [](H h) { return aclmdlRISetName(h, "a"); });
  on_graph("aclmdlRIGetName",
           [](H h) { return aclmdlRIGetName(h, 8, reinterpret_cast<char*>(g_scratch.bytes)); });
  on_graph("aclmdlRIExecute", [](H h) { return aclmdlRIExecute(h, -1); });
  on_graph("aclmdlRIExecuteAsync", [=](H h) { return aclmdlRIExecuteAsync(h, stream); });
  return rows;
}

std::vector<HandleRow> MetaRows(const Live&) {
  using H = void*;
  std::vector<HandleRow> rows;
  const auto row = [&](const char* api, HandleKind kind, std::function<int(H)> call, int null,
                       const char* says) {
    rows.push_back(MetaRow(api, kind, std::move(call), null, says));
  };
  AddTensorRows(&rows);
  const auto pair = [&]<class T>(HandleKind kind, const char* destroy_api,
                                 aclnnStatus (*destroy)(const T*), const char* size_api,
                                 aclnnStatus (*size)(const T*, uint64_t*), const char* says) {
    row(
        destroy_api, kind, [=](H h) { return destroy(static_cast<T*>(h)); }, 0, "array value is");
    row(
        size_api, kind, [=](H h) { return size(static_cast<T*>(h), &g_scratch.count); },
        ACLNN_ERR_PARAM_NULLPTR, says);
  };
  const auto weight = [&](const char* api, std::function<int(const aclIntArray*)> size) {
    row(
        api, HandleKind::kIntArray, [=](H h) { return size(static_cast<const aclIntArray*>(h)); },
        ACLNN_ERR_PARAM_NULLPTR, "tensorShape value is");
  };
  weight("aclnnCalculateMatmulWeightSize",
         [](auto* shape) { return aclnnCalculateMatmulWeightSize(shape, &g_scratch.count); });
  weight("aclnnCalculateMatmulWeightSizeV2", [](auto* shape) {
    return aclnnCalculateMatmulWeightSizeV2(shape, ACL_FLOAT16, &g_scratch.count);
  });
  pair(HandleKind::kIntArray, "aclDestroyIntArray", aclDestroyIntArray, "aclGetIntArraySize",
       aclGetIntArraySize, "array value is");
  pair(HandleKind::kFloatArray, "aclDestroyFloatArray", aclDestroyFloatArray,
       "aclGetFloatArraySize", aclGetFloatArraySize, "array value is");
  pair(HandleKind::kBoolArray, "aclDestroyBoolArray", aclDestroyBoolArray, "aclGetBoolArraySize",
       aclGetBoolArraySize, "array value is");
  pair(HandleKind::kTensorList, "aclDestroyTensorList", aclDestroyTensorList,
       "aclGetTensorListSize", aclGetTensorListSize, "tensorList value is");
  pair(HandleKind::kScalarList, "aclDestroyScalarList", aclDestroyScalarList,
       "aclGetScalarListSize", aclGetScalarListSize, "scalarList value is");
  row(
      "aclDestroyScalar", HandleKind::kScalar,
      [](H h) { return aclDestroyScalar(static_cast<aclScalar*>(h)); }, 0, "scalar value is");
  // Null members are each operator's rule.
  row(
      "aclCreateTensorList", HandleKind::kTensor,
      [](H h) {
        const auto* member = static_cast<const aclTensor*>(h);
        return CodeOf(aclCreateTensorList(&member, 1));
      },
      kAnyResult, "value value is");
  row(
      "aclCreateScalarList", HandleKind::kScalar,
      [](H h) {
        const auto* member = static_cast<const aclScalar*>(h);
        return CodeOf(aclCreateScalarList(&member, 1));
      },
      kAnyResult, "value value is");
  return rows;
}

std::vector<HandleRow> ExecutorRows(const Live& live) {
  using H = void*;
  using E = aclOpExecutor;
  std::vector<HandleRow> rows;
  auto* tensor = static_cast<aclTensor*>(live[HandleKind::kTensor]);
  auto* tensors = static_cast<aclTensorList*>(live[HandleKind::kTensorList]);
  auto* executor = static_cast<E*>(live[HandleKind::kExecutor]);
  const int null = ACLNN_ERR_INNER_NULLPTR;
  const auto row = [&](const char* api, std::function<int(E*)> call) {
    rows.push_back({api, HandleKind::kExecutor, [=](H h) { return call(static_cast<E*>(h)); },
                    ACLNN_ERR_INNER, ACLNN_ERR_INNER_NULLPTR, null, "executor"});
  };
  row("aclSetAclOpExecutorRepeatable", aclSetAclOpExecutorRepeatable);
  row("aclDestroyAclOpExecutor", aclDestroyAclOpExecutor);
  const auto argument = [&](const char* api, HandleKind kind, std::function<int(H)> call,
                            const char* says) {
    const int code = ACLNN_ERR_PARAM_INVALID;
    rows.push_back({api, kind, std::move(call), code, code, null, says});
  };
  using Setter = aclnnStatus (*)(E*, size_t, aclTensor*, void*);
  const std::pair<const char*, Setter> setters[] = {
      {"aclSetInputTensorAddr", aclSetInputTensorAddr},
      {"AclSetInputTensorAddr", AclSetInputTensorAddr},
      {"aclSetOutputTensorAddr", aclSetOutputTensorAddr},
      {"AclSetOutputTensorAddr", AclSetOutputTensorAddr},
      {"aclSetTensorAddr", aclSetTensorAddr},
      {"AclSetTensorAddr", AclSetTensorAddr}};
  for (const auto& [api, set] : setters) {
    row(api, [=, set = set](E* e) { return set(e, 0, tensor, nullptr); });
    argument(
        api, HandleKind::kTensor,
        [=, set = set](H h) { return set(executor, 0, static_cast<aclTensor*>(h), nullptr); },
        "tensor value is");
  }
  using ListSetter = aclnnStatus (*)(E*, size_t, size_t, aclTensorList*, void*);
  const std::pair<const char*, ListSetter> list_setters[] = {
      {"aclSetDynamicInputTensorAddr", aclSetDynamicInputTensorAddr},
      {"AclSetDynamicInputTensorAddr", AclSetDynamicInputTensorAddr},
      {"aclSetDynamicOutputTensorAddr", aclSetDynamicOutputTensorAddr},
      {"AclSetDynamicOutputTensorAddr", AclSetDynamicOutputTensorAddr},
      {"aclSetDynamicTensorAddr", aclSetDynamicTensorAddr},
      {"AclSetDynamicTensorAddr", AclSetDynamicTensorAddr}};
  for (const auto& [api, set] : list_setters) {
    row(api, [=, set = set](E* e) { return set(e, 0, 0, tensors, nullptr); });
    argument(
        api, HandleKind::kTensorList,
        [=, set = set](H h) {
          return set(executor, 0, 0, static_cast<aclTensorList*>(h), nullptr);
        },
        "tensors value is");
  }
  return rows;
}

}  // namespace openaclnn
