// SPDX-License-Identifier: Apache-2.0
// Graphs: captured tasks that run again, on one stream and on several, and what they keep.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>

#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
#include "tests/ascendcl/fixture.h"
#include "tests/ascendcl/own_operator.h"

namespace openaclnn {
namespace {

constexpr size_t kCount = 64;
using Floats = std::vector<float>;

class GraphTest : public RuntimeTest {
 protected:
  /// out = a + b, by an operator that is planned and destroyed here.
  static void Add(const DeviceArray<float>& a, const DeviceArray<float>& b,
                  const DeviceArray<float>& out, aclrtStream stream) {
    const float one = 1;
    aclScalar* alpha = aclCreateScalar(const_cast<float*>(&one), ACL_FLOAT);
    aclTensor *x = TensorOf(a), *y = TensorOf(b), *z = TensorOf(out);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnAddGetWorkspaceSize(x, y, alpha, z, &bytes, &executor), 0) << TakeMessage();
    EXPECT_EQ(bytes, 0u);
    EXPECT_EQ(aclnnAdd(nullptr, 0, executor, stream), 0) << TakeMessage();
    for (const aclTensor* tensor : {x, y, z}) aclDestroyTensor(tensor);
    aclDestroyScalar(alpha);
  }
  static void Copy(const DeviceArray<float>& to, const DeviceArray<float>& from,
                   aclrtStream stream) {
    EXPECT_EQ(aclrtMemcpyAsync(to.data(), to.bytes(), from.data(), from.bytes(),
                               ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
              0)
        << TakeMessage();
  }
  static void Begin(aclrtStream stream,
                    aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) {
    ASSERT_EQ(aclmdlRICaptureBegin(stream, mode), 0) << TakeMessage();
  }
  static aclmdlRI End(aclrtStream stream) {
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(stream, &model), 0) << TakeMessage();
    EXPECT_NE(model, nullptr);
    return model;
  }
  static void Run(aclmdlRI model, aclrtStream stream) {
    EXPECT_EQ(aclmdlRIExecuteAsync(model, stream), 0) << TakeMessage();
  }
  static void Write(const DeviceArray<float>& to, float value) {
    const Floats values(kCount, value);
    EXPECT_EQ(
        aclrtMemcpy(to.data(), to.bytes(), values.data(), to.bytes(), ACL_MEMCPY_HOST_TO_DEVICE), 0)
        << TakeMessage();
  }

