// SPDX-License-Identifier: Apache-2.0
// Every exported function against every kind of bad handle: null, destroyed, foreign, wrong kind;
// and that each of its pointers has a row of some table.
#include <algorithm>
#include <set>

#include "abi/address_rows.h"
#include "abi/declared.h"
#include "abi/exports.h"
#include "abi/handle_rows.h"
#include "openaclnn/status.h"
#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

constexpr int kKinds = static_cast<int>(HandleKind::kCount);

class HandlesTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    gradient_ = std::make_unique<Gradient>(0);
    ASSERT_EQ(aclrtGetCurrentContext(&primary_), 0);
    Make(&dead_);
    for (int kind = 0; kind < kKinds; ++kind) {
      ASSERT_EQ(Destroy(kind, dead_.handles[kind]), 0) << kind << TakeMessage();
    }
    ASSERT_EQ(aclrtSetCurrentContext(primary_), 0);
    Make(&live_);
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(static_cast<aclOpExecutor*>(At(HandleKind::kExecutor))),
              0);
    for (auto* rows :
         {RuntimeRows, MetaRows, ExecutorRows, OperatorRows, DescriptionRows, SupportingRows}) {
      for (HandleRow& row : rows(live_)) {
        auto& table = row.kind == HandleKind::kMemory ? memory_rows_ : rows_;
        table.push_back(std::move(row));
      }
    }
    for (HandleRow& row : MemoryRows(live_)) memory_rows_.push_back(std::move(row));
  }
  void TearDown() override {
    // Nothing that was refused has ended or used up a live object.
    for (int kind = kKinds; kind-- > 0;) {
      EXPECT_EQ(Destroy(kind, live_.handles[kind]), 0) << kind << TakeMessage();
    }
    EXPECT_EQ(aclrtSetCurrentContext(primary_), 0);
    workspace_.reset();
    gradient_.reset();
    RuntimeTest::TearDown();
  }

  void* At(HandleKind kind) const { return live_[kind]; }

  /// One of each kind. Streams belong to the context, which is current then.
  void Make(Live* live) {
    const auto set = [live](HandleKind kind, const void* handle) {
      ASSERT_NE(handle, nullptr) << TakeMessage();
      live->handles[static_cast<int>(kind)] = const_cast<void*>(handle);
    };
    float value = 1;
    const int64_t number = 1;
    const bool flag = true;
    aclrtContext context = nullptr;
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
    ASSERT_EQ(gradient_->Plan(&bytes, &executor), 0);
    set(HandleKind::kContext, context);
    set(HandleKind::kStream, NewStream());
    set(HandleKind::kEvent, NewEvent());
    set(HandleKind::kTensor, Gradient::Tensor({1}, ACL_FLOAT, nullptr));
    set(HandleKind::kScalar, aclCreateScalar(&value, ACL_FLOAT));
    set(HandleKind::kIntArray, aclCreateIntArray(&number, 1));
    set(HandleKind::kFloatArray, aclCreateFloatArray(&value, 1));
    set(HandleKind::kBoolArray, aclCreateBoolArray(&flag, 1));
    set(HandleKind::kTensorList, aclCreateTensorList(nullptr, 0));
    set(HandleKind::kScalarList, aclCreateScalarList(nullptr, 0));
    set(HandleKind::kExecutor, executor);
    set(HandleKind::kTensorDesc, aclCreateTensorDesc(ACL_FLOAT, 1, &number, ACL_FORMAT_ND));
    set(HandleKind::kDataBuffer, aclCreateDataBuffer(&value, sizeof(value)));
    set(HandleKind::kAttributes, aclopCreateAttr());
    set(HandleKind::kPhysicalMemory, PhysicalMemory());
    set(HandleKind::kGraph, Graph(live->handles[static_cast<int>(HandleKind::kStream)]));
    workspace_ = std::make_unique<DeviceArray<uint8_t>>(bytes + 1);
    live->workspace = workspace_->data();
    live->workspace_size = bytes;
  }

  static void* PhysicalMemory() {
    aclrtPhysicalMemProp prop = {};
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    aclrtDrvMemHandle memory = nullptr;
    EXPECT_EQ(aclrtMallocPhysical(&memory, 2 << 20, &prop, 0), 0) << TakeMessage();
    return memory;
  }

  static void* Graph(aclrtStream stream) {
    aclmdlRI graph = nullptr;
    EXPECT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0) << TakeMessage();
    EXPECT_EQ(aclmdlRICaptureEnd(stream, &graph), 0) << TakeMessage();
    return graph;
  }

  static int Destroy(int kind, void* handle) {
    switch (static_cast<HandleKind>(kind)) {
      case HandleKind::kContext:
        return aclrtDestroyContext(handle);
      // Their context may be gone already, and they with it.
      case HandleKind::kStream:
        return aclrtDestroyStream(handle) == 0 || aclrtGetCurrentContext(&handle) != 0 ? 0 : 1;
      case HandleKind::kGraph:
        return aclmdlRIDestroy(handle) == 0 || aclrtGetCurrentContext(&handle) != 0 ? 0 : 1;
      case HandleKind::kEvent:
        return aclrtDestroyEvent(handle);
      case HandleKind::kTensor:
        return aclDestroyTensor(static_cast<aclTensor*>(handle));
      case HandleKind::kScalar:
        return aclDestroyScalar(static_cast<aclScalar*>(handle));
      case HandleKind::kIntArray:
        return aclDestroyIntArray(static_cast<aclIntArray*>(handle));
      case HandleKind::kFloatArray:
        return aclDestroyFloatArray(static_cast<aclFloatArray*>(handle));
      case HandleKind::kBoolArray:
        return aclDestroyBoolArray(static_cast<aclBoolArray*>(handle));
      case HandleKind::kTensorList:
        return aclDestroyTensorList(static_cast<aclTensorList*>(handle));
      case HandleKind::kScalarList:
        return aclDestroyScalarList(static_cast<aclScalarList*>(handle));
      case HandleKind::kExecutor:
        return aclDestroyAclOpExecutor(static_cast<aclOpExecutor*>(handle));
      case HandleKind::kTensorDesc:
        return aclDestroyTensorDesc(static_cast<aclTensorDesc*>(handle)), 0;
      case HandleKind::kDataBuffer:
        return aclDestroyDataBuffer(static_cast<aclDataBuffer*>(handle));
      case HandleKind::kAttributes:
        return aclopDestroyAttr(static_cast<aclopAttr*>(handle)), 0;
      case HandleKind::kPhysicalMemory:
        return aclrtFreePhysical(handle);
      case HandleKind::kCount:
        break;
    }
    return -1;
  }

  static void Expect(const HandleRow& row, void* handle, int code, const std::string& what) {
    SCOPED_TRACE(row.api + std::string(" with a handle that is ") + what);
    TakeMessage();
    EXPECT_EQ(row.call(handle), code);
    const std::string message = TakeMessage();
    if (code == 0) return;
    EXPECT_NE(message.find(row.says), std::string::npos) << message;
    EXPECT_NE(message.find(", expected "), std::string::npos) << message;
  }

  std::vector<HandleRow> rows_, memory_rows_;
  Live live_, dead_;

 private:
  aclrtContext primary_ = nullptr;
  std::unique_ptr<Gradient> gradient_;
  std::unique_ptr<DeviceArray<uint8_t>> workspace_;  // of the live executor
};

