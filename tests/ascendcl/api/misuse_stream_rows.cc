// SPDX-License-Identifier: Apache-2.0
// Misuse of copies, fills and host functions, and of whatever needs a stream or a context.
#include <pthread.h>

#include "tests/ascendcl/api/misuse.h"

namespace openaclnn {
namespace {

void Nothing(void*) {}

constexpr auto kPolicy = ACL_MEM_MALLOC_HUGE_FIRST;
constexpr auto kToDevice = ACL_MEMCPY_HOST_TO_DEVICE;
constexpr auto kToHost = ACL_MEMCPY_DEVICE_TO_HOST;
constexpr auto kNoKind = static_cast<aclrtMemcpyKind>(8);

}  // namespace

std::vector<Refusal> Misuse::Copies() {
  const int null = ACL_ERROR_INVALID_PARAM, param = ACL_ERROR_RT_PARAM_INVALID;
  unsigned char* inside = static_cast<unsigned char*>(device) + 60;
  return {
      {"aclrtMemcpy", [this] { return aclrtMemcpy(nullptr, 8, host, 8, kToDevice); }, null, "dst"},
      {"aclrtMemcpy", [this] { return aclrtMemcpy(device, 8, nullptr, 8, kToDevice); }, null,
       "src value is null"},
      {"aclrtMemcpy", [this] { return aclrtMemcpy(nullptr, 0, host, 0, kToDevice); }, null, "dst"},
      {"aclrtMemcpy", [this] { return aclrtMemcpy(device, 8, nullptr, 0, kToDevice); }, null,
       "src value is null"},
      {"aclrtMemcpy", [this] { return aclrtMemcpy(device, 8, host, 9, kToDevice); }, param,
       "count value is 9, expected at most destMax (8)"},
      {"aclrtMemcpy", [&, inside] { return aclrtMemcpy(inside, 64, host, 5, kToDevice); }, param,
       "dst range is 5 bytes"},
      {"aclrtMemcpy", [&, inside] { return aclrtMemcpy(host, 64, inside, 5, kToHost); }, param,
       "src range is 5 bytes"},
      {"aclrtMemcpy", [this] { return aclrtMemcpy(device, 8, host, 8, kNoKind); }, param,
       "kind value is 8"},
      {"aclrtMemcpy2d", [this] { return aclrtMemcpy2d(nullptr, 8, host, 8, 8, 2, kToDevice); },
       null, "dst value is null"},
      {"aclrtMemcpy2d", [this] { return aclrtMemcpy2d(device, 8, nullptr, 8, 8, 2, kToDevice); },
       null, "src value is null"},
      {"aclrtMemcpy2d", [this] { return aclrtMemcpy2d(nullptr, 8, host, 8, 0, 2, kToDevice); },
       null, "dst value is null"},
      {"aclrtMemcpy2d", [this] { return aclrtMemcpy2d(device, 8, nullptr, 8, 8, 0, kToDevice); },
       null, "src value is null"},
      {"aclrtMemcpy2d", [this] { return aclrtMemcpy2d(device, 8, host, 8, 9, 2, kToDevice); },
       param, "width value is 9"},
      {"aclrtMemcpy2d", [this] { return aclrtMemcpy2d(device, 16, host, 8, 8, 5, kToDevice); },
       param, "dst range is 72 bytes"},
      {"aclrtMemcpy2d",
       [this] { return aclrtMemcpy2d(device, SIZE_MAX, host, SIZE_MAX, 8, 3, kToDevice); }, param,
       "dst range is beyond any address"},
      {"aclrtMemcpy2d", [this] { return aclrtMemcpy2d(device, 8, host, 8, 8, 2, kNoKind); }, param,
       "kind value is 8"},
      {"aclrtMemset", [] { return aclrtMemset(nullptr, 8, 0, 8); }, null, "devPtr value is null"},
      {"aclrtMemset", [] { return aclrtMemset(nullptr, 0, 0, 0); }, null, "devPtr value is null"},
      {"aclrtMemset", [this] { return aclrtMemset(device, 8, 0, 9); }, param, "count value is 9"},
      {"aclrtMemset", [inside] { return aclrtMemset(inside, 64, 0, 5); }, param, "devPtr range is"},
  };
}

std::vector<Refusal> Misuse::AsyncCopies() {
  const int null = ACL_ERROR_INVALID_PARAM, param = ACL_ERROR_RT_PARAM_INVALID;
  const int unsupported = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  const auto copy = [this](void* dst, size_t max, const void* src, size_t bytes,
                           aclrtMemcpyKind kind) {
    return [=, this] { return aclrtMemcpyAsync(dst, max, src, bytes, kind, stream); };
  };
  const auto copy_2d = [this](void* dst, size_t pitch, const void* src, size_t width,
                              aclrtMemcpyKind kind) {
    return [=, this] { return aclrtMemcpy2dAsync(dst, pitch, src, 16, width, 5, kind, stream); };
  };
  const auto fill = [this](void* dst, size_t max, size_t bytes) {
    return [=, this] { return aclrtMemsetAsync(dst, max, 0, bytes, stream); };
  };
  unsigned char* inside = static_cast<unsigned char*>(device) + 60;
  const auto host_to_host = ACL_MEMCPY_HOST_TO_HOST, any = ACL_MEMCPY_DEFAULT;
  const auto on_device = ACL_MEMCPY_DEVICE_TO_DEVICE;
  const char* one = "aclrtMemcpyAsync";
  const char* two = "aclrtMemcpy2dAsync";
  return {
      {one, copy(nullptr, 8, host, 8, kToDevice), null, "dst value is null"},
      {one, copy(device, 8, nullptr, 8, kToDevice), null, "src value is null"},
      {one, copy(nullptr, 8, host, 0, kToDevice), null, "dst value is null"},
      {one, copy(device, 8, nullptr, 0, kToDevice), null, "src value is null"},
      {one, copy(device, 8, host, 9, kToDevice), param, "count value is 9"},
      {one, copy(inside, 64, host, 5, kToDevice), param, "dst range is 5 bytes"},
      {one, copy(host, 64, inside, 5, kToHost), param, "src range is 5 bytes"},
      {one, copy(device, 8, host, 8, kNoKind), param, "kind value is 8"},
      {one, copy(host, 8, host + 8, 8, kToDevice), param, "dst location is host memory"},
      {one, copy(device, 8, inside - 8, 8, kToDevice), param, "src location is device memory"},
      {one, copy(device, 8, host, 8, kToHost), param, "dst location is device memory"},
      {one, copy(device, 8, pinned, 8, on_device), param, "src location is host memory"},
      {one, copy(host, 8, pinned, 8, any), unsupported, "kind value is a copy from host to host"},
      {one, copy(host, 8, pinned, 8, host_to_host), unsupported, "kind value is"},
      {two, copy_2d(nullptr, 16, host, 8, kToDevice), null, "dst value is null"},
      {two, copy_2d(device, 16, nullptr, 8, kToDevice), null, "src value is null"},
      {two, copy_2d(nullptr, 16, host, 0, kToDevice), null, "dst value is null"},
      {two, copy_2d(device, 16, nullptr, 0, kToDevice), null, "src value is null"},
      {two, copy_2d(device, 8, host, 9, kToDevice), param, "width value is 9"},
      {two, copy_2d(device, 16, host, 8, kToDevice), param, "dst range is 72 bytes"},
      {two, copy_2d(device, 8, host, 8, kToHost), param, "dst location is device memory"},
      {two, copy_2d(device, 8, host, 8, kNoKind), param, "kind value is 8"},
      {two, copy_2d(host, 8, pinned, 4, host_to_host), param, "src range is 68 bytes"},
      {two, copy_2d(host, 8, host, 2, host_to_host), unsupported, "kind value is"},
      {"aclrtMemsetAsync", fill(nullptr, 8, 8), null, "devPtr value is null"},
      {"aclrtMemsetAsync", fill(nullptr, 0, 0), null, "devPtr value is null"},
      {"aclrtMemsetAsync", fill(device, 8, 9), param, "count value is 9"},
      {"aclrtMemsetAsync", fill(inside, 64, 5), param, "devPtr range is 5 bytes"},
  };
}

std::vector<Refusal> Misuse::Values() {
  const int null = ACL_ERROR_INVALID_PARAM, param = ACL_ERROR_RT_PARAM_INVALID;
  unsigned char* inside = static_cast<unsigned char*>(device) + 60;
  const auto write = [this](void* address, uint32_t flag) {
    return [=, this] { return aclrtValueWrite(address, 1, flag, stream); };
  };
  const auto wait = [this](void* address, uint32_t flag) {
    return [=, this] { return aclrtValueWait(address, 1, flag, stream); };
  };
  const auto prefetch = [this](void* address, aclrtCmoType type) {
    return [=, this] { return aclrtCmoAsync(address, 8, type, stream); };
  };
  const auto eq = ACL_STREAM_WAIT_VALUE_EQ;
  return {
      {"aclrtValueWrite", write(nullptr, 0), null, "devAddr value is null"},
      {"aclrtValueWrite", write(host, 0), param, "devAddr range is 8 bytes"},
      {"aclrtValueWrite", write(pinned, 0), param, "devAddr location is host memory"},
      {"aclrtValueWrite", write(inside, 0), param, "devAddr range is 8 bytes"},
      {"aclrtValueWrite", write(inside - 8, 0), param, "expected a multiple of 8"},
      {"aclrtValueWrite", write(device, 1), param, "flag value is 1, expected 0"},
      {"aclrtValueWait", wait(nullptr, eq), null, "devAddr value is null"},
      {"aclrtValueWait", wait(host, eq), param, "devAddr range is 8 bytes"},
      {"aclrtValueWait", wait(inside - 8, eq), param, "expected a multiple of 8"},
      {"aclrtValueWait", wait(device, 4), param, "flag value is 4"},
      {"aclrtCmoAsync", prefetch(nullptr, ACL_RT_CMO_TYPE_PREFETCH), null, "src value is null"},
      {"aclrtCmoAsync", prefetch(inside, ACL_RT_CMO_TYPE_PREFETCH), param, "src range is 8 bytes"},
      {"aclrtCmoAsync", prefetch(pinned, ACL_RT_CMO_TYPE_PREFETCH), param,
       "src location is host memory"},
      {"aclrtCmoAsync", prefetch(device, ACL_RT_CMO_TYPE_FLUSH), param, "cmoType value is 3"},
  };
}

std::vector<Refusal> Misuse::Functions() {
  const int null = ACL_ERROR_INVALID_PARAM, param = ACL_ERROR_RT_PARAM_INVALID;
  const int none = ACL_ERROR_RT_STREAM_NO_CB_REG;
  const auto no_type = static_cast<aclrtCallbackBlockType>(2);
  return {
      {"aclrtUnSubscribeReport", [this] { return aclrtUnSubscribeReport(1, stream); }, none,
       "stream subscription is missing"},
      {"aclrtProcessReport", [] { return aclrtProcessReport(-2); }, param, "timeout value is -2"},
      {"aclrtProcessReport", [] { return aclrtProcessReport(0); }, ACL_ERROR_RT_THREAD_SUBSCRIBE,
       "thread subscription is missing"},
      {"aclrtLaunchCallback",
       [=, this] { return aclrtLaunchCallback(Nothing, nullptr, no_type, stream); }, null,
       "blockType value is 2"},
      {"aclrtLaunchCallback",
       [this] { return aclrtLaunchCallback(nullptr, nullptr, ACL_CALLBACK_BLOCK, stream); }, param,
       "fn value is null"},
      {"aclrtLaunchCallback",
       [this] { return aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_BLOCK, stream); }, none,
       "stream subscription is missing"},
      {"aclrtLaunchHostFunc", [this] { return aclrtLaunchHostFunc(stream, nullptr, nullptr); },
       param, "func value is null"},
  };
}

