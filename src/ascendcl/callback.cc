// SPDX-License-Identifier: Apache-2.0
// Callbacks: aclrtSubscribeReport, aclrtProcessReport, aclrtLaunchCallback, aclrtLaunchHostFunc.
#include "ascendcl/callback.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "ascendcl/context.h"
#include "ascendcl/error.h"
#include "ascendcl/host_threads.h"

namespace openaclnn {
namespace {

/// A function of the host on its way from a stream to the thread that runs it.
struct Call {
  void (*function)(void*) = nullptr;
  void* argument = nullptr;
  std::atomic<bool> done{false};
  std::shared_ptr<Stream> stream;  // woken when done; null when nothing waits

  void Run() {
    function(argument);
    done.store(true, std::memory_order_release);
    if (stream != nullptr) stream->Wake();
  }
};

/// Calls that wait for one thread.
class Mailbox {
 public:
  void Post(std::shared_ptr<Call> call) {
    {
      std::lock_guard lock(mutex_);
      calls_.push_back(std::move(call));
    }
    arrived_.notify_one();
  }

  /// Null when the deadline passes first.
  std::shared_ptr<Call> Take(const Stream::Deadline& deadline) {
    std::unique_lock lock(mutex_);
    const auto any = [this] { return !calls_.empty(); };
    if (!deadline) {
      arrived_.wait(lock, any);
    } else if (!arrived_.wait_until(lock, *deadline, any)) {
      return nullptr;
    }
    std::shared_ptr<Call> call = std::move(calls_.front());
    calls_.pop_front();
    return call;
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<Call>> calls_;
};

/// Which thread serves which stream.
struct Subscriptions {
  std::mutex mutex;  // guards what follows
  std::map<const Stream*, uint64_t> threads;
  std::map<uint64_t, std::shared_ptr<Mailbox>> mailboxes;

  /// With the lock held. A thread that serves no stream any more has no mailbox either.
  void End(std::map<const Stream*, uint64_t>::iterator subscription) {
    const uint64_t thread = subscription->second;
    threads.erase(subscription);
    const auto serves = [&](const auto& other) { return other.second == thread; };
    if (std::none_of(threads.begin(), threads.end(), serves)) mailboxes.erase(thread);
  }

  std::shared_ptr<Mailbox> Find(const Stream* stream) {
    std::lock_guard lock(mutex);
    const auto thread = threads.find(stream);
    return thread != threads.end() ? mailboxes[thread->second] : nullptr;
  }
};

Subscriptions& All() {
  static auto* all = new Subscriptions;
  return *all;
}

/// Hands its call to the thread that serves the stream, or to a host thread; a blocking one parks
/// the stream meanwhile.
class CallTask : public Task {
 public:
  CallTask(std::shared_ptr<Mailbox> mailbox, std::shared_ptr<Call> call,
           std::weak_ptr<Stream> stream, bool blocking)
      : mailbox_(std::move(mailbox)),
        call_(std::move(call)),
        stream_(std::move(stream)),
        blocking_(blocking) {}

  Progress Run(Status* status) override {
    if (!posted_) {
      posted_ = true;
      if (blocking_) call_->stream = stream_.lock();
      if (mailbox_ != nullptr) {
        mailbox_->Post(call_);
      } else {
        *status = RunOnHostThread([call = call_] { call->Run(); });
        if (!status->ok()) return Progress::kDone;
      }
    }
    const bool done = !blocking_ || call_->done.load(std::memory_order_acquire);
    return done ? Progress::kDone : Progress::kParked;
  }