TEST_F(HandlesTest, Null) {
  for (const auto* rows : {&rows_, &memory_rows_}) {
    for (const HandleRow& row : *rows) {
      if (row.null != kAnyResult) Expect(row, nullptr, row.null, "null");
    }
  }
}

TEST_F(HandlesTest, Destroyed) {
  for (const HandleRow& row : rows_) {
    Expect(row, dead_[row.kind], row.destroyed, "destroyed");
    Expect(row, dead_[row.kind], row.destroyed, "destroyed, the second time");
  }
}

TEST_F(HandlesTest, OfAnotherKind) {
  for (const HandleRow& row : rows_) {
    for (int kind = 0; kind < kKinds; ++kind) {
      if (kind == static_cast<int>(row.kind)) continue;
      Expect(row, live_.handles[kind], row.code, "live, of kind " + std::to_string(kind));
      Expect(row, dead_.handles[kind], row.code, "dead, of kind " + std::to_string(kind));
    }
  }
}

TEST_F(HandlesTest, Foreign) {
  int on_stack = 0;
  const auto on_heap = std::make_unique<int[]>(1024);
  std::vector<void*> foreign = {&on_stack, on_heap.get(), &foreign, stdout};
  for (const uintptr_t number : {uintptr_t{1}, uintptr_t{0xDEADBEEF}, ~uintptr_t{0},
                                 ~uintptr_t{0} / 2, uintptr_t{1} << 63}) {
    foreign.push_back(reinterpret_cast<void*>(number));
  }
  for (const HandleRow& row : rows_) {
    for (void* handle : foreign) Expect(row, handle, row.code, "foreign");
    // Numbers near that of a live handle: another slot, another generation, another tag.
    for (const int bit : {0, 13, 23, 24, 47, 52, 63}) {
      const auto near = reinterpret_cast<uintptr_t>(live_[row.kind]) ^ uintptr_t { 1 } << bit;
      TakeMessage();
      const int code = row.call(reinterpret_cast<void*>(near));
      EXPECT_TRUE(code == row.code || code == row.destroyed) << row.api << ", bit " << bit;
    }
  }
}

