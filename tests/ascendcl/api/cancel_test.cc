// SPDX-License-Identifier: Apache-2.0
// Cancelled threads: where a call waits they end, and leave what it waited for as it was; all else
// is done to its end.
#include <pthread.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>

#include "aclnnop/aclnn_add.h"
#include "tests/ascendcl/inside.h"

namespace openaclnn {
namespace {

struct Wait {
  const char* name;
  int (*call)(aclrtStream stream, aclrtEvent event);
};

const Wait kWaits[] = {
    {"Stream", [](aclrtStream stream, aclrtEvent) { return aclrtSynchronizeStream(stream); }},
    {"StreamForAWhile",
     [](aclrtStream stream, aclrtEvent) {
       return aclrtSynchronizeStreamWithTimeout(stream, 100'000);
     }},
    {"Device", [](aclrtStream, aclrtEvent) { return aclrtSynchronizeDevice(); }},
    {"Event", [](aclrtStream, aclrtEvent event) { return aclrtSynchronizeEvent(event); }},
};

class CancelTest : public HangTest<RuntimeTest>, public testing::WithParamInterface<Wait> {
 protected:
  struct Caller {
    aclrtContext context;
    aclrtStream stream;
    aclrtEvent event;
  };
  static void* Call(void* argument) {
    const Caller caller = *static_cast<Caller*>(argument);
    (void)aclrtSetCurrentContext(caller.context);
    (void)GetParam().call(caller.stream, caller.event);
    return nullptr;
  }
  /// What a thread ended with that was cancelled in the call, or before it.
  static void* Cancelled(Caller caller, std::chrono::milliseconds after) {
    pthread_t thread{};
    void* ended = nullptr;
    EXPECT_EQ(pthread_create(&thread, nullptr, Call, &caller), 0);
    std::this_thread::sleep_for(after);
    EXPECT_EQ(pthread_cancel(thread), 0);
    EXPECT_EQ(pthread_join(thread, &ended), 0);
    return ended;
  }
};

TEST_P(CancelTest, EndsTheThreadWhereItWaits) {
  Caller caller{nullptr, first, event};
  ASSERT_EQ(aclrtGetCurrentContext(&caller.context), 0);
  PinnedBytes bytes(1);
  for (const int after : {0, 1, 20}) {
    Gate gate(first);
    gate.AwaitReached();
    ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 1, after, 1, first), 0);
    ASSERT_EQ(aclrtRecordEvent(event, first), 0);
    EXPECT_EQ(Cancelled(caller, std::chrono::milliseconds(after)), PTHREAD_CANCELED);
    gate.Open();
    ASSERT_EQ(aclrtSynchronizeStream(first), 0) << TakeMessage();
    EXPECT_EQ(bytes.data()[0], after);
  }
}

INSTANTIATE_TEST_SUITE_P(Waits, CancelTest, testing::ValuesIn(kWaits),
                         [](const auto& info) { return std::string(info.param.name); });

/// Of whom a trace is made.
class TracedCancelTest : public CancelTest {
 protected:
  ~TracedCancelTest() override { std::filesystem::remove(file_); }

 private:
  const std::string file_ = testing::TempDir() + "openaclnn_cancel_" + std::to_string(getpid());
  const Variable trace_{"OPENACLNN_TRACE", file_.c_str()};
};

// What was noted of a call that does not return is nobody's: AddressSanitizer would find it.
TEST_P(TracedCancelTest, LeavesNoNotes) {
  Caller caller{nullptr, first, event};
  ASSERT_EQ(aclrtGetCurrentContext(&caller.context), 0);
  Gate gate(first);
  gate.AwaitReached();
  ASSERT_EQ(aclrtRecordEvent(event, first), 0);
  EXPECT_EQ(Cancelled(caller, std::chrono::milliseconds(1)), PTHREAD_CANCELED);
}

INSTANTIATE_TEST_SUITE_P(Waits, TracedCancelTest, testing::ValuesIn(kWaits),
                         [](const auto& info) { return std::string(info.param.name); });

/// A program's function that waits for a stream, which is held, and destroyed at the end.
class HeldWait {
 public:
  explicit HeldWait(aclrtStream stream) : stream_(stream), gate_(stream) { gate_.AwaitReached(); }
  HeldWait(const HeldWait&) = delete;
  ~HeldWait() {
    gate_.Open();
    EXPECT_EQ(aclrtDestroyStream(stream_), 0) << TakeMessage();
  }

