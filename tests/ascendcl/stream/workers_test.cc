// SPDX-License-Identifier: Apache-2.0
// The threads that run streams: small tasks cut into blocks, and who may run what.
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ascendcl/interface.h"
#include "tests/ascendcl/fixture.h"
#include "tests/ascendcl/threads.h"

namespace openaclnn {
namespace {

const OpenaclnnRuntime& Interface() { return *openaclnn_runtime(OPENACLNN_RUNTIME_INTERFACE); }

class WorkersTest : public RuntimeTest {
 protected:
  /// The runtime anew, with so many threads.
  static void Restart(const char* threads) {
    const Variable variable("OPENACLNN_NUM_THREADS", threads);
    ASSERT_EQ(aclFinalize(), 0);
    ASSERT_EQ(aclInit(nullptr), 0);
    ASSERT_EQ(aclrtSetDevice(0), 0);
  }
  /// Queues `run`, which a task calls with `state`, as an operator's phase 2 does.
  static void Submit(aclrtStream stream, int (*run)(void*, OpenaclnnMessage*), void* state) {
    const OpenaclnnTask task = {"test", run, [](void*) {}, state, nullptr, nullptr};
    OpenaclnnMessage message = {};
    ASSERT_EQ(Interface().submit(stream, &task, &message), 0) << message.text;
  }
};

/// A task that shares out one small job after the other: a worker that looks for work most often
/// finds a job of which the last block is just being taken, and no stream that is ready.
struct SmallJobs {
#if defined(__SANITIZE_THREAD__)
  static constexpr uint64_t kJobs = 100'000;  // slower, and as likely to fail
#else
  static constexpr uint64_t kJobs = 500'000;
#endif
  static constexpr uint64_t kBlocks = 2;

  static int Run(void* state, OpenaclnnMessage*) {
    for (uint64_t job = 0; job < kJobs; ++job) {
      Interface().parallel_for(
          kBlocks, /*is_long=*/static_cast<int>(job % 2),
          [](void* self, uint64_t) {
            static_cast<SmallJobs*>(self)->blocks.fetch_add(1, std::memory_order_relaxed);
          },
          state);
    }
    return 0;
  }

  std::atomic<uint64_t> blocks{0};
};

// Whoever runs it: this thread while it synchronises, or a worker.
TEST_F(WorkersTest, TaskThatThrows) {
  aclrtStream stream = NewStream();
  const auto throws = [](void*, OpenaclnnMessage*) -> int { throw std::runtime_error("test"); };
  std::atomic<int> runs{0};
  const auto counts = [](void* counter, OpenaclnnMessage*) {
    static_cast<std::atomic<int>*>(counter)->fetch_add(1);
    return 0;
  };
  for (const int timeout : {-1, 10'000}) {
    Submit(stream, throws, nullptr);
    Submit(stream, counts, &runs);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, timeout), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, timeout), 0) << TakeMessage();
  }
  EXPECT_EQ(runs, 2) << "the stream goes on";
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(WorkersTest, ManySmallJobs) {
  Restart("8");
  constexpr int kStreams = 3;
  SmallJobs jobs[kStreams];
  aclrtStream streams[kStreams];
  for (int i = 0; i < kStreams; ++i) {
    streams[i] = NewStream();
    Submit(streams[i], SmallJobs::Run, &jobs[i]);
  }
  for (int i = 0; i < kStreams; ++i) {
    EXPECT_EQ(aclrtSynchronizeStream(streams[i]), 0) << TakeMessage();
    EXPECT_EQ(jobs[i].blocks, SmallJobs::kJobs * SmallJobs::kBlocks);
    EXPECT_EQ(aclrtDestroyStream(streams[i]), 0);
  }
}

/// A task that tells which thread runs it, and may hold that thread.
struct Visit {
  static int Run(void* state, OpenaclnnMessage*) {
    auto* self = static_cast<Visit*>(state);
    self->thread = std::this_thread::get_id();
    self->runs.fetch_add(1);
    while (self->hold) std::this_thread::yield();
    return 0;
  }

