// SPDX-License-Identifier: Apache-2.0
// Threads with little stack: what needs more than they have runs elsewhere.
#include "tests/support/small_stack.h"

#include <alloca.h>
#include <pthread.h>
#include <ucontext.h>

#include <array>
#include <atomic>

#include "aclnnop/aclnn_exp.h"
#include "ascendcl/interface.h"
#include "common/stack.h"
#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

/// A task that uses nearly all of the stack that tasks may use.
struct DeepTask {
  std::atomic<int> runs{0};
  std::atomic<pthread_t> thread{};

  [[gnu::noinline]] static void Deepen(size_t left) {
    std::array<volatile char, 4096> frame;
    frame.front() = 1;
    frame.back() = 1;
    if (left > 2 * frame.size()) Deepen(left - frame.size());
    frame.front() = frame.back();
  }
  static int Run(void* state, OpenaclnnMessage*) {
    Deepen(kTaskStack / kStackUnit - (size_t{16} << 10));
    auto& task = *static_cast<DeepTask*>(state);
    task.thread = pthread_self();
    ++task.runs;
    return 0;
  }
  int Launch(aclrtStream stream) {
    const OpenaclnnTask task = {"deep", Run, [](void*) {}, this, nullptr, nullptr};
    OpenaclnnMessage message = {};
    return openaclnn_runtime(OPENACLNN_RUNTIME_INTERFACE)->submit(stream, &task, &message);
  }
};

class SmallStackTest : public RuntimeTest {};

TEST_F(SmallStackTest, WhoSynchronisesLeavesTasksToWorkers) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  DeepTask task;
  test::OnSmallStack([&] {
    EXPECT_FALSE(HasStack(kTaskStack));
    ASSERT_EQ(aclrtSetCurrentContext(context), 0);
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(task.Launch(nullptr), 0);
      ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0) << TakeMessage();
      EXPECT_FALSE(pthread_equal(task.thread, pthread_self()));
    }
    ASSERT_EQ(task.Launch(nullptr), 0);
    ASSERT_EQ(aclrtSynchronizeDevice(), 0) << TakeMessage();
  });
  EXPECT_EQ(task.runs, 21);
}

// Those of the C library's own size, as this one: who synchronises still runs small tasks itself.
TEST_F(SmallStackTest, UsualThreadsHelp) {
  EXPECT_TRUE(HasStack(kTaskStack));
  const StackRange& stack = OwnStack();
  const auto here = reinterpret_cast<uintptr_t>(&stack);
  EXPECT_FALSE(here >= stack.begin && here < stack.end) << "it is the thread's, not on its stack";
  EXPECT_FALSE(HasStack(stack.end - stack.begin)) << "more than is left";
  DeepTask task;
  bool helped = false;
  for (int i = 0; i < 10'000 && !helped; ++i) {
    ASSERT_EQ(task.Launch(nullptr), 0);
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
    helped = pthread_equal(task.thread, pthread_self()) != 0;
  }
  EXPECT_TRUE(helped);
}

/// Calls the body on a thread that has so many bytes of stack left.
template <class Body>
void WithStackLeft(size_t bytes, const Body& body) {
  test::OnSmallStack([&] {
    auto* const taken = static_cast<volatile char*>(alloca(*StackLeft() - bytes));
    *taken = 0;
    body();
  });
}

TEST_F(SmallStackTest, PhaseOneNeedsLittle) {
  const int64_t dim = 4;
  DeviceArray<float> values(4);
  aclTensor* const tensor =
      aclCreateTensor(&dim, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &dim, 1, values.data());
  ASSERT_NE(tensor, nullptr);
  struct Call {
    int code = -1;
    std::string message;
  };
  const auto plan = [&](size_t stack_left) {
    Call call;
    WithStackLeft(stack_left, [&] {
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      call.code = aclnnExpGetWorkspaceSize(tensor, tensor, &size, &executor);
      if (call.code != 0) call.message = TakeMessage();
      if (executor != nullptr) aclDestroyAclOpExecutor(executor);
    });
    return call;
  };
  const Call made = plan(kPlanStack + kStackUnit * 4096);
  EXPECT_EQ(made.code, 0) << made.message;
  const Call refused = plan(kPlanStack - kStackUnit * 4096);
  EXPECT_EQ(refused.code, 361001);
  EXPECT_NE(refused.message.find("aclnnExp: stack of this thread has "), std::string::npos);
  EXPECT_NE(refused.message.find(" bytes left, expected at least "), std::string::npos);
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Coroutines have stacks of which the C library knows nothing.
TEST_F(SmallStackTest, Coroutines) {
  static DeepTask* task;
  static ucontext_t outside, inside;
  DeepTask own;
  task = &own;
  std::vector<char> stack(test::kSmallStack);
  ASSERT_EQ(getcontext(&inside), 0);
  inside.uc_stack.ss_sp = stack.data();
  inside.uc_stack.ss_size = stack.size();
  inside.uc_link = &outside;
  makecontext(
      &inside,
      +[] {
        EXPECT_FALSE(HasStack(0));
        EXPECT_EQ(task->Launch(nullptr), 0);
        EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
      },
      0);
  ASSERT_EQ(swapcontext(&outside, &inside), 0);
  EXPECT_EQ(own.runs, 1);
}
#endif

/// The threads that the C library makes have less than a task needs, as with `ulimit -s 64`.
class SmallDefaultTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pthread_getattr_default_np(&before_), 0);
    pthread_attr_t small = before_;
    ASSERT_EQ(pthread_attr_setstacksize(&small, test::kSmallStack), 0);
    ASSERT_EQ(pthread_setattr_default_np(&small), 0);
    ASSERT_EQ(aclInit(nullptr), 0);
    ASSERT_EQ(aclrtSetDevice(0), 0);
  }
  void TearDown() override {
    EXPECT_EQ(aclFinalize(), 0);
    EXPECT_EQ(pthread_setattr_default_np(&before_), 0);
  }

 private:
  pthread_attr_t before_ = {};
};

// A thread that waits with a deadline runs nothing itself.
TEST_F(SmallDefaultTest, WorkersHaveStacksOfTheirOwn) {
  DeepTask task;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(task.Launch(nullptr), 0);
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(nullptr, 60'000), 0) << TakeMessage();
  }
  EXPECT_EQ(task.runs, 20);
}

TEST_F(SmallDefaultTest, FunctionsOfTheHostHaveThem) {
  DeepTask task;
  const auto run = [](void* state) { DeepTask::Run(state, nullptr); };
  ASSERT_EQ(aclrtLaunchHostFunc(nullptr, run, &task), 0);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(task.runs, 1);
}

}  // namespace
}  // namespace openaclnn