  static void Run(void* argument) {
    auto* wait = static_cast<HeldWait*>(argument);
    wait->begun_ = true;
    (void)aclrtSynchronizeStreamWithTimeout(wait->stream_, 5'000);
    wait->ended_ = true;
  }
  void AwaitBegun() const {
    while (!begun_) std::this_thread::yield();
  }
  void OpenSoon() { gate_.OpenSoon(); }
  bool ended() const { return ended_; }

 private:
  const aclrtStream stream_;
  Gate gate_;
  std::atomic<bool> begun_{false}, ended_{false};
};

/// A thread that serves a stream, and is cancelled.
class CancelledSubscriberTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    stream_ = NewStream();
    ASSERT_EQ(aclrtGetCurrentContext(&context_), 0);
    ASSERT_EQ(pthread_create(&thread_, nullptr, Serve, this), 0);
    while (subscribed_ < 0) std::this_thread::yield();
    ASSERT_EQ(subscribed_, 0);
  }

  void CancelIt() {
    void* ended = nullptr;
    ASSERT_EQ(pthread_cancel(thread_), 0);
    ASSERT_EQ(pthread_join(thread_, &ended), 0);
    EXPECT_EQ(ended, PTHREAD_CANCELED);
  }
  void ExpectFree() {
    EXPECT_EQ(aclrtSynchronizeStream(stream_), 0) << TakeMessage();
    EXPECT_EQ(aclrtDestroyStream(stream_), 0) << TakeMessage();
  }

  aclrtStream stream_ = nullptr;

 private:
  static void* Serve(void* argument) {
    auto& test = *static_cast<CancelledSubscriberTest*>(argument);
    (void)aclrtSetCurrentContext(test.context_);
    test.subscribed_ = aclrtSubscribeReport(pthread_self(), test.stream_);
    while (aclrtProcessReport(-1) == 0) continue;
    return nullptr;
  }

  aclrtContext context_ = nullptr;
  pthread_t thread_{};
  std::atomic<int> subscribed_{-1};  // the call's code
};

TEST_F(CancelledSubscriberTest, LeavesItsStream) {
  CancelIt();
  ExpectFree();
}

// A call in a program's function is a call: where it waits the thread may end.
TEST_F(CancelledSubscriberTest, EndsWhereItsCallbackWaits) {
  HeldWait wait(NewStream());
  ASSERT_EQ(aclrtLaunchCallback(HeldWait::Run, &wait, ACL_CALLBACK_BLOCK, stream_), 0);
  wait.AwaitBegun();
  CancelIt();
  EXPECT_FALSE(wait.ended());
  ExpectFree();
}

// It is told of the failure in the midst of its stream's work, which is done to its end.
TEST_F(CancelledSubscriberTest, EndsBehindTheExceptionCallback) {
  static HeldWait* wait = nullptr;
  HeldWait here(NewStream());
  wait = &here;
  ASSERT_EQ(aclrtSetExceptionInfoCallback([](aclrtExceptionInfo*) {
              pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
              HeldWait::Run(wait);
            }),
            0);
  ASSERT_EQ(aclrtLaunchCallback([](void*) { throw 1; }, nullptr, ACL_CALLBACK_BLOCK, stream_), 0);
  here.AwaitBegun();
  here.OpenSoon();
  CancelIt();
  EXPECT_TRUE(here.ended());
  EXPECT_EQ(aclrtSetExceptionInfoCallback(nullptr), 0);
  EXPECT_NE(aclrtSynchronizeStream(stream_), 0) << "what the callback threw";
  EXPECT_EQ(aclrtDestroyStream(stream_), 0) << TakeMessage();
}

/// A call of a thread that is cancelled already; what it returns, which a thread that ends in it
/// does not tell.
class CancelledCallTest : public RuntimeTest {
 protected:
  template <class Call>
  static int Code(Call&& call) {
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&context), 0);
    int code = -1;
    std::thread([&] {
      EXPECT_EQ(aclrtSetCurrentContext(context), 0);
      pthread_cancel(pthread_self());
      code = call();
      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    }).join();
    return code;
  }
};

TEST_F(CancelledCallTest, ClosesTheFileOfMemory) {
  constexpr size_t kBytes = size_t{2} << 20;
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  for (int i = 0; i < 2; ++i) {
    aclrtDrvMemHandle memory = nullptr;
    void* range = nullptr;
    ASSERT_EQ(aclrtMallocPhysical(&memory, kBytes, &prop, 0), 0);
    ASSERT_EQ(aclrtReserveMemAddress(&range, kBytes, 0, nullptr, 1), 0);
    ASSERT_EQ(aclrtMapMem(range, kBytes, 0, memory, 0), 0);
    const auto unmap = [&] { return aclrtUnmapMem(range); };
    const auto free = [&] { return aclrtFreePhysical(memory); };
    if (i == 0) {
      EXPECT_EQ(aclrtUnmapMem(range), 0);
      EXPECT_EQ(Code(free), 0);
    } else {
      EXPECT_EQ(aclrtFreePhysical(memory), 0);
      EXPECT_EQ(Code(unmap), 0);
    }
    EXPECT_EQ(aclrtReleaseMemAddress(range), 0);
  }
}