  std::atomic<bool> hold{false};
  std::atomic<int> runs{0};
  std::thread::id thread;
};

TEST_F(WorkersTest, ThreadsComeWithADeviceAndGoWithTheRuntime) {
  ASSERT_EQ(aclFinalize(), 0);
  const size_t before = CountThreads();
  for (const size_t threads : {3, 2}) {
    const Variable variable("OPENACLNN_NUM_THREADS", std::to_string(threads).c_str());
    ASSERT_EQ(aclInit(nullptr), 0);
    EXPECT_EQ(CountThreads(), before) << "no device is set yet";
    ASSERT_EQ(aclrtSetDevice(0), 0);
    aclrtStream stream = NewStream();
    Visit visit;
    Submit(stream, Visit::Run, &visit);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 60'000), 0) << TakeMessage();
    EXPECT_EQ(CountThreads(), before + threads);
    ASSERT_EQ(aclFinalize(), 0);
    EXPECT_EQ(SettledThreads(before), before);
  }
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
}

TEST_F(WorkersTest, SynchronizeWithoutTimeoutHelps) {
  Restart("1");
  aclrtStream stream = NewStream();
  Visit visit;
  // Whether this thread is faster than the worker that is being woken is a matter of luck.
  for (int i = 0; i < 100'000 && visit.thread != std::this_thread::get_id(); ++i) {
    Submit(stream, Visit::Run, &visit);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << TakeMessage();
  }
  EXPECT_EQ(visit.thread, std::this_thread::get_id());
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

// A task cannot be left in the middle: who helps may return long after its time.
TEST_F(WorkersTest, SynchronizeWithTimeoutDoesNotHelp) {
  for (const char* threads : {"1", "4"}) {
    Restart(threads);
    aclrtStream stream = NewStream();
    Visit visit;
    for (int i = 0; i < 3000; ++i) {
      Submit(stream, Visit::Run, &visit);
      const int status = i % 2 == 0 ? aclrtSynchronizeStreamWithTimeout(stream, 60'000)
                                    : aclrtSynchronizeDeviceWithTimeout(60'000);
      ASSERT_EQ(status, 0) << TakeMessage();
      ASSERT_NE(visit.thread, std::this_thread::get_id()) << i;
    }
    EXPECT_EQ(aclrtDestroyStream(stream), 0);
  }
}

TEST_F(WorkersTest, TimeoutComesInTimeWhileTheOnlyWorkerIsHeld) {
  using std::chrono::milliseconds;
  Restart("1");
  aclrtStream held = NewStream(), waiting = NewStream();
  Visit holder, visit;
  holder.hold = true;
  Submit(held, Visit::Run, &holder);
  while (holder.runs == 0) std::this_thread::yield();
  Submit(waiting, Visit::Run, &visit);
  for (const int32_t timeout : {0, 1, 40}) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(waiting, timeout),
              ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(held, timeout), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(timeout), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    const auto time = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(time, milliseconds(3 * timeout));
    EXPECT_LT(time, std::chrono::minutes(1)) << "a machine is never that busy";
  }
  EXPECT_EQ(visit.runs, 0);
  holder.hold = false;
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(waiting, 60'000), 0) << TakeMessage();
  EXPECT_EQ(visit.runs, 1);
  EXPECT_EQ(aclrtDestroyStream(held), 0);
  EXPECT_EQ(aclrtDestroyStream(waiting), 0);
}

/// A task whose job has blocks that wait until they are let go, and says how many wait.
struct HeldJob {
  static int Run(void* state, OpenaclnnMessage*) {
    auto* self = static_cast<HeldJob*>(state);
    Interface().parallel_for(self->blocks, /*is_long=*/1, Block, self);
    self->done = true;
    return 0;
  }
  static void Block(void* state, uint64_t) {
    auto* self = static_cast<HeldJob*>(state);
    self->waiting.fetch_add(1);
    while (self->hold) std::this_thread::yield();
    self->waiting.fetch_sub(1);
  }

  uint64_t blocks;
  std::atomic<bool> hold{true};
  std::atomic<bool> done{false};
  std::atomic<uint64_t> waiting{0};
};

/// Whether it comes to be so; a minute is more than any machine needs.
template <typename Condition>
bool Comes(Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Behind a job of which all blocks are taken waits another. Threads find it, and it ends first.
// Others may take both blocks before the job's own thread does, which then waits for them.
TEST_F(WorkersTest, JobsWait) {
  Restart("5");
  aclrtStream first = NewStream(), second = NewStream();
  HeldJob taken{.blocks = 2};
  Submit(first, HeldJob::Run, &taken);
  EXPECT_TRUE(Comes([&] { return taken.waiting == 2; }));
  for (int i = 0; i < 3; ++i) {
    HeldJob waits{.blocks = 2};
    Submit(second, HeldJob::Run, &waits);
    EXPECT_TRUE(Comes([&] { return waits.waiting == 2; })) << "two threads are left, or three";
    EXPECT_EQ(taken.waiting, 2U);
    waits.hold = false;
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(second, 60'000), 0) << TakeMessage();
    EXPECT_TRUE(waits.done);
    EXPECT_FALSE(taken.done);
  }
  taken.hold = false;
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(first, 60'000), 0) << TakeMessage();
  EXPECT_TRUE(taken.done);
  EXPECT_EQ(aclrtDestroyStream(first), 0);
  EXPECT_EQ(aclrtDestroyStream(second), 0);
}

// No fewer tasks run at once than there are to be threads, and no more; the same of blocks, of
// threads that sleep when the job comes.
TEST_F(WorkersTest, AsManyTasks) {
  for (const uint64_t threads : {1, 2, 3}) {
    SCOPED_TRACE(threads);
    Restart(std::to_string(threads).c_str());
    HeldJob one{.blocks = 1};  // of each stream: all wait for the same
    std::vector<aclrtStream> streams(threads + 1);
    for (aclrtStream& stream : streams) {
      stream = NewStream();
      Submit(stream, HeldJob::Run, &one);
    }
    EXPECT_TRUE(Comes([&] { return one.waiting == threads; }));
    std::thread client([&] {
      ASSERT_EQ(aclrtSetDevice(0), 0);
      EXPECT_EQ(aclrtSynchronizeStream(streams.back()), 0) << TakeMessage();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(one.waiting, threads) << "who synchronises is one of them, or waits";
    one.hold = false;
    client.join();
    for (aclrtStream stream : streams) {
      EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 60'000), 0) << TakeMessage();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    HeldJob many{.blocks = 2 * threads};
    Submit(streams[0], HeldJob::Run, &many);
    EXPECT_TRUE(Comes([&] { return many.waiting == threads; }));
    many.hold = false;
    for (aclrtStream stream : streams) {
      EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 60'000), 0) << TakeMessage();
      EXPECT_EQ(aclrtDestroyStream(stream), 0);
    }
  }
}

/// A task on a worker whose job has a block for whoever synchronises.
struct SharedJob {
  static int Run(void* state, OpenaclnnMessage*) {
    auto* self = static_cast<SharedJob*>(state);
    Interface().parallel_for(64, /*is_long=*/0, Block, self);
    return 0;
  }
  // A worker's block lasts until the client has one, too, or for some time.
  static void Block(void* state, uint64_t) {
    auto* self = static_cast<SharedJob*>(state);
    self->begun = true;
    if (std::this_thread::get_id() == self->client) self->helped = true;
    while (!self->helped && std::chrono::steady_clock::now() < self->end) {
      std::this_thread::yield();
    }
    self->blocks.fetch_add(1);
  }

  const std::thread::id client = std::this_thread::get_id();
  const std::chrono::steady_clock::time_point end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  std::atomic<bool> begun{false}, helped{false};
  std::atomic<int> blocks{0};
};

// A task that another thread runs is waited for until who helped with its blocks is done, too.
TEST_F(WorkersTest, SynchronizeHelpsWithBlocks) {
  Restart("16");
  aclrtStream stream = NewStream();
  bool helped = false;
  // This thread has to come before the last of the other workers.
  for (int i = 0; i < 500 && !helped; ++i) {
    SharedJob job;
    Submit(stream, SharedJob::Run, &job);
    ASSERT_TRUE(Comes([&] { return job.begun.load(); }));
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << TakeMessage();
    ASSERT_EQ(job.blocks, 64);
    helped = job.helped;
  }
  EXPECT_TRUE(helped);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

// What is not shared out is nobody's business: others launch and compute meanwhile.
TEST_F(WorkersTest, OneBlockKeepsNobody) {
  Restart("2");
  aclrtStream held = NewStream(), other = NewStream();
  HeldJob one{.blocks = 1};
  Submit(held, HeldJob::Run, &one);
  EXPECT_TRUE(Comes([&] { return one.waiting == 1; }));
  std::atomic<bool> ended{false};
  Visit visit;
  std::thread launches([&] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    Submit(other, Visit::Run, &visit);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other, 60'000), 0) << TakeMessage();
    ended = true;
  });
  EXPECT_TRUE(Comes([&] { return ended.load(); }));
  one.hold = false;
  launches.join();
  EXPECT_EQ(visit.runs, 1);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(held, 60'000), 0) << TakeMessage();
  EXPECT_EQ(aclrtDestroyStream(held), 0);
  EXPECT_EQ(aclrtDestroyStream(other), 0);
}

/// The signals up to SIGSYS that the calling thread blocks.
std::set<int> Blocked() {
  sigset_t mask{};
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  std::set<int> blocked;
  for (int number = 1; number <= SIGSYS; ++number) {
    if (sigismember(&mask, number) == 1) blocked.insert(number);
  }
  return blocked;
}

// Handlers of the program run on its own threads. Host functions are the program's: what they start
// inherits the mask of the thread that launched them.
TEST_F(WorkersTest, SignalsAreLeftToTheProgram) {
  Restart("2");
  aclrtStream stream = NewStream();
  std::set<int> seen;
  const auto look = [](void* state, OpenaclnnMessage*) {
    *static_cast<std::set<int>*>(state) = Blocked();
    return 0;
  };
  Submit(stream, look, &seen);
  ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 60'000), 0) << "on a worker";
  for (int number = 1; number <= SIGSYS; ++number) {
    const std::set<int> own = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    const bool never = number == SIGKILL || number == SIGSTOP;
    EXPECT_EQ(seen.contains(number), !never && !own.contains(number)) << strsignal(number);
  }
  sigset_t user{};
  sigemptyset(&user);
  sigaddset(&user, SIGUSR2);
  for (const int how : {SIG_BLOCK, SIG_UNBLOCK}) {
    ASSERT_EQ(pthread_sigmask(how, &user, nullptr), 0);
    const auto run = [](void* state) { *static_cast<std::set<int>*>(state) = Blocked(); };
    ASSERT_EQ(aclrtLaunchHostFunc(stream, run, &seen), 0);
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    EXPECT_EQ(seen, Blocked());
    EXPECT_EQ(seen.contains(SIGUSR2), how == SIG_BLOCK);
  }
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

}  // namespace
}  // namespace openaclnn
