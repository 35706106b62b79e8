// SPDX-License-Identifier: Apache-2.0
// Which test shows what each exported function does: none may be without one.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "abi/exports.h"

namespace openaclnn {
namespace {

/// The functions of the runtime and of the meta API, by the test of their behaviour. How they are
/// misused stands in tables that are checked in the same way: ascendcl/misuse_test.cc, and
/// handles_test.cc of this folder.
const std::vector<std::pair<std::string, std::vector<std::string>>> kBehaviours = {
    {"MemoryTest.SizesOfTypes", {"aclDataTypeSize"}},
    {"MemoryTest.NumbersAsFloat16", {"aclFloat16ToFloat", "aclFloatToFloat16"}},
    {"VirtualMemoryTest.HostMemoryOfTheDevice", {"aclrtHostRegister", "aclrtHostUnregister"}},
    {"LifeTest.CallsAreNotCounted", {"aclInit", "aclFinalize"}},
    {"LifeTest.MessagesBelongToTheThread",
     {"aclGetRecentErrMsg", "aclrtGetLastError", "aclrtPeekAtLastError"}},
    {"ContextTest.CreateMakesCurrentOnItsDevice", {"aclrtCreateContext", "aclrtDestroyContext"}},
    {"ContextTest.ThreadsShareOne", {"aclrtSetCurrentContext"}},
    {"ContextTest.DestroyedContextIsCurrentNoMore", {"aclrtGetCurrentContext"}},
    {"EventTest.FlagsDecideWhatItIsFor", {"aclrtCreateEvent", "aclrtCreateEventWithFlag"}},
    {"EventTest.WaitSpeaksOfTheRecordBeforeIt",
     {"aclrtCreateEventExWithFlag", "aclrtRecordEvent", "aclrtSynchronizeEvent"}},
    {"EventTest.DestroyReleasesThoseThatWait", {"aclrtDestroyEvent"}},
    {"EventTest.WaitOrdersStreams", {"aclrtStreamWaitEvent"}},
    {"EventTest.ElapsedTime", {"aclrtEventElapsedTime"}},
    {"EventTest.TimeoutLeavesTheRecord", {"aclrtSynchronizeEventWithTimeout"}},
    {"EventTest.Timestamps", {"aclrtEventGetTimestamp"}},
    {"EventTest.ResetForgetsTheMark", {"aclrtResetEvent"}},
    {"EventTest.NumbersOfTheQueries",
     {"aclrtQueryEvent", "aclrtQueryEventStatus", "aclrtQueryEventWaitStatus"}},
    {"StreamTest.TasksRunInOrder", {"aclrtCreateStream", "aclrtSynchronizeStream"}},
    {"StreamTest.DestroyWaits", {"aclrtCreateStreamWithConfig", "aclrtDestroyStream"}},
    {"StreamTest.DestroyForceDropsWhatHasNotBegun", {"aclrtDestroyStreamForce"}},
    {"StreamTest.TimeoutLeavesTheWork", {"aclrtSynchronizeStreamWithTimeout"}},
    {"StreamTest.OneThatIsHeldDoesNotHoldOthers", {"aclrtStreamQuery"}},
    {"TaskTest.StopModeDropsLaterTasksUntilTheErrorIsFetched", {"aclrtSetStreamFailureMode"}},
    {"StreamTest.KeepsTheOverflowSwitch",
     {"aclrtGetStreamOverflowSwitch", "aclrtSetStreamOverflowSwitch"}},
    {"ValueTest.AWriteLetsAWaitPass", {"aclrtValueWait", "aclrtValueWrite"}},
    {"ValueTest.APrefetchChangesNothing", {"aclrtCmoAsync"}},
    {"DeviceTest.Peers",
     {"aclrtDeviceCanAccessPeer", "aclrtDeviceDisablePeerAccess", "aclrtDeviceEnablePeerAccess"}},
    {"DeviceTest.SetAndGetBelongToTheThread", {"aclrtGetDevice", "aclrtSetDevice"}},
    {"DeviceTest.ResetCountsSets", {"aclrtResetDevice"}},
    {"DeviceTest.Facts",
     {"aclrtGetDeviceCount", "aclrtGetRunMode", "aclrtGetSocName", "aclrtGetVersion"}},
    {"DeviceTest.SynchronizeWaitsForAllContextsOfTheDevice", {"aclrtSynchronizeDevice"}},
    {"DeviceTest.TimedSynchronizeLeavesLaterWorkAlone", {"aclrtSynchronizeDeviceWithTimeout"}},
    {"MemoryTest.AddressesAreAlignedAndApart", {"aclrtMalloc", "aclrtFree"}},
    {"MemoryTest.CountedSizes", {"aclrtMallocAlign32"}},
    {"MemoryTest.InfoIsPerDeviceAndKind", {"aclrtGetMemInfo"}},
    {"MemoryTest.PinnedHostMemoryIsTheHosts",
     {"aclrtMallocHost", "aclrtMallocHostWithCfg", "aclrtFreeHost"}},
    {"MemoryTest.PointerAttributes", {"aclrtPointerGetAttributes"}},
    {"CopyTest.SynchronousTakesTheKindForAHint", {"aclrtMemcpy"}},
    {"CopyTest.Rectangles", {"aclrtMemcpy2d", "aclrtMemcpy2dAsync"}},
    {"CopyTest.AsynchronousDirections", {"aclrtMemcpyAsync"}},
    {"CopyTest.Fills", {"aclrtMemset", "aclrtMemsetAsync"}},
    {"CallbackTest.HostFunctionRunsInOrderOnAnotherThread", {"aclrtLaunchHostFunc"}},
    {"CallbackTest.BlockingCallbackHoldsTheStream", {"aclrtLaunchCallback", "aclrtProcessReport"}},
    {"CallbackTest.SubscriptionRules", {"aclrtSubscribeReport", "aclrtUnSubscribeReport"}},
    {"GraphTest.RunsWhatWasCapturedOnWhatIsThereThen",
     {"aclmdlRICaptureBegin", "aclmdlRICaptureEnd", "aclmdlRIDestroy", "aclmdlRIExecuteAsync"}},
    {"CaptureTest.HasAName", {"aclmdlRIGetName", "aclmdlRISetName"}},
    {"GraphTest.RunsOnTheDefaultStreamAndWaits", {"aclmdlRIExecute"}},
    {"TaskGroupTest.LaterLaunchesReplaceTheTasks",
     {"aclmdlRICaptureTaskGrpBegin", "aclmdlRICaptureTaskGrpEnd", "aclmdlRICaptureTaskUpdateBegin",
      "aclmdlRICaptureTaskUpdateEnd"}},
    {"CaptureTest.TellsOfItself", {"aclmdlRICaptureGetInfo"}},
    {"CaptureTest.ExchangesTheModeOfAThread", {"aclmdlRICaptureThreadExchangeMode"}},
    {"LogTest.ProgramsWriteLinesOfTheirOwn", {"aclAppLog"}},
    {"SettingTest.ParametersAreOfTheProcessOrOfAContext",
     {"aclrtCtxGetSysParamOpt", "aclrtCtxSetSysParamOpt", "aclrtGetSysParamOpt",
      "aclrtSetSysParamOpt"}},
    {"SettingTest.TheOverflowModeIsKept",
     {"aclrtGetDeviceSatMode", "aclrtSetDeviceSatMode", "aclrtSetOpExecuteTimeOut",
      "aclrtSetOpWaitTimeout"}},
    {"SettingTest.DevicesHaveTheCoresOfTheirProduct",
     {"aclGetDeviceCapability", "aclrtDeviceGetBareTgid"}},
    {"SettingTest.DescriptionsSayWhatTheyWereMadeOf",
     {"aclCreateDataBuffer", "aclCreateTensorDesc", "aclDestroyDataBuffer", "aclDestroyTensorDesc",
      "aclGetDataBufferAddr", "aclGetDataBufferSizeV2", "aclGetTensorDescDimV2",
      "aclGetTensorDescFormat", "aclGetTensorDescNumDims", "aclGetTensorDescType",
      "aclSetTensorDescName", "aclSetTensorFormat", "aclSetTensorPlaceMent", "aclSetTensorShape"}},
    {"GraphOperatorsTest.AxesAreKnownToTheHost", {"aclGetTensorDescAddress", "aclSetTensorConst"}},
    {"ExceptionInfoTest.EachFailureIsToldOnce",
     {"aclrtGetDeviceIdFromExceptionInfo", "aclrtGetErrorCodeFromExceptionInfo",
      "aclrtGetStreamIdFromExceptionInfo", "aclrtGetTaskIdFromExceptionInfo",
      "aclrtGetThreadIdFromExceptionInfo", "aclrtSetExceptionInfoCallback"}},
    {"AllocatorTest.AStreamHasWhatWasRegistered",
     {"aclrtAllocatorCreateDesc", "aclrtAllocatorDestroyDesc", "aclrtAllocatorGetByStream",
      "aclrtAllocatorRegister", "aclrtAllocatorSetAllocAdviseFuncToDesc",
      "aclrtAllocatorSetAllocFuncToDesc", "aclrtAllocatorSetFreeFuncToDesc",
      "aclrtAllocatorSetGetAddrFromBlockFuncToDesc", "aclrtAllocatorSetObjToDesc",
      "aclrtAllocatorUnregister"}},
    {"SettingTest.AttributesCheckTheirLists",
     {"aclopCreateAttr", "aclopDestroyAttr", "aclopSetAttrBool", "aclopSetAttrDataType",
      "aclopSetAttrFloat", "aclopSetAttrInt", "aclopSetAttrListBool", "aclopSetAttrListFloat",
      "aclopSetAttrListInt", "aclopSetAttrListListInt", "aclopSetAttrString"}},
    {"SettingTest.VersionsOfPackages", {"aclsysGetCANNVersion", "aclsysGetVersionStr"}},
    {"VirtualMemoryTest.NeighboursAreUsedAsOne",
     {"aclrtFreePhysical", "aclrtMallocPhysical", "aclrtMapMem", "aclrtReleaseMemAddress",
      "aclrtReserveMemAddress", "aclrtUnmapMem"}},
    {"VirtualMemoryTest.SizesAreRoundedUp", {"aclrtMemGetAllocationGranularity"}},
    {"LifeTest.Version", {"openaclnnGetVersion"}},
    {"ArrayTest.Sizes",
     {"aclCreateBoolArray", "aclCreateFloatArray", "aclCreateIntArray", "aclDestroyBoolArray",
      "aclDestroyFloatArray", "aclDestroyIntArray", "aclGetBoolArraySize", "aclGetFloatArraySize",
      "aclGetIntArraySize"}},
    {"ScalarTest.EveryTypeThatHasASize", {"aclCreateScalar", "aclDestroyScalar"}},
    {"ListTest.DestroysItsScalars",
     {"aclCreateScalarList", "aclDestroyScalarList", "aclGetScalarListSize"}},
    {"ListTest.DestroysItsTensors",
     {"aclCreateTensorList", "aclDestroyTensorList", "aclGetTensorListSize"}},
    {"TensorTest.ReadsBackWhatItWasMadeOf",
     {"aclCreateTensor", "aclDestroyTensor", "aclGetDataType", "aclGetFormat", "aclGetStorageShape",
      "aclGetViewOffset", "aclGetViewShape", "aclGetViewStrides"}},
    {"TensorTest.InitGivesANewView", {"aclInitTensor"}},
    {"TensorTest.RawAddress", {"aclGetRawTensorAddr", "aclSetRawTensorAddr"}},
    {"MetaInitTest.IsOptionalAndRepeatable", {"aclnnInit", "aclnnFinalize"}},
    {"DumpTest.IsRefusedWhateverItIsGiven", {"aclDumpOpTensors"}},
    {"ExecutorTest.RepeatableRunsUntilDestroyed",
     {"aclSetAclOpExecutorRepeatable", "aclDestroyAclOpExecutor"}},
    {"ExecutorTest.Addresses",
     {"aclSetInputTensorAddr", "AclSetInputTensorAddr", "aclSetOutputTensorAddr",
      "AclSetOutputTensorAddr", "aclSetTensorAddr", "AclSetTensorAddr"}},
    {"ExecutorTest.ListAddressRefusals",
     {"aclSetDynamicInputTensorAddr", "AclSetDynamicInputTensorAddr",
      "aclSetDynamicOutputTensorAddr", "AclSetDynamicOutputTensorAddr", "aclSetDynamicTensorAddr",
      "AclSetDynamicTensorAddr"}},
    {"FrameworkTest.EverySymbolDoesWhatItsRowSays",
     {"AddTensorAddrToCachedList", "CanUsePTACache", "InitHugeMemThreadLocal",
      "InitPTACacheThreadLocal", "PTAFindExecCache", "PTAGetExecCache", "ReleaseHugeMem",
      "ResetCacheThreadLocal", "SetPTACacheHashKey", "SetPTAHashKey", "UnInitHugeMemThreadLocal",
      "UnInitPTACacheThreadLocal", "aclnnReselectStaticKernel",
      "aclnnReselectStaticKernelWithPath"}},
};

/// Texts of the files in which the tests are, and of what they share.
std::vector<std::string> TestFiles() {
  std::vector<std::string> texts;
  for (const char* folder : {"/tests/ascendcl", "/tests/companions", "/tests/nnopbase"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::string(OPENACLNN_SOURCE_DIR) + folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  return texts;
}

/// Whether the text has the name as a word of its own.
bool Names(const std::string& text, const std::string& name) {
  const auto in_word = [&](size_t place) {
    return place < text.size() && (std::isalnum(text[place]) || text[place] == '_');
  };
  size_t found = text.find(name);
  while (found != std::string::npos && (in_word(found - 1) || in_word(found + name.size()))) {
    found = text.find(name, found + 1);
  }
  return found != std::string::npos;
}

TEST(BehaviourTest, TableHoldsEveryExport) {
  // SettingTest.WhatIsNotSupportedSaysSo goes through the same list.
  std::set<std::string> named = RefusingFunctions(), exported;
  for (const auto& [test, functions] : kBehaviours) {
    for (const std::string& function : functions) {
      EXPECT_TRUE(named.insert(function).second) << function << " is there twice";
    }
  }
  for (const char* library : {"ascendcl", "nnopbase"}) exported.merge(ExportsOf(library));
  EXPECT_GT(exported.size(), 100u);
  EXPECT_EQ(named, exported);
}

// The test is there, and its file, or the fixture, calls the function.
TEST(BehaviourTest, TestsAreWhereTheTableSays) {
  const std::vector<std::string> files = TestFiles();
  std::string fixture;
  for (const std::string& text : files) {
    if (text.find("class RuntimeTest :") != std::string::npos) fixture = text;
  }
  ASSERT_FALSE(fixture.empty());
  for (const auto& [test, functions] : kBehaviours) {
    const size_t dot = test.find('.');
    std::string head = "(";
    head.append(test, 0, dot).append(", ").append(test, dot + 1).append(")");
    std::string file;
    for (const std::string& text : files) {
      if (text.find(head) != std::string::npos) file = text;
    }
    EXPECT_FALSE(file.empty()) << "no test " << test;
    for (const std::string& function : functions) {
      EXPECT_TRUE(Names(file + fixture, function)) << test << " does not call " << function;
    }
  }
}

}  // namespace
}  // namespace openaclnn
