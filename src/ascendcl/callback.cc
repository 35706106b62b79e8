// SPDX-License-Identifier: Apache-2.0
// Callbacks: aclrtSubscribeReport, aclrtProcessReport, aclrtLaunchCallback, aclrtLaunchHostFunc.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include "ascendcl/context.h"
#include "ascendcl/error.h"
#include "ascendcl/host_call.h"
#include "ascendcl/host_threads.h"

namespace openaclnn {
namespace {

/// A function of the host on its way from a stream to the thread that runs it.
struct Call {
  void (*const function)(void*);
  void* const argument;
  const std::shared_ptr<Stream> stream;
  const bool blocking;  // the stream waits for it
  std::atomic<bool> done{false};

  void Run() {
    {
      const HostCall call(blocking ? stream.get() : nullptr);
      function(argument);
    }
    Finish();
  }
  void Finish() {
    done.store(true, std::memory_order_release);
    stream->Wake();
  }
};
using Calls = std::list<std::shared_ptr<Call>>;

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

  /// Null when the deadline passes first, or the mailbox is closed.
  std::shared_ptr<Call> Take(const Stream::Deadline& deadline) {
    std::unique_lock lock(mutex_);
    const auto any = [this] { return !calls_.empty() || closed_; };
    if (!deadline) {
      arrived_.wait(lock, any);
    } else {
      arrived_.wait_until(lock, *deadline, any);
    }
    if (calls_.empty()) return nullptr;
    std::shared_ptr<Call> call = std::move(calls_.front());
    calls_.pop_front();
    return call;
  }

  /// Moves out the calls of one stream.
  Calls Remove(const Stream* stream) noexcept {
    Calls removed;
    std::lock_guard lock(mutex_);
    for (auto call = calls_.begin(); call != calls_.end();) {
      const auto next = std::next(call);
      if ((*call)->stream.get() == stream) removed.splice(removed.end(), calls_, call);
      call = next;
    }
    return removed;
  }

  /// The thread serves no stream any more.
  void Close() noexcept {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    arrived_.notify_all();
  }
  bool closed() {
    std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::condition_variable arrived_;
  Calls calls_;
  bool closed_ = false;
};

Status NotSubscribed() {
  return Status(ACL_ERROR_RT_STREAM_NO_CB_REG,
                "stream subscription is missing, expected aclrtSubscribeReport before");
}

/// Which thread serves which stream.
class Subscriptions {
 public:
  static Subscriptions& Get() {
    static auto* all = new Subscriptions;
    return *all;
  }

  Status Add(uint64_t thread, const Stream* stream) {
    std::lock_guard lock(mutex_);
    const auto known = threads_.find(stream);
    if (known != threads_.end()) {
      return Status(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                    Concat("stream subscription is that of thread ", known->second,
                           ", expected a stream without one"));
    }
    std::shared_ptr<Mailbox> mailbox = Find(thread);
    if (mailbox == nullptr) mailbox = std::make_shared<Mailbox>();
    const auto entry = threads_.emplace(stream, thread).first;
    try {
      mailboxes_.emplace(thread, std::move(mailbox));
    } catch (...) {
      threads_.erase(entry);
      throw;
    }
    return {};
  }

  Status Remove(uint64_t thread, const Stream* stream) {
    std::unique_lock lock(mutex_);
    const auto entry = threads_.find(stream);
    if (entry == threads_.end()) return NotSubscribed();
    if (entry->second != thread) {
      return Status(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                    Concat("threadId value is ", thread, ", expected ", entry->second));
    }
    End(lock, entry);
    return {};
  }

  void Forget(const Stream* stream) {
    std::unique_lock lock(mutex_);
    const auto entry = threads_.find(stream);
    if (entry != threads_.end()) End(lock, entry);
  }

  /// The thread has ended: nobody will take its calls any more.
  void ForgetThread(uint64_t thread) {
    while (true) {
      std::unique_lock lock(mutex_);
      const auto entry = FirstOf(thread);
      if (entry == threads_.end()) return;
      End(lock, entry);
    }
  }

  bool Has(const Stream* stream) {
    std::lock_guard lock(mutex_);
    return threads_.contains(stream);
  }

  std::shared_ptr<Mailbox> MailboxOf(uint64_t thread) {
    std::lock_guard lock(mutex_);
    return Find(thread);
  }

  /// Hands the call to the thread that serves its stream now.
  Status Post(const std::shared_ptr<Call>& call) {
    std::lock_guard lock(mutex_);
    const auto thread = threads_.find(call->stream.get());
    if (thread == threads_.end()) return Unserved();
    Find(thread->second)->Post(call);
    return {};
  }

 private:
  using Threads = std::map<const Stream*, uint64_t>;

  /// Why a call has not run; it comes from a synchronise, so it names the function that launched
  /// it.
  static Status Unserved() {
    return Status(ACL_ERROR_RT_STREAM_NO_CB_REG,
                  "fn state is not run, for the stream's subscription ended before, expected "
                  "aclrtProcessReport before aclrtUnSubscribeReport",
                  "aclrtLaunchCallback");
  }