 private:
  static aclTensor* TensorOf(const DeviceArray<float>& array) {
    const int64_t dims[] = {kCount}, strides[] = {1};
    return aclCreateTensor(dims, 1, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 1, array.data());
  }
};

TEST_F(GraphTest, RunsWhatWasCapturedOnWhatIsThereThen) {
  const aclrtStream stream = NewStream();
  DeviceArray<float> a(kCount), b(kCount, 1), sum(kCount), copy(kCount, -1);
  Begin(stream);
  Add(a, b, sum, stream);
  Copy(copy, sum, stream);
  const aclmdlRI model = End(stream);
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(copy.Read(), Floats(kCount, -1)) << "nothing runs while it is captured";
  for (const float value : {1.0F, 2.0F, 3.0F}) {
    Write(a, value);
    Run(model, stream);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << TakeMessage();
    EXPECT_EQ(sum.Read(), Floats(kCount, value + 1));
    EXPECT_EQ(copy.Read(), Floats(kCount, value + 1));
  }
  EXPECT_EQ(aclmdlRIDestroy(model), 0) << TakeMessage();
  Add(a, a, sum, stream);
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(sum.Read(), Floats(kCount, 6)) << "the stream runs again what is launched";
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(GraphTest, KeepsTheOrderAcrossItsStreams) {
  const aclrtStream stream = NewStream(), side = NewStream(), other = NewStream();
  const aclrtEvent fork = NewEvent(ACL_EVENT_SYNC), join = NewEvent(ACL_EVENT_SYNC),
                   next = NewEvent(ACL_EVENT_SYNC);
  DeviceArray<float> x(kCount, 1), y(kCount), z(kCount), out(kCount);
  Begin(stream);
  Add(x, x, y, stream);  // 2
  ASSERT_EQ(aclrtRecordEvent(fork, stream), 0) << TakeMessage();
  ASSERT_EQ(aclrtStreamWaitEvent(side, fork), 0) << TakeMessage();
  Add(y, x, z, side);  // 3
  ASSERT_EQ(aclrtRecordEvent(next, side), 0) << TakeMessage();
  ASSERT_EQ(aclrtStreamWaitEvent(other, next), 0) << TakeMessage();
  Add(z, z, z, other);  // 6
  ASSERT_EQ(aclrtRecordEvent(join, other), 0) << TakeMessage();
  ASSERT_EQ(aclrtStreamWaitEvent(stream, join), 0) << TakeMessage();
  Add(z, y, out, stream);  // 8
  const aclmdlRI model = End(stream);
  for (const aclrtStream on : {stream, side, other}) {
    Write(out, 0);
    Run(model, on);
    ASSERT_EQ(aclrtSynchronizeStream(on), 0) << TakeMessage();
    EXPECT_EQ(out.Read(), Floats(kCount, 8));
  }
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  for (const aclrtEvent event : {fork, join, next}) EXPECT_EQ(aclrtDestroyEvent(event), 0);
  for (const aclrtStream each : {stream, side, other}) EXPECT_EQ(aclrtDestroyStream(each), 0);
}

// Each adds one to the whole of x, in a workspace that both use.
TEST_F(GraphTest, ExecutionsComeOneAfterAnother) {
  const aclrtStream first = NewStream(), second = NewStream();
  DeviceArray<float> x(kCount), one(kCount, 1);
  Begin(first);
  for (int i = 0; i < 10; ++i) Add(x, one, x, first);
  const aclmdlRI model = End(first);
  Gate gate(first);
  Run(model, first);
  Run(model, second);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(second, 100), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
      << "the first stands at the gate";
  gate.Open();
  for (int i = 0; i < 50; ++i) {
    Run(model, first);
    Run(model, second);
  }
  ASSERT_EQ(aclrtSynchronizeStream(first), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(second), 0) << TakeMessage();
  EXPECT_EQ(x.Read(), Floats(kCount, 1020));
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(aclrtDestroyStream(first), 0);
  EXPECT_EQ(aclrtDestroyStream(second), 0);
}

TEST_F(GraphTest, WhatIsDroppedLetsNobodyPass) {
  const aclrtStream first = NewStream(), dropped = NewStream(), third = NewStream();
  DeviceArray<float> x(kCount), one(kCount, 1);
  Begin(first);
  Add(x, one, x, first);
  const aclmdlRI model = End(first);
  Gate gate(first);
  Run(model, first);
  Run(model, dropped);
  EXPECT_EQ(aclrtDestroyStreamForce(dropped), 0) << TakeMessage();
  Run(model, third);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(third, 100), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
      << "the first stands at the gate";
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(third), 0) << TakeMessage();
  EXPECT_EQ(x.Read(), Floats(kCount, 2));
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(aclrtDestroyStream(first), 0);
  EXPECT_EQ(aclrtDestroyStream(third), 0);
}

TEST_F(GraphTest, ManyThreadsRunOne) {
  constexpr int kThreads = 4, kTimes = 50;
  const aclrtStream stream = NewStream();
  DeviceArray<float> x(kCount), one(kCount, 1);
  Begin(stream);
  Add(x, one, x, stream);
  Add(x, one, x, stream);
  const aclmdlRI model = End(stream);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(aclrtSetDevice(0), 0);
      const aclrtStream own = NewStream();
      for (int n = 0; n < kTimes; ++n) Run(model, own);
      EXPECT_EQ(aclrtSynchronizeStream(own), 0) << TakeMessage();
      EXPECT_EQ(aclrtDestroyStream(own), 0);
      EXPECT_EQ(aclrtResetDevice(0), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(x.Read(), Floats(kCount, 2 * kThreads * kTimes));
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(GraphTest, IsDestroyedBehindItsExecutions) {
  const aclrtStream stream = NewStream();
  const size_t free = FreeMemory();
  auto x = std::make_unique<DeviceArray<float>>(kCount);
  DeviceArray<float> one(kCount, 1), copy(kCount);
  Begin(stream);
  Add(*x, one, *x, stream);
  Copy(copy, *x, stream);
  const aclmdlRI model = End(stream);
  Gate gate(stream);
  for (int i = 0; i < 3; ++i) Run(model, stream);
  EXPECT_EQ(aclmdlRIDestroy(model), 0) << TakeMessage();
  x.reset();  // the graph's tasks still use it
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << TakeMessage();
  EXPECT_EQ(copy.Read(), Floats(kCount, 3));
  one.Free();
  EXPECT_EQ(free - FreeMemory(), copy.bytes() + 32) << "with the graph went what it kept";
  ExpectRefused({"aclmdlRIExecuteAsync", [&] { return aclmdlRIExecuteAsync(model, stream); },
                 ACL_ERROR_RT_INVALID_HANDLE, "modelRI value is a handle that was destroyed"});
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

// To destroy one costs as much beside thousands as it does alone; looking through a list of 16,000
// cost 112 us each.
TEST_F(GraphTest, ManyAreDestroyedAsQuicklyAsFew) {
  const aclrtStream stream = NewStream();
  std::vector<aclmdlRI> models;
  const auto add = [&](size_t count) {
    for (; count > 0; --count) {
      Begin(stream);
      models.push_back(End(stream));
    }
  };
  // The least of some times, in ns each: other programs take the processor, too.
  const auto time_each = [&](size_t others) {
    constexpr int kTimes = 5, kEach = 100;
    add(others);
    double least = std::numeric_limits<double>::max();
    for (int i = 0; i < kTimes; ++i) {
      add(kEach);
      const auto start = std::chrono::steady_clock::now();
      for (int n = 0; n < kEach; ++n, models.pop_back()) aclmdlRIDestroy(models.back());
      const std::chrono::duration<double, std::nano> time =
          std::chrono::steady_clock::now() - start;
      least = std::min(least, time.count() / kEach);
    }
    return least;
  };
  const double few = time_each(0), many = time_each(16000);
  EXPECT_LT(many, 10 * few);
  for (const aclmdlRI model : models) EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(GraphTest, KeepsWhatIsFreed) {
  const aclrtStream stream = NewStream();
  DeviceArray<float> one(kCount, 1), two(kCount, 2), out(kCount);
  Begin(stream);
  Add(one, two, out, stream);
  const aclmdlRI model = End(stream);
  one.Free();
  two.Free();
  DeviceArray<float> others(16 * kCount, 5);  // which get other memory
  Run(model, stream);
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << TakeMessage();
  EXPECT_EQ(out.Read(), Floats(kCount, 3));
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(GraphTest, CopiesPinnedMemoryAsItIsThen) {
  const aclrtStream stream = NewStream();
  const PinnedBytes in(kCount), out(kCount);
  DeviceArray<uint8_t> bytes(kCount);
  Begin(stream);
  ASSERT_EQ(
      aclrtMemcpyAsync(bytes.data(), kCount, in.data(), kCount, ACL_MEMCPY_HOST_TO_DEVICE, stream),
      0);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data() + 1, 1, 7, 1, stream), 0);
  ASSERT_EQ(aclrtMemcpy2dAsync(out.data(), 2, bytes.data(), 2, 2, kCount / 2,
                               ACL_MEMCPY_DEVICE_TO_HOST, stream),
            0);
  const aclmdlRI model = End(stream);
  for (const uint8_t value : {1, 2, 3}) {
    std::memset(in.data(), value, kCount);
    Run(model, stream);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << TakeMessage();
    std::vector<uint8_t> expected(kCount, value);
    expected[1] = 7;
    EXPECT_EQ(std::vector<uint8_t>(out.data(), out.data() + kCount), expected);
  }
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(GraphTest, FailsAsItsTasksDo) {
  const aclrtStream stream = NewStream();
  DeviceArray<float> x(kCount, 1);
  int runs = 0;
  OwnOperator own([&runs](void* const*, void*) {
    return ++runs == 2 ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : 0;
  });
  own.Say("x value is bad, expected a good one");
  own.Add("x", OPENACLNN_INPUT, {ACL_FLOAT, {kCount}, {1}}, x.data());
  Begin(stream);
  ASSERT_EQ(own.Launch(stream), 0);
  const aclmdlRI model = End(stream);
  for (const int code : {0, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, 0}) {
    Run(model, stream);
    EXPECT_EQ(aclrtSynchronizeStream(stream), code);
    EXPECT_EQ(TakeMessage().find("aclnnOwn: x value is bad") != std::string::npos, code != 0);
  }
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(GraphTest, ARepeatableExecutorIsCapturedAsItIsBound) {
  const aclrtStream stream = NewStream();
  DeviceArray<float> x(kCount, 1), y(kCount, 2), out(kCount), other(kCount);
  const int64_t dims[] = {kCount}, strides[] = {1};
  const auto tensor = [&](const DeviceArray<float>& of) {
    return aclCreateTensor(dims, 1, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 1, of.data());
  };
  float one = 1;
  aclScalar* alpha = aclCreateScalar(&one, ACL_FLOAT);
  aclTensor *a = tensor(x), *b = tensor(y), *c = tensor(out);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnAddGetWorkspaceSize(a, b, alpha, c, &bytes, &executor), 0);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
  Begin(stream);
  ASSERT_EQ(aclnnAdd(nullptr, 0, executor, stream), 0);
  ASSERT_EQ(aclSetOutputTensorAddr(executor, 0, c, other.data()), 0) << TakeMessage();
  ASSERT_EQ(aclnnAdd(nullptr, 0, executor, stream), 0);
  const aclmdlRI model = End(stream);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  Write(x, 3);
  Run(model, stream);
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(out.Read(), Floats(kCount, 5));
  EXPECT_EQ(other.Read(), Floats(kCount, 5));
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  for (const aclTensor* each : {a, b, c}) aclDestroyTensor(each);
  aclDestroyScalar(alpha);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(GraphTest, RunsOnTheDefaultStreamAndWaits) {
  const aclrtStream stream = NewStream();
  DeviceArray<float> x(kCount), one(kCount, 1);
  Begin(stream);
  Add(x, one, x, stream);
  const aclmdlRI model = End(stream);
  EXPECT_EQ(aclmdlRIExecute(model, -1), 0) << TakeMessage();
  EXPECT_EQ(aclmdlRIExecute(model, 10000), 0) << TakeMessage();
  EXPECT_EQ(x.Read(), Floats(kCount, 2));
  const auto execute = [&](int32_t timeout) {
    return [=] { return aclmdlRIExecute(model, timeout); };
  };
  const int param = ACL_ERROR_RT_PARAM_INVALID;
  ExpectRefused({"aclmdlRIExecute", execute(0), param, "timeout value is 0"});
  ExpectRefused({"aclmdlRIExecute", execute(-2), param, "timeout value is -2"});
  {
    Gate gate(nullptr);
    ExpectRefused({"aclmdlRIExecute", execute(10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                   "stream is not done after 10 ms"});
  }
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(GraphTest, AHostFunctionCannotRunItAndWait) {
  const aclrtStream stream = NewStream();
  DeviceArray<float> x(kCount), one(kCount, 1);
  struct Called {
    aclrtContext context;
    aclmdlRI model;
    int code;
  } called = {};
  ASSERT_EQ(aclrtGetCurrentContext(&called.context), 0);
  Begin(stream);
  Add(x, one, x, stream);
  called.model = End(stream);
  const auto call = [](void* data) {
    auto* const of = static_cast<Called*>(data);
    aclrtSetCurrentContext(of->context);
    of->code = aclmdlRIExecute(of->model, -1);
  };
  ASSERT_EQ(aclrtLaunchHostFunc(nullptr, call, &called), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0) << TakeMessage();
  EXPECT_EQ(called.code, 207006);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0) << TakeMessage();
  EXPECT_EQ(x.Read(), Floats(kCount, 0)) << "what is refused is not launched";
  EXPECT_EQ(aclmdlRIDestroy(called.model), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(GraphTest, GoesWithItsContext) {
  aclrtContext context = nullptr, first = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), 0);
  const aclrtStream stream = NewStream();
  DeviceArray<float> x(kCount), one(kCount, 1);
  ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
  const aclrtStream within = NewStream();
  Begin(within);
  Add(x, one, x, within);
  const aclmdlRI model = End(within);
  Run(model, within);
  ASSERT_EQ(aclrtSetCurrentContext(first), 0);
  ExpectRefused({"aclmdlRIExecuteAsync", [&] { return aclmdlRIExecuteAsync(model, stream); },
                 ACL_ERROR_RT_STREAM_CONTEXT, "stream context is not that of modelRI"});
  ASSERT_EQ(aclrtDestroyContext(context), 0) << TakeMessage();
  EXPECT_EQ(x.Read(), Floats(kCount, 1));
  ExpectRefused({"aclmdlRIDestroy", [&] { return aclmdlRIDestroy(model); },
                 ACL_ERROR_RT_INVALID_HANDLE, "modelRI value is a handle that was destroyed"});
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

// What ends with the runtime is given back, and the next one knows nothing of it.
TEST_F(GraphTest, EndsWithTheRuntime) {
  const aclrtStream stream = NewStream();
  void* data = nullptr;
  ASSERT_EQ(aclrtMalloc(&data, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  Begin(stream);
  ASSERT_EQ(aclrtMemsetAsync(data, 64, 1, 64, stream), 0);
  const aclmdlRI model = End(stream);
  for (int i = 0; i < 3; ++i) Run(model, stream);
  ASSERT_EQ(aclFinalize(), 0) << TakeMessage();
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  ExpectRefused({"aclmdlRIExecuteAsync", [&] { return aclmdlRIExecuteAsync(model, nullptr); },
                 ACL_ERROR_RT_INVALID_HANDLE, "modelRI value is a handle that was destroyed"});
  size_t free = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), 0);
  EXPECT_EQ(free, total);
}

}  // namespace
}  // namespace openaclnn