/// Pointers that no table has, as "function argument", and why.
const std::map<std::string, const char*> kWithoutRow = {
    {"aclAppLog file", "text, which may be null"},
    {"aclAppLog fmt", "text, which may be null"},
    {"aclAppLog func", "text, which may be null"},
    {"aclInit configPath", "text, which may be null; config_test.cc has files of all kinds"},
    {"aclnnInit configPath", "the same"},
    {"aclSetTensorConst dataBuffer", "values of any type: graph_operators_test.cc has null"},
    {"aclrtLaunchCallback userData", "handed on to the function, unread"},
    {"aclrtLaunchHostFunc args", "handed on to the function, unread"},
    {"aclrtAllocatorGetByStream allocAdviseFunc", "each may be null: allocator_test.cc"},
    {"aclrtAllocatorGetByStream allocFunc", "the same"},
    {"aclrtAllocatorGetByStream allocator", "the same"},
    {"aclrtAllocatorGetByStream allocatorDesc", "the same"},
    {"aclrtAllocatorGetByStream freeFunc", "the same"},
    {"aclrtAllocatorGetByStream getAddrFromBlockFunc", "the same"},
    {"aclrtGetDeviceIdFromExceptionInfo info", "none but the runtime's: exception_info_test.cc"},
    {"aclrtGetErrorCodeFromExceptionInfo info", "the same"},
    {"aclrtGetStreamIdFromExceptionInfo info", "the same"},
    {"aclrtGetTaskIdFromExceptionInfo info", "the same"},
    {"aclrtGetThreadIdFromExceptionInfo info", "the same"},
    {"aclmdlRICaptureTaskUpdateBegin handle", "in no table of handles: task_group_test.cc"},
    {"aclrtHostRegister ptr", "virtual_memory_test.cc has addresses of all kinds"},
    {"aclrtHostUnregister ptr", "the same"},
};

/// Exports that no header declares: programs look them up by name. They refuse, or read nothing.
const std::set<std::string> kUndeclared = {"AddTensorAddrToCachedList",
                                           "CanUsePTACache",
                                           "InitHugeMemThreadLocal",
                                           "InitPTACacheThreadLocal",
                                           "MsprofGetHashId",
                                           "MsprofRegisterCallback",
                                           "MsprofReportAdditionalInfo",
                                           "MsprofReportApi",
                                           "MsprofReportCompactInfo",
                                           "MsprofSysCycleTime",
                                           "PTAFindExecCache",
                                           "PTAGetExecCache",
                                           "ReleaseHugeMem",
                                           "ResetCacheThreadLocal",
                                           "SetPTACacheHashKey",
                                           "SetPTAHashKey",
                                           "UnInitHugeMemThreadLocal",
                                           "UnInitPTACacheThreadLocal",
                                           "aclmdlRIDebugJsonPrint",
                                           "aclmdlRIDebugPrint",
                                           "aclnnReselectStaticKernel",
                                           "aclnnReselectStaticKernelWithPath",
                                           "aclrtBinaryGetFunction",
                                           "aclrtBinaryLoadFromData",
                                           "aclrtGetFunctionAddr",
                                           "rtDevBinaryRegister",
                                           "rtFunctionRegister",
                                           "rtGetC2cCtrlAddr",
                                           "rtKernelLaunch"};

/// Of operators: their phases 2 are one function, for which aclnnEmbeddingDenseBackward stands. Of
/// executors: members of lists are set as tensors are, and no operator of a small call has a list.
bool StandsForOthers(const std::string& api, const std::string& argument, bool is_operator) {
  return is_operator ? argument == "workspace" || argument == "stream"
                     : argument == "addr" && api.find("Dynamic") != std::string::npos;
}

TEST_F(HandlesTest, EveryPointerHasARow) {
  std::set<std::string> named;
  for (const auto* rows : {&rows_, &memory_rows_}) {
    for (const HandleRow& row : *rows) named.insert(std::string(row.api) + ' ' + ArgumentOf(row));
  }
  for (const AddressRow& row : AddressRows({})) {
    named.insert(std::string(row.api) + ' ' + row.argument);
  }
  const DeclaredPointers declared =
      ReadDeclarations({OPENACLNN_SOURCE_DIR "/include", OPENACLNN_MADE_HEADERS});
  std::set<std::string> refuse_all = RefusingFunctions(), missing, undeclared, exported;
  refuse_all.insert("aclDumpOpTensors");
  size_t pointers = 0;
  for (const char* library : {"ascendcl", "nnopbase", "opapi"}) {
    for (const std::string& api : ExportsOf(library)) {
      exported.insert(api);
      const auto found = declared.find(api);
      if (found == declared.end()) {
        undeclared.insert(api);
        continue;
      }
      for (const std::string& argument : found->second) {
        ++pointers;
        const std::string pointer = api + ' ' + argument;
        if (named.count(pointer) > 0 || kWithoutRow.count(pointer) > 0 ||
            refuse_all.count(api) > 0 ||
            StandsForOthers(api, argument, library == std::string("opapi"))) {
          continue;
        }
        missing.insert(pointer);
      }
    }
  }
  EXPECT_GT(pointers, 1000u);
  RecordProperty("pointers", static_cast<int>(pointers));
  EXPECT_EQ(missing, std::set<std::string>()) << "a row or a reason";
  EXPECT_EQ(undeclared, kUndeclared);
  for (const std::string& pointer : named) {
    EXPECT_EQ(exported.count(pointer.substr(0, pointer.find(' '))), 1u) << pointer;
  }
}

}  // namespace
}  // namespace openaclnn