  std::shared_ptr<Mailbox> Find(uint64_t thread) {
    const auto mailbox = mailboxes_.find(thread);
    return mailbox != mailboxes_.end() ? mailbox->second : nullptr;
  }

  Threads::iterator FirstOf(uint64_t thread) {
    return std::find_if(threads_.begin(), threads_.end(),
                        [&](const auto& entry) { return entry.second == thread; });
  }

  // A thread that serves no stream any more has no mailbox either. The stream's calls that nobody
  // has taken end without having run, with an error, so that the stream goes on.
  void End(std::unique_lock<std::mutex>& lock, Threads::iterator subscription) {
    const auto [stream, thread] = *subscription;
    const Status unserved = Unserved();
    const auto mailbox = mailboxes_.find(thread);
    const Calls calls = mailbox->second->Remove(stream);
    threads_.erase(subscription);
    if (FirstOf(thread) == threads_.end()) {
      mailbox->second->Close();
      mailboxes_.erase(mailbox);
    }
    lock.unlock();
    for (const auto& call : calls) {
      (void)Guard([&] {
        call->stream->Fail(unserved);
        return Status();
      });
      call->Finish();
    }
  }

  std::mutex mutex_;  // guards what follows
  Threads threads_;
  std::map<uint64_t, std::shared_ptr<Mailbox>> mailboxes_;
};

/// Ends the subscriptions of the calling thread when it ends. A key rather than a thread_local
/// object: the main thread's end at exit leaves streams alone.
void WatchThread() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, [](void*) {
      (void)Guard([] {
        Subscriptions::Get().ForgetThread(pthread_self());
        return Status();
      });
    });
    return made;
  }();
  pthread_setspecific(key, &Subscriptions::Get());
}

/// Hands its call to the thread that serves the stream, or to a host thread; a blocking one parks
/// the stream meanwhile.
class CallTask : public Task {
 public:
  enum class By { kSubscriber, kHostThread };
  CallTask(By by, std::shared_ptr<Call> call) : by_(by), call_(std::move(call)) {}

  Progress Run(Status* status) override {
    if (!posted_) {
      *status = by_ == By::kSubscriber ? Subscriptions::Get().Post(call_)
                                       : RunOnHostThread([call = call_] { call->Run(); });
      if (!status->ok()) return Progress::kDone;
      posted_ = true;
    }
    const bool done = !call_->blocking || call_->done.load(std::memory_order_acquire);
    return done ? Progress::kDone : Progress::kParked;
  }

  const char* name() const override {
    return by_ == By::kSubscriber ? "callback" : "host function";
  }

 private:
  const By by_;
  const std::shared_ptr<Call> call_;
  bool posted_ = false;
};

void Launch(CallTask::By by, void (*function)(void*), void* argument, bool blocking,
            const std::shared_ptr<Stream>& stream) {
  stream->Enqueue(std::make_unique<CallTask>(
      by, std::shared_ptr<Call>(new Call{function, argument, stream, blocking})));
}

Status CheckFunction(const char* operand, void (*function)(void*)) {
  if (function != nullptr) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID, Concat(operand, " value is null, expected a function"));
}

Status ThreadNotSubscribed() {
  return Status(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                "thread subscription is missing, expected aclrtSubscribeReport of this thread");
}

Status ProcessReport(int32_t timeout) {
  Stream::Deadline deadline;
  Status status = ParseTimeout(timeout, &deadline);
  if (!status.ok()) return status;
  const std::shared_ptr<Mailbox> mailbox = Subscriptions::Get().MailboxOf(pthread_self());
  if (mailbox == nullptr) return ThreadNotSubscribed();
  WatchThread();
  std::shared_ptr<Call> call = mailbox->Take(deadline);
  if (call == nullptr) {
    if (mailbox->closed()) return ThreadNotSubscribed();
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
}  // namespace openaclnn

using openaclnn::Api;
using openaclnn::CallTask;
using openaclnn::Concat;
using openaclnn::FindStream;
using openaclnn::Status;
using openaclnn::Stream;
using openaclnn::Subscriptions;

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return Api("aclrtSubscribeReport", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    if (status.ok()) {
      object->set_subscription_end([](const Stream* s) { Subscriptions::Get().Forget(s); });
      status = Subscriptions::Get().Add(threadId, object.get());
    }
    if (status.ok() && pthread_equal(threadId, pthread_self())) openaclnn::WatchThread();
    return status;
  });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return Api("aclrtUnSubscribeReport", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    return status.ok() ? Subscriptions::Get().Remove(threadId, object.get()) : status;
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
    if (!Subscriptions::Get().Has(object.get())) return openaclnn::NotSubscribed();
    openaclnn::Launch(CallTask::By::kSubscriber, fn, userData, blockType == ACL_CALLBACK_BLOCK,
                      object);
    return status;
  });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc func, void* args) {
  return Api("aclrtLaunchHostFunc", [&] {
    std::shared_ptr<Stream> object;
    Status status = openaclnn::CheckFunction("func", func);
    if (status.ok()) status = FindStream(stream, &object);
    if (status.ok()) {
      openaclnn::Launch(CallTask::By::kHostThread, func, args, true, object);
    }
    return status;
  });
}
