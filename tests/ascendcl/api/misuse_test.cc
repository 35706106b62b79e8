// SPDX-License-Identifier: Apache-2.0
// Every way to misuse a runtime function, but bad handles: the code and the words of its refusal.
#include "tests/ascendcl/api/misuse.h"

#include <set>
#include <thread>

#include "abi/exports.h"

// Sizes that no machine has are refused by the runtime, not by the sanitizers' allocators.
#if defined(__SANITIZE_ADDRESS__)
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
#elif defined(__SANITIZE_THREAD__)
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}
#endif

namespace openaclnn {
namespace {

void Walk(const std::vector<Refusal>& rows) {
  for (const Refusal& row : rows) {
    ExpectRefused(row);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), row.code) << row.api;
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), row.code) << row.api;
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 0) << row.api;
  }
}

TEST_F(Misuse, Nulls) { Walk(Nulls()); }
TEST_F(Misuse, Devices) { Walk(Devices()); }
TEST_F(Misuse, StreamsAndEvents) { Walk(StreamsAndEvents()); }
TEST_F(Misuse, Allocations) { Walk(Allocations()); }
TEST_F(Misuse, Functions) { Walk(Functions()); }

TEST_F(Misuse, CopiesWriteNothing) {
  ASSERT_EQ(aclrtMemset(device, 64, 0x5A, 64), 0);
  Walk(Copies());
  Walk(AsyncCopies());
  Walk(Values());
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  unsigned char bytes[64] = {};
  ASSERT_EQ(aclrtMemcpy(bytes, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  for (const unsigned char byte : bytes) EXPECT_EQ(byte, 0x5A);
  for (const unsigned char byte : host) EXPECT_EQ(byte, 0);
}

TEST_F(Misuse, ThreadWithoutContext) {
  std::thread([this] { Walk(WithoutContext()); }).join();
}

TEST_F(Misuse, StreamOfAnotherContext) {
  aclrtContext other = nullptr;
  ASSERT_EQ(aclrtCreateContext(&other, 0), 0);
  const int code = ACL_ERROR_RT_STREAM_CONTEXT;
  std::vector<Refusal> rows = OnStream(stream, code, "stream context is not the thread's");
  rows.push_back({"aclrtDestroyStream", [this] { return aclrtDestroyStream(stream); }, code, ""});
  rows.push_back(
      {"aclrtDestroyStreamForce", [this] { return aclrtDestroyStreamForce(stream); }, code, ""});
  Walk(rows);
  EXPECT_EQ(aclrtDestroyContext(other), 0);
  EXPECT_EQ(aclrtSetCurrentContext(context), 0);
}

/// The functions whose misuse is tested in other files, or cannot be.
const std::set<std::string> kMisusedElsewhere = {
    // What cannot be misused, or not with a runtime that is started: life_test.cc has the latter.
    "aclDataTypeSize",
    "aclFinalize",
    "aclFloat16ToFloat",
    "aclFloatToFloat16",
    "aclGetRecentErrMsg",
    "aclInit",
    "aclrtGetSocName",
    "openaclnnGetVersion",
    // What exception_info_test.cc and allocator_test.cc misuse.
    "aclrtAllocatorCreateDesc",
    "aclrtAllocatorDestroyDesc",
    "aclrtAllocatorGetByStream",
    "aclrtAllocatorRegister",
    "aclrtAllocatorSetAllocAdviseFuncToDesc",
    "aclrtAllocatorSetAllocFuncToDesc",
    "aclrtAllocatorSetFreeFuncToDesc",
    "aclrtAllocatorSetGetAddrFromBlockFuncToDesc",
    "aclrtAllocatorSetObjToDesc",
    "aclrtAllocatorUnregister",
    "aclrtGetDeviceIdFromExceptionInfo",
    "aclrtGetErrorCodeFromExceptionInfo",
    "aclrtGetStreamIdFromExceptionInfo",
    "aclrtGetTaskIdFromExceptionInfo",
    "aclrtGetThreadIdFromExceptionInfo",
    "aclrtSetExceptionInfoCallback",
    // What capture_test.cc and the tables of handles misuse.
    "aclmdlRICaptureThreadExchangeMode",
    "aclmdlRIDestroy",
    "aclmdlRIGetName",
    "aclmdlRISetName",
    // What setting_test.cc, virtual_memory_test.cc and the tables of handles misuse.
    "aclAppLog",
    "aclCreateDataBuffer",
    "aclCreateTensorDesc",
    "aclDestroyDataBuffer",
    "aclDestroyTensorDesc",
    "aclGetDataBufferAddr",
    "aclGetDataBufferSizeV2",
    "aclGetDeviceCapability",
    "aclGetTensorDescAddress",
    "aclGetTensorDescDimV2",
    "aclGetTensorDescFormat",
    "aclGetTensorDescNumDims",
    "aclGetTensorDescType",
    "aclSetTensorConst",
    "aclSetTensorDescName",
    "aclSetTensorFormat",
    "aclSetTensorPlaceMent",
    "aclSetTensorShape",
    "aclopCreateAttr",
    "aclopDestroyAttr",
    "aclopSetAttrBool",
    "aclopSetAttrDataType",
    "aclopSetAttrFloat",
    "aclopSetAttrInt",
    "aclopSetAttrListBool",
    "aclopSetAttrListFloat",
    "aclopSetAttrListInt",
    "aclopSetAttrListListInt",
    "aclopSetAttrString",
    "aclrtCtxGetSysParamOpt",
    "aclrtCtxSetSysParamOpt",
    "aclrtDeviceGetBareTgid",
    "aclrtFreePhysical",
    "aclrtHostRegister",
    "aclrtHostUnregister",
    "aclrtGetDeviceSatMode",
    "aclrtGetSysParamOpt",
    "aclrtMallocPhysical",
    "aclrtMapMem",
    "aclrtMemGetAllocationGranularity",
    "aclrtReleaseMemAddress",
    "aclrtReserveMemAddress",
    "aclrtSetDeviceSatMode",
    "aclrtSetOpExecuteTimeOut",
    "aclrtSetOpWaitTimeout",
    "aclrtSetSysParamOpt",
    "aclrtUnmapMem",
    "aclsysGetCANNVersion",
    "aclsysGetVersionStr",
};

TEST_F(Misuse, TablesHoldEveryExport) {
  std::set<std::string> named = RefusingFunctions();
  named.insert(kMisusedElsewhere.begin(), kMisusedElsewhere.end());
  const std::vector<std::vector<Refusal>> tables = {
      Nulls(),       Devices(), StreamsAndEvents(), Allocations(),           Copies(),
      AsyncCopies(), Values(),  Functions(),        OnStream(nullptr, 0, "")};
  for (const auto& table : tables) {
    for (const Refusal& row : table) named.insert(row.api);
  }
  for (const Refusal& row : WithoutContext()) named.insert(row.api);
  const std::set<std::string> exported = ExportsOf("ascendcl");
  EXPECT_GT(exported.size(), 60u);
  EXPECT_EQ(named, exported);
}

}  // namespace
}  // namespace openaclnn
