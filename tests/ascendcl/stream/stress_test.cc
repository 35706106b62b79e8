// SPDX-License-Identifier: Apache-2.0
// Eight threads by eight streams: events between them, callbacks, copies, frees of queued memory.
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <random>
#include <string_view>
#include <thread>

#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

constexpr int kThreads = 8;
constexpr int kStreams = 8;
constexpr int kRounds = 60;
constexpr size_t kBytes = 1024;

class StressTest : public RuntimeTest {
 protected:
  /// One thread's share: streams of its own, whose chains of events cross.
  void Work(int thread);
  /// A copy through memory that is freed while it is queued; a host function looks at the result.
  void CopyThroughFreedMemory(aclrtStream stream, int value);

  static void Count(void* argument) { static_cast<std::atomic<int>*>(argument)->fetch_add(1); }

  aclrtContext context = nullptr;
  std::array<std::atomic<aclrtEvent>, kThreads> published{};
  std::atomic<int> host_functions{0}, callbacks{0}, launched{0}, mismatches{0};
};

struct Expected {
  std::unique_ptr<PinnedBytes> bytes;
  unsigned char value;
  std::atomic<int>* mismatches;

  static void Check(void* argument) {
    const std::unique_ptr<Expected> self(static_cast<Expected*>(argument));
    for (size_t i = 0; i < kBytes; ++i) {
      if (self->bytes->data()[i] != self->value) self->mismatches->fetch_add(1);
    }
  }
};

void StressTest::CopyThroughFreedMemory(aclrtStream stream, int value) {
  auto expected = std::make_unique<Expected>();
  expected->bytes = std::make_unique<PinnedBytes>(kBytes);
  expected->value = static_cast<unsigned char>(value);
  expected->mismatches = &mismatches;
  DeviceArray<uint8_t> first(kBytes), second(kBytes);
  ASSERT_EQ(aclrtMemsetAsync(first.data(), kBytes, value, kBytes, stream), 0);
  ASSERT_EQ(aclrtMemcpyAsync(second.data(), kBytes, first.data(), kBytes,
                             ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
            0);
  ASSERT_EQ(aclrtMemcpyAsync(expected->bytes->data(), kBytes, second.data(), kBytes,
                             ACL_MEMCPY_DEVICE_TO_HOST, stream),
            0);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, Expected::Check, expected.release()), 0);
  // With full, freeing what is queued is told as the mistake that it is.
  const char* const check = std::getenv("OPENACLNN_CHECK");
  if (check != nullptr && std::string_view(check) == "full") (void)aclrtSynchronizeStream(stream);
}

