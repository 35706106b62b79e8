// SPDX-License-Identifier: Apache-2.0
// Subscriptions: which thread runs the callbacks of which stream, and what waits for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "ascendcl/process/signals.h"
#include "ascendcl/stream/stream.h"
#include "ascendcl/watch/race_watch.h"

namespace openaclnn {

/// A function of the program that streams run.
struct HostFunction {
  void (*function)(void*);
  void* argument;
  bool blocking;                   // the stream waits for it
  const char* api;                 // that launched it
  const char* operand;             // and what the function is called there
  sigset_t signals;                // the mask of the thread that launched it
  std::shared_ptr<Stream> served;  // whose subscriber runs it; null: a thread of the runtime does
};

/// One run of a host function, on its way from a stream to the thread that runs it.
struct Call : HostFunction {
  Call(const HostFunction& runs, std::shared_ptr<Stream> on)
      : HostFunction(runs), stream(std::move(on)) {}

  const std::shared_ptr<Stream> stream;
  std::atomic<bool> begun{false};  // for the log
  std::atomic<bool> done{false};
  HostFunctionPoint point{stream->number(), blocking};

  /// An exception of the function is an error of the stream, which goes on.
  void Run();
  void Finish();
};
using Calls = std::list<std::shared_ptr<Call>>;

/// Calls that wait for one thread.
class Mailbox {
 public:
  void Post(std::shared_ptr<Call> call);

  /// Null when the deadline passes first, or the mailbox is closed.
  std::shared_ptr<Call> Take(const Stream::Deadline& deadline);

  /// Moves out the calls that the stream's subscriber was to run.
  Calls Remove(const Stream* served) noexcept;

  /// The thread serves no stream any more.
  void Close() noexcept;
  bool closed();

 private:
  std::mutex mutex_;  // guards what follows
  std::condition_variable arrived_;
  Calls calls_;
  bool closed_ = false;
};

/// Which thread serves which stream.
class Subscriptions {
 public:
  static Subscriptions& Get();

  Status Add(uint64_t thread, const Stream* stream);
  Status Remove(uint64_t thread, const Stream* stream);
  void Forget(const Stream* stream);
  /// The thread has ended: nobody will take its calls any more.
  void ForgetThread(uint64_t thread);

  bool Has(const Stream* stream);
  /// The thread that serves the stream, or 0.
  uint64_t ThreadOf(const Stream* stream);
  /// Whether the thread serves any; quick while no thread does.
  bool Serves(uint64_t thread);
  std::shared_ptr<Mailbox> MailboxOf(uint64_t thread);

  /// Hands the call to the thread that serves the stream `call->served` at this moment.
  Status Post(const std::shared_ptr<Call>& call);

  /// For HoldDuringFork.
  std::mutex& mutex() { return mutex_; }

 private:
  using Threads = std::map<const Stream*, uint64_t>;

  std::shared_ptr<Mailbox> Find(uint64_t thread);
  Threads::iterator FirstOf(uint64_t thread);
  void End(std::unique_lock<std::mutex>& lock, Threads::iterator subscription);

  std::atomic<bool> any_{false};  // written under the lock, read without
  std::mutex mutex_;              // guards what follows
  Threads threads_;
  std::map<uint64_t, std::shared_ptr<Mailbox>> mailboxes_;
};

/// Refusal of what needs a subscription of the stream.
Status NotSubscribed();

}  // namespace openaclnn
