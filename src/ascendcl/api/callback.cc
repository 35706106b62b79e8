// SPDX-License-Identifier: Apache-2.0
// Callbacks: aclrtSubscribeReport, aclrtProcessReport, aclrtLaunchCallback, aclrtLaunchHostFunc.
#include <pthread.h>

#include "ascendcl/graph/capture.h"
#include "ascendcl/process/float_environment.h"
#include "ascendcl/process/thread_end.h"
#include "ascendcl/report/error.h"
#include "ascendcl/stream/context.h"
#include "ascendcl/stream/host_threads.h"
#include "ascendcl/stream/subscriptions.h"

namespace openaclnn {
namespace {

// Leaves the main thread's alone at exit.
constinit ThreadEnd g_thread_end([](void*) {
  if (Forked()) return;  // whom it serves stayed with the parent, and so did holders of locks
  (void)Guard([] {
    Subscriptions::Get().ForgetThread(pthread_self());
    return Status();
  });
});

/// Ends the subscriptions of the calling thread when it ends.
Status WatchThread() {
  if (g_thread_end.Watch(&g_thread_end)) return {};
  return Status(
      ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
      "thread cannot be watched, expected a thread-specific key that the process has left");
}

/// On a host thread, which has another mask.
void RunForProgram(Call& call) {
  const SignalMask mask(call.signals);
  const FloatEnvironment environment;
  call.Run();
  // Whatever the function has chosen.
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, nullptr);
  const Cancellable here;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  pthread_testcancel();  // of a thread that the function has cancelled, not the next one's
}

/// Hands its call to the thread that serves the stream, or to a host thread; a blocking one parks
/// the stream meanwhile.
class CallTask : public Task {
 public:
  explicit CallTask(std::shared_ptr<Call> call) : call_(std::move(call)) {
    awaited_.called = {call_, &call_->done};
    awaited_.stream = call_->served;
  }

  Progress Run(Status* status) override {
    if (!posted_) {
      *status = call_->served != nullptr
                    ? Subscriptions::Get().Post(call_)
                    : RunOnHostThread([call = call_] { RunForProgram(*call); });
      if (!status->ok()) return Progress::kDone;
      posted_ = true;
    }
    const bool done = !call_->blocking || call_->done.load(std::memory_order_acquire);
    return done ? Progress::kDone : Progress::kParked;
  }

  const char* name() const override {
    return call_->served != nullptr ? "callback" : "host function";
  }
  const Awaited* awaited() const override {
    return call_->served != nullptr && call_->blocking ? &awaited_ : nullptr;
  }
  std::string waits_until() const override {
    if (call_->served == nullptr) return "its host function has returned";
    const uint64_t thread = Subscriptions::Get().ThreadOf(call_->served.get());
    if (thread == 0 || call_->begun.load(std::memory_order_relaxed)) {
      return "its callback has returned";
    }
    // A graph may run on another stream, whose end leaves the subscription of the captured one.
    const bool dropped = call_->served == call_->stream;
    return Concat("thread ", thread, " has taken its callback in aclrtProcessReport",
                  dropped ? kDroppedByForce : "");
  }

 private:
  const std::shared_ptr<Call> call_;
  Awaited awaited_;
  bool posted_ = false;
};

/// A graph's entry for a host function. Each run makes a call of its own, since the graph may run
/// on another stream than the one that was captured.
class CapturedFunction : public Task {
 public:
  explicit CapturedFunction(HostFunction function) : function_(std::move(function)) {}

  bool repeatable() const override { return true; }
  std::unique_ptr<Task> ForRun(const std::shared_ptr<Stream>& stream) const override {
    return std::make_unique<CallTask>(std::make_shared<Call>(function_, stream));
  }
  Progress Run(Status*) override { return Progress::kDone; }  // its calls run

 private:
  const HostFunction function_;
};

Status Launch(HostFunction&& function, const std::shared_ptr<Stream>& stream) {
  if (stream->captured()) [[unlikely]] {
    const char* const api = function.api;
    return CaptureTask(*stream, {.task = std::make_unique<CapturedFunction>(std::move(function)),
                                 .call = api,
                                 .accesses = {},
                                 .of_program = true});
  }
  stream->Enqueue(std::make_unique<CallTask>(std::make_shared<Call>(function, stream)));
  return {};
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
  status = WatchThread();
  if (!status.ok()) return status;
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
using openaclnn::Concat;
using openaclnn::FindStream;
using openaclnn::SignalMask;
using openaclnn::Status;
using openaclnn::Stream;
using openaclnn::Subscriptions;

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return Api("aclrtSubscribeReport", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    if (status.ok() && pthread_equal(threadId, pthread_self())) status = openaclnn::WatchThread();
    if (status.ok()) {
      object->set_subscription_end([](const Stream* s) { Subscriptions::Get().Forget(s); });
      status = Subscriptions::Get().Add(threadId, object.get());
    }
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
    return openaclnn::Launch({fn, userData, blockType == ACL_CALLBACK_BLOCK, "aclrtLaunchCallback",
                              "fn", SignalMask::Current(), object},
                             object);
  });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc func, void* args) {
  return Api("aclrtLaunchHostFunc", [&] {
    std::shared_ptr<Stream> object;
    Status status = openaclnn::CheckFunction("func", func);
    if (status.ok()) status = FindStream(stream, &object);
    if (!status.ok()) return status;
    return openaclnn::Launch(
        {func, args, true, "aclrtLaunchHostFunc", "func", SignalMask::Current(), nullptr}, object);
  });
}