void StressTest::Work(int thread) {
  ASSERT_EQ(aclrtSetCurrentContext(context), 0);
  std::mt19937 random(thread);
  std::array<aclrtStream, kStreams> streams;
  std::array<aclrtEvent, kStreams> events;
  for (aclrtStream& stream : streams) stream = NewStream();
  for (aclrtEvent& event : events) event = NewEvent();
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), streams[0]), 0);
  // Each stream writes outputs of its own.
  std::array<std::unique_ptr<Gradient>, kStreams> good, bad;
  for (auto& gradient : good) gradient = std::make_unique<Gradient>(thread % 2);
  for (auto& gradient : bad) gradient = std::make_unique<Gradient>(Gradient::kOutOfRange);
  for (int round = 0; round < kRounds; ++round) {
    const size_t at = random() % kStreams, next = random() % kStreams;
    CopyThroughFreedMemory(streams[at], round);
    ASSERT_EQ((random() % 4 == 0 ? bad : good)[at]->Launch(streams[at]), 0) << TakeMessage();
    ASSERT_EQ(aclrtRecordEvent(events[at], streams[at]), 0);
    ASSERT_EQ(aclrtStreamWaitEvent(streams[next], events[at]), 0);
    if (aclrtEvent other = published[random() % kThreads]) {
      ASSERT_EQ(aclrtStreamWaitEvent(streams[next], other), 0);
    }
    published[thread] = events[at];
    if (round % 8 == 0) {
      ASSERT_EQ(aclrtLaunchCallback(Count, &callbacks, ACL_CALLBACK_BLOCK, streams[0]), 0);
      ASSERT_EQ(aclrtProcessReport(60'000), 0) << TakeMessage();
    }
    ASSERT_EQ(aclrtLaunchHostFunc(streams[next], Count, &host_functions), 0);
    ++launched;
    if (round % 16 == 0) aclrtSynchronizeEvent(events[at]);
    if (round % 10 == 0) aclrtSynchronizeStream(streams[next]);
    if (round % 20 == 0) aclrtSynchronizeStreamWithTimeout(streams[at], 1);
  }
  for (aclrtStream stream : streams) {
    const int status = aclrtSynchronizeStream(stream);
    EXPECT_TRUE(status == 0 || status == ACL_ERROR_RT_VECTOR_CORE_EXCEPTION) << TakeMessage();
  }
  for (const auto& gradient : good) {
    const float value = gradient->out().Read()[thread % 2 * 4];
    EXPECT_TRUE(value == 1.0F || value == 7.0F) << value;  // 7 where no stream ran it
  }
  for (const auto& gradient : bad) {
    EXPECT_EQ(gradient->out().Read(), std::vector<float>(8, 7.0F));
  }
  for (aclrtStream stream : streams) EXPECT_EQ(aclrtDestroyStream(stream), 0);
  // Other threads may still wait for these.
  for (size_t i = 0; i < kStreams; ++i) {
    if (published[thread] != events[i]) {
      EXPECT_EQ(aclrtDestroyEvent(events[i]), 0);
    }
  }
}

TEST_F(StressTest, ThreadsByStreams) {
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  const size_t before = FreeMemory();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([this, i] { Work(i); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(aclrtSynchronizeDevice(), 0) << TakeMessage();
  EXPECT_EQ(mismatches, 0);
  EXPECT_EQ(host_functions, launched);
  EXPECT_EQ(callbacks, kThreads * ((kRounds + 7) / 8));
  EXPECT_EQ(FreeMemory(), before);
  for (const auto& event : published) EXPECT_EQ(aclrtDestroyEvent(event), 0);
}

// One stream that all threads feed and synchronise at the same time.
TEST_F(StressTest, ThreadsOnOneStream) {
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  aclrtStream stream = NewStream();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      ASSERT_EQ(aclrtSetCurrentContext(context), 0);
      DeviceArray<uint8_t> bytes(kBytes);
      for (int round = 0; round < 100; ++round) {
        ASSERT_EQ(aclrtMemsetAsync(bytes.data(), kBytes, round + i, kBytes, stream), 0);
        ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
        ASSERT_EQ(bytes.Read()[0], static_cast<uint8_t>(round + i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

struct Target {
  aclrtStream stream;
  std::atomic<bool> gone{false};
  std::atomic<int> late{0};
  std::atomic<int> accepted{0}, ran{0};

  static void Look(void* argument) {
    auto* target = static_cast<Target*>(argument);
    if (target->gone) target->late.fetch_add(1);
    target->ran.fetch_add(1);
  }
};

// Creation and destruction against use: codes, never a crash, what is accepted runs, unless the
// stream is ended by force, and nothing runs on a stream that is gone.
TEST_F(StressTest, HandlesDestroyedUnderUse) {
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  constexpr int kTargets = 1000;
  std::vector<Target> targets(kTargets);
  targets[0].stream = NewStream();
  std::atomic<Target*> target{targets.data()};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      ASSERT_EQ(aclrtSetCurrentContext(context), 0);
      while (!stop) {
        Target* const now = target;
        aclrtStreamStatus status{};
        const int launched = aclrtLaunchHostFunc(now->stream, Target::Look, now);
        if (launched == 0) now->accepted.fetch_add(1);
        const int codes[] = {launched, aclrtSynchronizeStream(now->stream),
                             aclrtStreamQuery(now->stream, &status)};
        for (const int code : codes) EXPECT_TRUE(code == 0 || code == ACL_ERROR_RT_INVALID_HANDLE);
      }
    });
  }
  for (size_t i = 1; i < kTargets; ++i) {
    targets[i].stream = NewStream();
    Target* const old = target.exchange(&targets[i]);
    EXPECT_EQ(i % 2 == 0 ? aclrtDestroyStream(old->stream) : aclrtDestroyStreamForce(old->stream),
              0);
    old->gone = true;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(aclrtDestroyStream(targets.back().stream), 0);
  for (size_t i = 0; i < kTargets; ++i) {
    EXPECT_EQ(targets[i].late, 0);
    const bool by_force = i + 1 < kTargets && i % 2 == 0;  // by the turn after its own
    if (!by_force) {
      EXPECT_EQ(targets[i].ran, targets[i].accepted) << i;
    }
  }
}

}  // namespace
}  // namespace openaclnn
