// SPDX-License-Identifier: Apache-2.0
// The tables of handle_rows.h for memory of the program: where results go, and what is read.
#include <tuple>
#include <type_traits>
#include <utility>

#include "abi/handle_rows.h"
#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_calculate_matmul_weight_size.h"
#include "openaclnn/status.h"

namespace openaclnn {
namespace {

/// Of what a handle of the C interface points to there is no definition.
template <class T, class = void>
constexpr bool kIsOpaque = true;
template <class T>
constexpr bool kIsOpaque<T, std::void_t<decltype(sizeof(T))>> = false;

template <class T>
constexpr bool kIsMemory = false;
template <class T>
constexpr bool kIsMemory<T*> = !std::is_void_v<T> && !std::is_function_v<T> && !kIsOpaque<T>;

/// Adds rows for the memory among a function's arguments, which are sound but for the one left
/// open.
class Rows {
 public:
  Rows(std::vector<HandleRow>* rows, int null) : rows_(rows), null_(null) {}

  /// `names`: those of the arguments that are memory, in order; "?" ends the name of one that may
  /// be null.
  template <class Result, class... Args>
  void operator()(const char* api, std::vector<std::string> names, Result (*function)(Args...),
                  std::type_identity_t<Args>... sound) const {
    size_t next = 0;
    [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      (Add<kIndex>(api, names, &next, function, std::tuple<Args...>(sound...)), ...);
    }
    (std::index_sequence_for<Args...>());
  }

 private:
  template <size_t kIndex, class Function, class Tuple>
  void Add(const char* api, const std::vector<std::string>& names, size_t* next, Function function,
           const Tuple& sound) const {
    using T = std::tuple_element_t<kIndex, Tuple>;
    if constexpr (kIsMemory<T>) {
      std::string name = names.at((*next)++);
      const bool optional = name.ends_with('?');
      if (optional) name.pop_back();
      rows_->push_back({api, HandleKind::kMemory,
                        [=](void*) {
                          Tuple arguments = sound;
                          std::get<kIndex>(arguments) = nullptr;
                          return CodeOf([&] { return std::apply(function, arguments); });
                        },
                        null_, null_, optional ? kAnyResult : null_, name + " value is"});
    }
  }

  /// Of a function that gives no code, what it has recorded.
  template <class Call>
  static int CodeOf(Call&& call) {
    using Result = decltype(call());
    if constexpr (std::is_same_v<Result, int>) {
      return call();
    } else {
      aclrtGetLastError(ACL_RT_THREAD_LEVEL);
      if constexpr (std::is_void_v<Result>) {
        call();
      } else if (call() != nullptr) {
        return 0;
      }
      return aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
    }
  }