std::vector<Refusal> Misuse::OnStream(aclrtStream at, int code, const char* says) {
  const auto block = ACL_CALLBACK_BLOCK;
  return {
      {"aclrtSynchronizeStream", [=] { return aclrtSynchronizeStream(at); }, code, says},
      {"aclrtSynchronizeStreamWithTimeout",
       [=] { return aclrtSynchronizeStreamWithTimeout(at, 0); }, code, says},
      {"aclrtStreamQuery", [=, this] { return aclrtStreamQuery(at, &stream_status); }, code, says},
      {"aclrtSetStreamFailureMode", [=] { return aclrtSetStreamFailureMode(at, 0); }, code, says},
      {"aclrtSetStreamOverflowSwitch", [=] { return aclrtSetStreamOverflowSwitch(at, 1); }, code,
       says},
      {"aclrtGetStreamOverflowSwitch",
       [=, this] { return aclrtGetStreamOverflowSwitch(at, &count); }, code, says},
      {"aclrtValueWrite", [=, this] { return aclrtValueWrite(device, 1, 0, at); }, code, says},
      {"aclrtValueWait",
       [=, this] { return aclrtValueWait(device, 1, ACL_STREAM_WAIT_VALUE_EQ, at); }, code, says},
      {"aclrtCmoAsync",
       [=, this] { return aclrtCmoAsync(device, 8, ACL_RT_CMO_TYPE_PREFETCH, at); }, code, says},
      {"aclrtRecordEvent", [=, this] { return aclrtRecordEvent(event, at); }, code, says},
      {"aclrtResetEvent", [=, this] { return aclrtResetEvent(event, at); }, code, says},
      {"aclrtStreamWaitEvent", [=, this] { return aclrtStreamWaitEvent(at, event); }, code, says},
      {"aclrtMemcpyAsync",
       [=, this] { return aclrtMemcpyAsync(device, 8, host, 8, kToDevice, at); }, code, says},
      {"aclrtMemcpy2dAsync",
       [=, this] { return aclrtMemcpy2dAsync(device, 8, host, 8, 8, 2, kToDevice, at); }, code,
       says},
      {"aclrtMemsetAsync", [=, this] { return aclrtMemsetAsync(device, 8, 0, 8, at); }, code, says},
      {"aclrtSubscribeReport", [=] { return aclrtSubscribeReport(pthread_self(), at); }, code,
       says},
      {"aclrtUnSubscribeReport", [=] { return aclrtUnSubscribeReport(pthread_self(), at); }, code,
       says},
      {"aclrtLaunchCallback", [=] { return aclrtLaunchCallback(Nothing, nullptr, block, at); },
       code, says},
      {"aclrtLaunchHostFunc", [=] { return aclrtLaunchHostFunc(at, Nothing, nullptr); }, code,
       says},
      {"aclmdlRICaptureBegin",
       [=] { return aclmdlRICaptureBegin(at, ACL_MODEL_RI_CAPTURE_MODE_RELAXED); }, code, says},
      {"aclmdlRICaptureEnd", [=, this] { return aclmdlRICaptureEnd(at, &made); }, code, says},
      {"aclmdlRICaptureGetInfo",
       [=, this] { return aclmdlRICaptureGetInfo(at, &capture_status, &made); }, code, says},
      {"aclmdlRICaptureTaskGrpBegin", [=] { return aclmdlRICaptureTaskGrpBegin(at); }, code, says},
      {"aclmdlRICaptureTaskGrpEnd", [=, this] { return aclmdlRICaptureTaskGrpEnd(at, &made); },
       code, says},
      {"aclmdlRICaptureTaskUpdateBegin",
       [=] { return aclmdlRICaptureTaskUpdateBegin(at, nullptr); }, code, says},
      {"aclmdlRICaptureTaskUpdateEnd", [=] { return aclmdlRICaptureTaskUpdateEnd(at); }, code,
       says},
      {"aclmdlRIExecuteAsync", [=] { return aclmdlRIExecuteAsync(nullptr, at); }, code, says},
  };
}

