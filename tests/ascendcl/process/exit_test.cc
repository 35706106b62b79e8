// SPDX-License-Identifier: Apache-2.0
// Programs that end in the middle of their work, and without aclFinalize: at once, and with the
// exit code that they give.
#include <unistd.h>

#include <thread>

#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

constexpr int kCode = 42;

class ExitTest : public testing::Test {
 protected:
  ExitTest() {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";  // in a process that has none yet
  }
  template <class Program>
  static void Expect(const Program& program) {
    EXPECT_EXIT(
        {
          alarm(60);  // a hang is a failure
          aclrtStream stream = nullptr;
          if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) std::_Exit(1);
          if (aclrtCreateStream(&stream) != 0) std::_Exit(2);
          program(stream);
          std::_Exit(3);
        },
        testing::ExitedWithCode(kCode), "");
  }
  static void Exit(void*) { std::exit(kCode); }
};

TEST_F(ExitTest, WithWorkInItsQueue) {
  Expect([](aclrtStream stream) {
    auto* const gradient = new Gradient(0, 1000);
    for (int i = 0; i < 1000; ++i) {
      if (gradient->Launch(stream) != 0) return;
    }
    std::exit(kCode);
  });
}

TEST_F(ExitTest, WhileAThreadWaits) {
  Expect([](aclrtStream stream) {
    static const auto* const gate = new Gate(stream);
    const_cast<Gate*>(gate)->AwaitReached();
    aclrtContext context = nullptr;
    if (aclrtGetCurrentContext(&context) != 0) return;
    std::thread([=] {
      if (aclrtSetCurrentContext(context) == 0) (void)aclrtSynchronizeStream(stream);
      std::_Exit(4);
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::exit(kCode);
  });
}

TEST_F(ExitTest, InAHostFunction) {
  Expect([](aclrtStream stream) {
    if (aclrtLaunchHostFunc(stream, Exit, nullptr) == 0) (void)aclrtSynchronizeStream(stream);
  });
}

TEST_F(ExitTest, InACallback) {
  Expect([](aclrtStream stream) {
    if (aclrtSubscribeReport(pthread_self(), stream) != 0) return;
    if (aclrtLaunchCallback(Exit, nullptr, ACL_CALLBACK_BLOCK, stream) != 0) return;
    (void)aclrtProcessReport(10'000);
  });
}

TEST_F(ExitTest, FromAThreadWhileOthersCall) {
  Expect([](aclrtStream) {
    aclrtContext context = nullptr;
    if (aclrtGetCurrentContext(&context) != 0) return;
    for (int i = 0; i < 3; ++i) {
      std::thread([=] {
        if (aclrtSetCurrentContext(context) != 0) std::_Exit(5);
        while (true) {
          void* memory = nullptr;
          if (aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 0) std::_Exit(6);
          if (aclrtMemsetAsync(memory, 64, 1, 64, nullptr) != 0) std::_Exit(7);
          if (aclrtFree(memory) != 0) std::_Exit(8);
        }
      }).detach();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::thread([] { std::exit(kCode); }).join();
  });
}

}  // namespace
}  // namespace openaclnn