  std::vector<HandleRow>* rows_;
  int null_;
};

/// What sound arguments point to.
struct Sound {
  void* made = nullptr;
  int32_t number = 0;
  uint32_t count = 0;
  size_t size = 0;
  uint64_t size64 = 0;
  int64_t value = 1;
  int64_t* values = nullptr;
  float ms = 1;
  uint8_t flag = 1;
  bool truth = true;
  int one = 1;
  const int64_t* list = &value;
  aclDataType dtype = ACL_FLOAT;
  aclFormat format = ACL_FORMAT_ND;
  aclrtRunMode mode{};
  aclrtFloatOverflowMode overflow{};
  aclrtStreamStatus stream_status{};
  aclmdlRICaptureStatus capture_status;
  aclmdlRICaptureMode capture_mode;
  aclrtEventStatus event_status{};
  aclrtEventRecordedStatus recorded{};
  aclrtEventWaitStatus waited{};
  aclrtPtrAttributes attributes{};
  aclrtPhysicalMemProp prop{};
  aclCANNPackageVersion version{};
  char package[8] = "runtime";
  char text[ACL_PKG_VERSION_MAX_SIZE];
  alignas(4096) char page[4096];
} s;

constexpr auto kPolicy = ACL_MEM_MALLOC_HUGE_FIRST;

void AddDevices(const Rows& row) {
  row("aclrtGetDevice", {"deviceId"}, aclrtGetDevice, &s.number);
  row("aclrtGetDeviceCount", {"count"}, aclrtGetDeviceCount, &s.count);
  row("aclrtGetRunMode", {"runMode"}, aclrtGetRunMode, &s.mode);
  row("aclrtDeviceCanAccessPeer", {"canAccessPeer"}, aclrtDeviceCanAccessPeer, &s.number, 0, 1);
  row("aclrtGetVersion", {"majorVersion", "minorVersion", "patchVersion"}, aclrtGetVersion,
      &s.number, &s.number, &s.number);
  row("aclGetDeviceCapability", {"value"}, aclGetDeviceCapability, 0, ACL_DEVICE_INFO_AI_CORE_NUM,
      &s.value);
  row("aclrtDeviceGetBareTgid", {"pid"}, aclrtDeviceGetBareTgid, &s.number);
  row("aclrtGetDeviceSatMode", {"mode"}, aclrtGetDeviceSatMode, &s.overflow);
  row("aclrtGetSysParamOpt", {"value"}, aclrtGetSysParamOpt, ACL_OPT_DETERMINISTIC, &s.value);
  row("aclrtCtxGetSysParamOpt", {"value"}, aclrtCtxGetSysParamOpt, ACL_OPT_DETERMINISTIC, &s.value);
  row("aclrtCreateContext", {"context"}, aclrtCreateContext, &s.made, 0);
  row("aclrtGetCurrentContext", {"context"}, aclrtGetCurrentContext, &s.made);
}

void AddStreams(const Live& live, const Rows& row) {
  void *stream = live[HandleKind::kStream], *event = live[HandleKind::kEvent];
  row("aclrtCreateStream", {"stream"}, aclrtCreateStream, &s.made);
  row("aclrtCreateStreamWithConfig", {"stream"}, aclrtCreateStreamWithConfig, &s.made, 0, 0);
  row("aclrtStreamQuery", {"status"}, aclrtStreamQuery, stream, &s.stream_status);
  row("aclrtGetStreamOverflowSwitch", {"flag"}, aclrtGetStreamOverflowSwitch, stream, &s.count);
  row("aclrtCreateEvent", {"event"}, aclrtCreateEvent, &s.made);
  row("aclrtCreateEventWithFlag", {"event"}, aclrtCreateEventWithFlag, &s.made, ACL_EVENT_SYNC);
  row("aclrtCreateEventExWithFlag", {"event"}, aclrtCreateEventExWithFlag, &s.made, ACL_EVENT_SYNC);
  row("aclrtQueryEvent", {"status"}, aclrtQueryEvent, event, &s.event_status);
  row("aclrtQueryEventStatus", {"status"}, aclrtQueryEventStatus, event, &s.recorded);
  row("aclrtQueryEventWaitStatus", {"status"}, aclrtQueryEventWaitStatus, event, &s.waited);
  row("aclrtEventElapsedTime", {"ms"}, aclrtEventElapsedTime, &s.ms, event, event);
  row("aclrtEventGetTimestamp", {"timestamp"}, aclrtEventGetTimestamp, event, &s.size64);
  row("aclmdlRICaptureEnd", {"modelRI"}, aclmdlRICaptureEnd, stream, &s.made);
  row("aclmdlRICaptureGetInfo", {"status", "modelRI"}, aclmdlRICaptureGetInfo, stream,
      &s.capture_status, &s.made);
  row("aclmdlRICaptureTaskGrpEnd", {"handle"}, aclmdlRICaptureTaskGrpEnd, stream, &s.made);
  row("aclmdlRICaptureThreadExchangeMode", {"mode"}, aclmdlRICaptureThreadExchangeMode,
      &s.capture_mode);
  row("aclmdlRISetName", {"name"}, aclmdlRISetName, live[HandleKind::kGraph], "a");
  row("aclmdlRIGetName", {"name"}, aclmdlRIGetName, live[HandleKind::kGraph], 8, s.text);
}

void AddAllocations(const Rows& row) {
  constexpr size_t kPage = size_t{2} << 20;
  s.prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  row("aclrtMalloc", {"devPtr"}, aclrtMalloc, &s.made, 1, kPolicy);
  row("aclrtMallocAlign32", {"devPtr"}, aclrtMallocAlign32, &s.made, 1, kPolicy);
  row("aclrtMallocHost", {"hostPtr"}, aclrtMallocHost, &s.made, 1);
  row("aclrtMallocHostWithCfg", {"ptr", "cfg?"}, aclrtMallocHostWithCfg, &s.made, 1, nullptr);
  row("aclrtGetMemInfo", {"free", "total"}, aclrtGetMemInfo, ACL_HBM_MEM, &s.size, &s.size);
  row("aclrtPointerGetAttributes", {"attributes"}, aclrtPointerGetAttributes, &s, &s.attributes);
  row("aclrtReserveMemAddress", {"virPtr"}, aclrtReserveMemAddress, &s.made, kPage, 0, nullptr, 0);
  row("aclrtMemGetAllocationGranularity", {"prop", "granularity"}, aclrtMemGetAllocationGranularity,
      &s.prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &s.size);
  row("aclrtHostRegister", {"devPtr"}, aclrtHostRegister, s.page, 4096, ACL_HOST_REGISTER_MAPPED,
      &s.made);
  row("aclsysGetCANNVersion", {"version"}, aclsysGetCANNVersion, ACL_PKG_NAME_CANN, &s.version);
  row("aclsysGetVersionStr", {"pkgName", "versionStr"}, aclsysGetVersionStr, s.package, s.text);
  row("aclrtMallocPhysical", {"handle", "prop"}, aclrtMallocPhysical, &s.made, kPage, &s.prop, 0);
}

void AddDescriptions(const Live& live, const Rows& row) {
  auto* desc = static_cast<aclTensorDesc*>(live[HandleKind::kTensorDesc]);
  auto* attr = static_cast<aclopAttr*>(live[HandleKind::kAttributes]);
  row("aclCreateTensorDesc", {"dims"}, aclCreateTensorDesc, ACL_FLOAT, 1, &s.value, ACL_FORMAT_ND);
  row("aclGetTensorDescDimV2", {"dimSize"}, aclGetTensorDescDimV2, desc, 0, &s.value);
  row("aclSetTensorDescName", {"name?"}, aclSetTensorDescName, desc, "");
  row("aclSetTensorShape", {"dims"}, aclSetTensorShape, desc, 1, &s.value);
  row("aclopSetAttrBool", {"attrName"}, aclopSetAttrBool, attr, "a", 1);
  row("aclopSetAttrInt", {"attrName"}, aclopSetAttrInt, attr, "a", 1);
  row("aclopSetAttrFloat", {"attrName"}, aclopSetAttrFloat, attr, "a", 1.0F);
  row("aclopSetAttrString", {"attrName", "attrValue"}, aclopSetAttrString, attr, "a", "b");
  row("aclopSetAttrDataType", {"attrName"}, aclopSetAttrDataType, attr, "a", ACL_FLOAT);
  row("aclopSetAttrListBool", {"attrName", "values"}, aclopSetAttrListBool, attr, "a", 1, &s.flag);
  row("aclopSetAttrListInt", {"attrName", "values"}, aclopSetAttrListInt, attr, "a", 1, &s.value);
  row("aclopSetAttrListFloat", {"attrName", "values"}, aclopSetAttrListFloat, attr, "a", 1, &s.ms);
  row("aclopSetAttrListListInt", {"attrName", "numValues", "values"}, aclopSetAttrListListInt, attr,
      "a", 1, &s.one, &s.list);
}

void AddMeta(const Live& live, const Rows& row) {
  auto* tensor = static_cast<aclTensor*>(live[HandleKind::kTensor]);
  constexpr auto kND = ACL_FORMAT_ND;
  row("aclCreateTensor", {"viewDims", "stride?", "storageDims"}, aclCreateTensor, &s.value, 1,
      ACL_FLOAT, &s.value, 0, kND, &s.value, 1, nullptr);
  row("aclInitTensor", {"viewDims", "stride?", "storageDims"}, aclInitTensor, tensor, &s.value, 1,
      ACL_FLOAT, &s.value, 0, kND, &s.value, 1, nullptr);
  row("aclCreateIntArray", {"value"}, aclCreateIntArray, &s.value, 1);
  row("aclCreateFloatArray", {"value"}, aclCreateFloatArray, &s.ms, 1);
  row("aclCreateBoolArray", {"value"}, aclCreateBoolArray, &s.truth, 1);
  row("aclCreateTensorList", {"value"}, aclCreateTensorList, nullptr, 1);
  row("aclCreateScalarList", {"value"}, aclCreateScalarList, nullptr, 1);
  row("aclGetViewShape", {"viewDims", "viewDimsNum"}, aclGetViewShape, tensor, &s.values,
      &s.size64);
  row("aclGetStorageShape", {"storageDims", "storageDimsNum"}, aclGetStorageShape, tensor,
      &s.values, &s.size64);
  row("aclGetViewStrides", {"stridesValue", "stridesNum"}, aclGetViewStrides, tensor, &s.values,
      &s.size64);
  row("aclGetViewOffset", {"offset"}, aclGetViewOffset, tensor, &s.value);
  row("aclGetFormat", {"format"}, aclGetFormat, tensor, &s.format);
  row("aclGetDataType", {"dataType"}, aclGetDataType, tensor, &s.dtype);
  row("aclGetRawTensorAddr", {"addr"}, aclGetRawTensorAddr, tensor, &s.made);
  const auto size = [&]<class T>(const char* api, HandleKind kind,
                                 aclnnStatus (*function)(const T*, uint64_t*)) {
    row(api, {"size"}, function, static_cast<const T*>(live[kind]), &s.size64);
  };
  size("aclGetIntArraySize", HandleKind::kIntArray, aclGetIntArraySize);
  size("aclGetFloatArraySize", HandleKind::kFloatArray, aclGetFloatArraySize);
  size("aclGetBoolArraySize", HandleKind::kBoolArray, aclGetBoolArraySize);
  size("aclGetTensorListSize", HandleKind::kTensorList, aclGetTensorListSize);
  size("aclGetScalarListSize", HandleKind::kScalarList, aclGetScalarListSize);
  const auto* numbers = static_cast<const aclIntArray*>(live[HandleKind::kIntArray]);
  row("aclnnCalculateMatmulWeightSize", {"weightTensorSize"}, aclnnCalculateMatmulWeightSize,
      numbers, &s.size64);
  row("aclnnCalculateMatmulWeightSizeV2", {"weightTensorSize"}, aclnnCalculateMatmulWeightSizeV2,
      numbers, ACL_FLOAT16, &s.size64);
}

}  // namespace

std::vector<HandleRow> MemoryRows(const Live& live) {
  std::vector<HandleRow> rows;
  const Rows runtime(&rows, ACL_ERROR_INVALID_PARAM), meta(&rows, ACLNN_ERR_PARAM_NULLPTR);
  AddDevices(runtime);
  AddStreams(live, runtime);
  AddAllocations(runtime);
  AddDescriptions(live, runtime);
  AddMeta(live, meta);
  const auto add = [&](const char* api, int null, std::function<int(void*)> call,
                       const char* argument) {
    rows.push_back({api, HandleKind::kMemory, std::move(call), null, null, null,
                    std::string(argument) + " value is"});
  };
  add(
      "aclCreateScalar", ACLNN_ERR_PARAM_NULLPTR,
      [](void* value) -> int {
        return aclCreateScalar(value, ACL_FLOAT) != nullptr
                   ? 0
                   : aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
      },
      "value");
  add(
      "aclrtLaunchHostFunc", ACL_ERROR_RT_PARAM_INVALID,
      [](void*) { return aclrtLaunchHostFunc(nullptr, nullptr, nullptr); }, "func");
  add(
      "aclrtLaunchCallback", ACL_ERROR_RT_PARAM_INVALID,
      [](void*) { return aclrtLaunchCallback(nullptr, nullptr, ACL_CALLBACK_BLOCK, nullptr); },
      "fn");
  return rows;
}

}  // namespace openaclnn