std::vector<Refusal> Misuse::WithoutContext() {
  const int code = ACL_ERROR_RT_CONTEXT_NULL;
  const char* says = "context is not set on this thread";
  std::vector<Refusal> rows = OnStream(nullptr, code, says);
  const std::vector<Refusal> others = {
      {"aclrtGetDevice", [this] { return aclrtGetDevice(&number); }, code, says},
      {"aclrtSynchronizeDevice", [] { return aclrtSynchronizeDevice(); }, code, says},
      {"aclrtSynchronizeDeviceWithTimeout", [] { return aclrtSynchronizeDeviceWithTimeout(0); },
       code, says},
      {"aclrtDeviceEnablePeerAccess", [] { return aclrtDeviceEnablePeerAccess(1, 0); }, code, says},
      {"aclrtDeviceDisablePeerAccess", [] { return aclrtDeviceDisablePeerAccess(1); }, code, says},
      {"aclrtGetCurrentContext", [this] { return aclrtGetCurrentContext(&made); }, code, says},
      {"aclrtCreateStream", [this] { return aclrtCreateStream(&made); }, code, says},
      {"aclrtCreateStreamWithConfig", [this] { return aclrtCreateStreamWithConfig(&made, 0, 0); },
       code, says},
      {"aclrtDestroyStream", [this] { return aclrtDestroyStream(stream); }, code, says},
      {"aclrtDestroyStreamForce", [this] { return aclrtDestroyStreamForce(stream); }, code, says},
      {"aclrtCreateEvent", [this] { return aclrtCreateEvent(&made); }, code, says},
      {"aclrtCreateEventWithFlag", [this] { return aclrtCreateEventWithFlag(&made, 1); }, code,
       says},
      {"aclrtCreateEventExWithFlag", [this] { return aclrtCreateEventExWithFlag(&made, 1); }, code,
       says},
      {"aclmdlRIExecute", [] { return aclmdlRIExecute(nullptr, -1); }, code, says},
      {"aclrtMalloc", [this] { return aclrtMalloc(&made, 8, kPolicy); }, code, says},
      {"aclrtMallocAlign32", [this] { return aclrtMallocAlign32(&made, 8, kPolicy); }, code, says},
      {"aclrtGetMemInfo", [this] { return aclrtGetMemInfo(ACL_DDR_MEM, &size, &size); }, code,
       says},
  };
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

}  // namespace openaclnn
