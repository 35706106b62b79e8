// SPDX-License-Identifier: Apache-2.0
// What the runtime itself costs: handles, tensors, memory, launches; beside a bare function call.
#include <benchmark/benchmark.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "common/handle_table.h"
#include "require.h"

namespace openaclnn {
namespace {

__attribute__((noinline)) void BareFunction() { benchmark::ClobberMemory(); }

void FunctionCall(benchmark::State& state) {
  for (auto _ : state) BareFunction();
}
BENCHMARK(FunctionCall);

void HandleLookUp(benchmark::State& state) {
  HandleTable table;
  int object = 0;
  const void* handle = table.Insert(Kind::kTensor, &object, [](void*) {});
  for (auto _ : state) {
    HandleTable::Pin pin;
    benchmark::DoNotOptimize(table.Find(Kind::kTensor, handle, &pin));
  }
  table.Remove(Kind::kTensor, handle);
}
BENCHMARK(HandleLookUp);

aclTensor* MakeTensor(void* data) {
  const int64_t dims[] = {4, 4};
  return aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, data);
}

void TensorGetter(benchmark::State& state) {
  const aclTensor* tensor = MakeTensor(nullptr);
  int64_t offset = 0;
  for (auto _ : state) Require(aclGetViewOffset(tensor, &offset));
  aclDestroyTensor(tensor);
}
BENCHMARK(TensorGetter);

void TensorCreateAndDestroy(benchmark::State& state) {
  for (auto _ : state) aclDestroyTensor(MakeTensor(nullptr));
}
BENCHMARK(TensorCreateAndDestroy);

void MallocAndFree(benchmark::State& state) {
  for (auto _ : state) {
    void* memory = nullptr;
    Require(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    Require(aclrtFree(memory));
  }
}
BENCHMARK(MallocAndFree);

/// The shortest task that there is: one byte set.
void LaunchToSynchronise(benchmark::State& state) {
  aclrtStream stream = nullptr;
  void* memory = nullptr;
  Require(aclrtCreateStream(&stream));
  Require(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  for (auto _ : state) {
    Require(aclrtMemsetAsync(memory, 1, 0, 1, stream));
    Require(aclrtSynchronizeStream(stream));
  }
  aclrtFree(memory);
  aclrtDestroyStream(stream);
}
BENCHMARK(LaunchToSynchronise)->UseRealTime();

/// The smallest operator call: one row of one element; `repeatable` keeps the executor.
void OperatorCall(benchmark::State& state, bool repeatable) {
  aclrtStream stream = nullptr;
  void* memory = nullptr;
  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  const int64_t row[] = {1, 1};
  Require(aclrtCreateStream(&stream));
  Require(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  Require(aclrtMemset(memory, 4096, 0, 4096));
  auto* base = static_cast<char*>(memory);
  const auto tensor = [&](aclDataType type, uint64_t rank, size_t place) {
    return aclCreateTensor(row, rank, type, nullptr, 0, ACL_FORMAT_ND, row, rank, base + place);
  };
  aclTensor* grad = tensor(ACL_FLOAT, 2, 0);
  aclTensor* indices = tensor(ACL_INT64, 1, 512);
  aclTensor* out = tensor(ACL_FLOAT, 2, 1024);
  const auto plan = [&] {
    Require(aclnnEmbeddingDenseBackwardGetWorkspaceSize(grad, indices, 1, 1, false, out,
                                                        &workspace_size, &executor));
  };
  if (repeatable) {
    plan();
    Require(aclSetAclOpExecutorRepeatable(executor));
  }
  for (auto _ : state) {
    if (!repeatable) plan();
    Require(aclnnEmbeddingDenseBackward(base + 2048, workspace_size, executor, stream));
    Require(aclrtSynchronizeStream(stream));
  }
  if (repeatable) aclDestroyAclOpExecutor(executor);
  for (aclTensor* each : {grad, indices, out}) aclDestroyTensor(each);
  aclrtFree(memory);
  aclrtDestroyStream(stream);
}
BENCHMARK_CAPTURE(OperatorCall, BothPhases, false)->UseRealTime();
BENCHMARK_CAPTURE(OperatorCall, RepeatableExecutor, true)->UseRealTime();

}  // namespace
}  // namespace openaclnn

int main(int argc, char** argv) {
  Require(aclInit(nullptr));
  Require(aclrtSetDevice(0));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return aclFinalize();
}