TEST_F(CancelledCallTest, KeepsItsMemoryForTheCopy) {
  const aclrtStream stream = NewStream();
  DeviceArray<float> device(1000);
  std::vector<float> host(1000, 3);
  Gate gate(stream);
  gate.OpenSoon();
  EXPECT_EQ(Code([&] {
              return aclrtMemcpyAsync(device.data(), device.bytes(), host.data(), device.bytes(),
                                      ACL_MEMCPY_HOST_TO_DEVICE, stream);
            }),
            0);
  EXPECT_EQ(device.Read(), host);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(CancelledCallTest, EndsAContextWhole) {
  aclrtContext before = nullptr, context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&before), 0);
  ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
  const aclrtStream stream = NewStream();
  ASSERT_EQ(aclrtSetCurrentContext(context), 0);
  Gate gate(stream);
  gate.OpenSoon();
  EXPECT_EQ(Code([&] { return aclrtDestroyContext(context); }), 0);
  ASSERT_EQ(aclrtSetCurrentContext(before), 0);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(CancelledCallTest, EndsAStreamWhole) {
  const aclrtStream stream = NewStream();
  Gate gate(stream);
  gate.OpenSoon();
  EXPECT_EQ(Code([&] { return aclrtDestroyStream(stream); }), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
}

// With ASCEND_LAUNCH_BLOCKING the task is the stream's while phase 2 waits.
class BlockingLaunchTest : public CancelledCallTest {
  const Variable blocking_{"ASCEND_LAUNCH_BLOCKING", "1"};
};

TEST_F(BlockingLaunchTest, LeavesTheTaskToTheStream) {
  const aclrtStream stream = NewStream();
  DeviceArray<float> x(4, 2), out(4);
  const int64_t four = 4, one = 1;
  float alpha = 1;
  const auto tensor = [&](float* data) {
    return aclCreateTensor(&four, 1, ACL_FLOAT, &one, 0, ACL_FORMAT_ND, &four, 1, data);
  };
  aclTensor* const in = tensor(x.data());
  aclTensor* const sum = tensor(out.data());
  aclScalar* const scale = aclCreateScalar(&alpha, ACL_FLOAT);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnAddGetWorkspaceSize(in, in, scale, sum, &bytes, &executor), 0) << TakeMessage();
  Gate gate(stream);
  gate.OpenSoon();
  EXPECT_EQ(Code([&] { return aclnnAdd(nullptr, 0, executor, stream); }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(out.Read(), std::vector<float>(4, 4));
  EXPECT_EQ(aclDestroyTensor(in), 0);
  EXPECT_EQ(aclDestroyTensor(sum), 0);
  EXPECT_EQ(aclDestroyScalar(scale), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

// It is the thread's: the program's function is called in it as by the program.
TEST_F(CancelledCallTest, CallbackThatChoosesForItsThread) {
  const aclrtStream stream = NewStream();
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), 0);
  for (const int chosen : {PTHREAD_CANCEL_DISABLE, PTHREAD_CANCEL_ENABLE}) {
    const auto choose = [](void* state) {
      pthread_setcancelstate(*static_cast<const int*>(state), nullptr);
    };
    int state = chosen, kept = -1;
    ASSERT_EQ(aclrtLaunchCallback(choose, &state, ACL_CALLBACK_BLOCK, stream), 0);
    ASSERT_EQ(aclrtProcessReport(10'000), 0) << TakeMessage();
    pthread_setcancelstate(chosen, &kept);
    EXPECT_EQ(kept, chosen);
  }
  EXPECT_EQ(aclrtUnSubscribeReport(pthread_self(), stream), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

// What a host function chooses is not the next one's, which may have the same thread.
TEST_F(CancelledCallTest, HostFunctionThatChoosesForItsThread) {
  const aclrtStream stream = NewStream();
  for (int i = 0; i < 20; ++i) {
    struct {
      int state = -1, type = -1;
    } found;
    const auto choose = [](void* argument) {
      auto* before = static_cast<decltype(found)*>(argument);
      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->state);
      pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before->type);
    };
    ASSERT_EQ(aclrtLaunchHostFunc(stream, choose, &found), 0);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << TakeMessage();
    EXPECT_EQ(found.state, PTHREAD_CANCEL_ENABLE);
    EXPECT_EQ(found.type, PTHREAD_CANCEL_DEFERRED);
  }
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

// The thread ends with its function, not in the next one's.
TEST_F(CancelledCallTest, HostFunctionThatCancelsItsThread) {
  const aclrtStream stream = NewStream();
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(aclrtLaunchHostFunc(
                  stream, [](void*) { pthread_cancel(pthread_self()); }, nullptr),
              0);
    std::atomic<bool> ran{false};
    ASSERT_EQ(aclrtLaunchHostFunc(
                  stream,
                  [](void* argument) {
                    usleep(100);
                    *static_cast<std::atomic<bool>*>(argument) = true;
                  },
                  &ran),
              0);
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20'000), 0) << TakeMessage();
    EXPECT_TRUE(ran);
  }
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

}  // namespace
}  // namespace openaclnn
