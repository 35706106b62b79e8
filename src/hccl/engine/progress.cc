// SPDX-License-Identifier: Apache-2.0
// The thread that moves messages: rounds over the communicators, then a sleep on descriptors.
#include "hccl/engine/progress.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "ascendcl/process/signals.h"
#include "ascendcl/report/error.h"
#include "common/thread.h"
#include "common/uncancelled.h"
#include "hccl/hccl_types.h"

namespace openaclnn {
namespace {

// Rounds without anything to move before the thread sleeps; each gives the processor to others.
constexpr uint32_t kIdleRounds = 50;
// While operations wait: how late a deadline or a peer's death may be seen.
constexpr int kBusySleepMs = 20;

// As long as a process may take to end while what it has sent has not been received.
constexpr std::chrono::seconds kLastTime{1};

std::atomic<bool> g_stayed_behind{false};

}  // namespace

void SendOut(std::span<Moved* const> all,
             std::optional<std::chrono::steady_clock::time_point> until) {
  using Clock = std::chrono::steady_clock;
  constexpr int kQuickTurns = 1000;
  const Clock::time_point since = Clock::now();
  for (int turn = 0;; ++turn) {
    bool owe = false, any = false;
    for (Moved* const moved : all) {
      if (!moved->Owes(since)) continue;
      owe = true;
      any |= moved->Progress().any;
    }
    if (!owe || (until && Clock::now() >= *until)) return;
    if (any) continue;
    if (turn < kQuickTurns) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

bool MessageMover::StayedBehind() { return g_stayed_behind.load(std::memory_order_relaxed); }

MessageMover& MessageMover::Get() {
  static auto* const mover = new MessageMover;  // its thread outlives static destructors at exit
  return *mover;
}

Status MessageMover::StartLocked() {
  if (started_) return {};
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) return Status(HCCL_E_UNAVAIL, "no descriptor is left for the thread of messages");
  static const bool watched =
      pthread_atfork(nullptr, nullptr, [] { g_stayed_behind.store(Get().started_); }) == 0;
  if (!watched) {
    close(wake_);
    return Status(HCCL_E_UNAVAIL, "fork cannot be watched, expected pthread_atfork to have memory");
  }
  const SignalMask inherited(SignalMask::OfRuntime());
  Thread thread;
  if (thread.Start([this] { Main(); }) != 0) {
    close(wake_);
    return Status(HCCL_E_UNAVAIL,
                  "thread of messages cannot be started, expected one within the "
                  "limits of the process (ulimit -u, ulimit -v)");
  }
  thread.Detach();
  started_ = true;
  // A child of fork ends without a word: its parent's ranks are still there.
  const auto quit = [] {
    if (!StayedBehind()) Get().Quit();
  };
  (void)std::atexit(quit);
  (void)std::at_quick_exit(quit);
  return {};
}

Status MessageMover::Add(std::shared_ptr<Moved> moved) {
  {
    std::lock_guard lock(mutex_);
    Status status = StartLocked();
    if (!status.ok()) return status;
    spare_.reserve(all_.size() + 1);
    all_.push_back(std::move(moved));
  }
  Kick();
  return {};
}

void MessageMover::Remove(const Moved* moved) {
  std::unique_lock lock(mutex_);
  if (std::erase_if(all_, [&](const auto& known) { return known.get() == moved; }) == 0) {
    return;
  }
  const uint64_t last = round_;  // that may still know it
  lock.unlock();
  Kick();
  lock.lock();
  begun_.wait(lock, [&] { return round_ > last || quit_.load(); });
}

void MessageMover::Kick() {
  kicks_.fetch_add(1);
  if (rest_.load() != Rest::kNone) Wake();
}

// A thread that looks again by itself is left alone: to wake it costs more than a small message.
void MessageMover::Nudge() {
  kicks_.fetch_add(1);
  if (rest_.load() == Rest::kUntilKicked) Wake();
}

void MessageMover::Wake() {
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
}

// Behind the lock of each engine: nothing of it is used when the libraries below it end.
void MessageMover::Quit() {
  const Uncancelled whole;  // exit has the thread
  quit_.store(true);
  Kick();
  std::lock_guard lock(mutex_);
  begun_.notify_all();
  (void)Guard([this] {
    std::vector<Moved*> all;
    for (const auto& moved : all_) all.push_back(moved.get());
    SendOut(all, std::chrono::steady_clock::now() + kLastTime);
    return Status();
  });
  for (const auto& moved : all_) moved->Quit();
}

void MessageMover::NextRound() {
  std::lock_guard lock(mutex_);
  ++round_;
  std::erase_if(all_, [](const auto& moved) { return moved->over(); });
  begun_.notify_all();
  if (now_.capacity() < all_.size()) now_.swap(spare_);
  now_.assign(all_.begin(), all_.end());
}

void MessageMover::Main() {
  while (!quit_.load(std::memory_order_relaxed)) {
    const uint64_t kicks = kicks_.load();
    NextRound();
    Round();
    const bool slept = (idle_ > kIdleRounds || !last_.busy) && Sleep(kicks);
    LookAtPeers(slept);
    now_.clear();  // whose last holder may be this
    if (idle_ > 0) std::this_thread::yield();
  }
}

void MessageMover::Round() {
  last_ = {};
  for (const auto& moved : now_) {
    Moved::Result result;
    (void)Guard([&] {
      result = moved->Progress();
      return Status();
    });
    last_.any |= result.any;
    last_.busy |= result.busy;
    last_.lingers |= result.lingers;
  }
  idle_ = last_.any ? 0 : idle_ + 1;
}

bool MessageMover::Sleep(uint64_t kicks) {
  bool ready = false;
  descriptors_.clear();
  descriptors_.push_back({wake_, POLLIN, 0});
  const Status listed = Guard([&] {
    for (const auto& moved : now_)
      ready = ready || !moved->AddDescriptors(last_.busy, &descriptors_);
    return Status();
  });
  if (ready) return false;
  // Without memory for all of them it looks again in a millisecond.
  if (!listed.ok()) descriptors_.resize(1);
  const bool busy = last_.busy && listed.ok(), looks_again = busy || last_.lingers || !listed.ok();
  rest_.store(looks_again ? Rest::kForAWhile : Rest::kUntilKicked);
  if (kicks_.load() == kicks) {
    // Communicators for which nobody waits are looked at after a millisecond, then less and less
    // often.
    const int lingers = listed.ok() ? std::clamp(static_cast<int>(idle_), 1, kBusySleepMs) : 1;
    const int while_ms = busy ? kBusySleepMs : lingers;
    poll(descriptors_.data(), descriptors_.size(), looks_again ? while_ms : -1);
  }
  rest_.store(Rest::kNone);
  if (descriptors_[0].revents != 0) {
    uint64_t count = 0;
    (void)!read(wake_, &count, sizeof(count));
  }
  return true;
}

// While messages flow the thread does not sleep, and peers may die all the same.
void MessageMover::LookAtPeers(bool slept) {
  const auto now = std::chrono::steady_clock::now();
  if (!slept && now - looked_ < std::chrono::milliseconds(kBusySleepMs)) return;
  looked_ = now;
  for (const auto& moved : now_) {
    (void)Guard([&] {
      moved->LookAtPeers();
      return Status();
    });
  }
}

}  // namespace openaclnn