 private:
  std::shared_ptr<Mailbox> mailbox_;  // null: a host function
  std::shared_ptr<Call> call_;
  std::weak_ptr<Stream> stream_;
  bool blocking_;
  bool posted_ = false;
};

void Launch(std::shared_ptr<Mailbox> mailbox, void (*function)(void*), void* argument,
            bool blocking, const std::shared_ptr<Stream>& stream) {
  auto call = std::make_shared<Call>();
  call->function = function;
  call->argument = argument;
  stream->Enqueue(
      std::make_unique<CallTask>(std::move(mailbox), std::move(call), stream, blocking));
}

Status CheckFunction(const char* operand, void (*function)(void*)) {
  if (function != nullptr) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID, Concat(operand, " value is null, expected a function"));
}

Status Subscribe(uint64_t thread, const Stream* stream) {
  Subscriptions& all = All();
  std::lock_guard lock(all.mutex);
  const auto [entry, inserted] = all.threads.emplace(stream, thread);
  if (!inserted) {
    return Status(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                  Concat("stream subscription is that of thread ", entry->second,
                         ", expected a stream without one"));
  }
  auto& mailbox = all.mailboxes[thread];
  if (mailbox == nullptr) mailbox = std::make_shared<Mailbox>();
  return {};
}

Status Unsubscribe(uint64_t thread, const Stream* stream) {
  Subscriptions& all = All();
  std::lock_guard lock(all.mutex);
  const auto entry = all.threads.find(stream);
  if (entry == all.threads.end()) {
    return Status(ACL_ERROR_RT_STREAM_NO_CB_REG,
                  "stream subscription is missing, expected aclrtSubscribeReport before");
  }
  if (entry->second != thread) {
    return Status(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                  Concat("threadId value is ", thread, ", expected ", entry->second));
  }
  all.End(entry);
  return {};
}

Status ProcessReport(int32_t timeout) {
  Stream::Deadline deadline;
  Status status = ParseTimeout(timeout, &deadline);
  if (!status.ok()) return status;
  std::shared_ptr<Mailbox> mailbox;
  {
    Subscriptions& all = All();
    std::lock_guard lock(all.mutex);
    const auto found = all.mailboxes.find(pthread_self());
    if (found != all.mailboxes.end()) mailbox = found->second;
  }
  if (mailbox == nullptr) {
    return Status(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                  "thread subscription is missing, expected aclrtSubscribeReport of this thread");
  }
  std::shared_ptr<Call> call = mailbox->Take(deadline);
  if (call == nullptr) {
    return Status(ACL_ERROR_RT_REPORT_TIMEOUT,
                  Concat("callback is not there after ", timeout, " ms, expected one"));
  }
  do {
    call->Run();
    call = mailbox->Take(Stream::Deadline::value_type{});
  } while (call != nullptr);
  return {};
}

}  // namespace

void ForgetSubscription(const Stream* stream) {
  Subscriptions& all = All();
  std::lock_guard lock(all.mutex);
  const auto entry = all.threads.find(stream);
  if (entry != all.threads.end()) all.End(entry);
}

}  // namespace openaclnn

using openaclnn::All;
using openaclnn::Api;
using openaclnn::Concat;
using openaclnn::FindStream;
using openaclnn::Status;
using openaclnn::Stream;

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return Api("aclrtSubscribeReport", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    return status.ok() ? openaclnn::Subscribe(threadId, object.get()) : status;
  });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return Api("aclrtUnSubscribeReport", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    return status.ok() ? openaclnn::Unsubscribe(threadId, object.get()) : status;
  });
}

aclError aclrtProcessReport(int32_t timeout) {
  return Api("aclrtProcessReport", [&] { return openaclnn::ProcessReport(timeout); });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  return Api("aclrtLaunchCallback", [&] {
    std::shared_ptr<Stream> object;
    if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
      return Status(ACL_ERROR_INVALID_PARAM,
                    Concat("blockType value is ", static_cast<int>(blockType),
                           ", expected ACL_CALLBACK_NO_BLOCK (0) or "
                           "ACL_CALLBACK_BLOCK (1)"));
    }
    Status status = openaclnn::CheckFunction("fn", fn);
    if (status.ok()) status = FindStream(stream, &object);
    if (!status.ok()) return status;
    auto mailbox = All().Find(object.get());
    if (mailbox == nullptr) {
      return Status(ACL_ERROR_RT_STREAM_NO_CB_REG,
                    "stream subscription is missing, expected aclrtSubscribeReport before");
    }
    openaclnn::Launch(std::move(mailbox), fn, userData, blockType == ACL_CALLBACK_BLOCK, object);
    return status;
  });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc func, void* args) {
  return Api("aclrtLaunchHostFunc", [&] {
    std::shared_ptr<Stream> object;
    Status status = openaclnn::CheckFunction("func", func);
    if (status.ok()) status = FindStream(stream, &object);
    if (status.ok()) openaclnn::Launch(nullptr, func, args, true, object);
    return status;
  });
}
