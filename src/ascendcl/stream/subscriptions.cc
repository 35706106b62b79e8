// SPDX-License-Identifier: Apache-2.0
// Subscriptions: callbacks are posted, taken, run, and ended unrun where nobody can take them.
#include "ascendcl/stream/subscriptions.h"

#include <cxxabi.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <string_view>
#include <utility>

#include "ascendcl/process/host_call.h"
#include "ascendcl/report/error.h"
#include "ascendcl/report/exception_info.h"
#include "common/hold_during_fork.h"
#include "common/lasting.h"

namespace openaclnn {
namespace {

/// Why a call has not run; it comes from a synchronise, so it names the function that launched it.
Status Unserved() {
  return Status(ACL_ERROR_RT_STREAM_NO_CB_REG,
                "fn state is not run, for the stream's subscription ended before, expected "
                "aclrtProcessReport before aclrtUnSubscribeReport",
                "aclrtLaunchCallback");
}

/// The error of a call that has thrown; `words` may be null.
Status Thrown(const Call& call, const char* words) {
  return Guard([&] {
    const std::string_view said = words != nullptr ? words : "not a std::exception";
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Concat(call.operand, " outcome is an exception (", Escaped{said.substr(0, 400)},
                         "), expected a return"),
                  call.api);
  });
}

}  // namespace

// The thread may also end in the function (pthread_exit): that passes through here, and the stream
// goes on as well. GCC has no object for it, so that UBSan sees a reference to null.
__attribute__((no_sanitize("null"))) void Call::Run() {
  const std::unique_ptr<Call, void (*)(Call*)> finish(this, [](Call* call) { call->Finish(); });
  begun.store(true, std::memory_order_relaxed);
  Status status;
  try {
    point.Begin();
    const HostCall call(blocking ? stream.get() : nullptr);
    const Cancellable here;
    function(argument);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& thrown) {
    status = Thrown(*this, thrown.what());
  } catch (...) {
    status = Thrown(*this, nullptr);
  }
  if (status.ok()) return;
  // The stream has gone on, where it does not wait: the task's number is nobody's any more.
  const uint64_t number = blocking ? stream->completed() + 1 : UINT64_MAX;
  TellOfFailure(
      {stream.get(), stream->number(), stream->device_id(), number, status.code(), false});
  stream->Fail(std::move(status));
}

void Call::Finish() {
  point.End();
  done.store(true, std::memory_order_release);
  stream->Wake();
}

void Mailbox::Post(std::shared_ptr<Call> call) {
  {
    std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }
  arrived_.notify_one();
}

std::shared_ptr<Call> Mailbox::Take(const Stream::Deadline& deadline) {
  std::unique_lock lock(mutex_);
  const auto any = [this] { return !calls_.empty() || closed_; };
  {
    const Cancellable here;
    if (!deadline) {
      arrived_.wait(lock, any);
    } else {
      arrived_.wait_until(lock, *deadline, any);
    }
  }
  if (calls_.empty()) return nullptr;
  std::shared_ptr<Call> call = std::move(calls_.front());
  calls_.pop_front();
  return call;
}

Calls Mailbox::Remove(const Stream* served) noexcept {
  Calls removed;
  std::lock_guard lock(mutex_);
  for (auto call = calls_.begin(); call != calls_.end();) {
    const auto next = std::next(call);
    if ((*call)->served.get() == served) removed.splice(removed.end(), calls_, call);
    call = next;
  }
  return removed;
}

void Mailbox::Close() noexcept {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_all();
}

bool Mailbox::closed() {
  std::lock_guard lock(mutex_);
  return closed_;
}

Status NotSubscribed() {
  return Status(ACL_ERROR_RT_STREAM_NO_CB_REG,
                "stream subscription is missing, expected aclrtSubscribeReport before");
}

Subscriptions& Subscriptions::Get() { return Lasting<Subscriptions>(); }

namespace {

std::mutex& Mutex() { return Subscriptions::Get().mutex(); }
[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();

}  // namespace

Status Subscriptions::Add(uint64_t thread, const Stream* stream) {
  std::lock_guard lock(mutex_);
  // Another may come to lie where it does.
  if (stream->serves_no_more()) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  "stream value is one that is being destroyed, expected a live stream");
  }
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
  any_.store(true, std::memory_order_relaxed);
  return {};
}

Status Subscriptions::Remove(uint64_t thread, const Stream* stream) {
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

void Subscriptions::Forget(const Stream* stream) {
  std::unique_lock lock(mutex_);
  const auto entry = threads_.find(stream);
  if (entry != threads_.end()) End(lock, entry);
}

void Subscriptions::ForgetThread(uint64_t thread) {
  while (true) {
    std::unique_lock lock(mutex_);
    const auto entry = FirstOf(thread);
    if (entry == threads_.end()) return;
    End(lock, entry);
  }
}

bool Subscriptions::Has(const Stream* stream) {
  std::lock_guard lock(mutex_);
  return threads_.contains(stream);
}

uint64_t Subscriptions::ThreadOf(const Stream* stream) {
  std::lock_guard lock(mutex_);
  const auto thread = threads_.find(stream);
  return thread != threads_.end() ? thread->second : 0;
}

bool Subscriptions::Serves(uint64_t thread) {
  if (!any_.load(std::memory_order_relaxed)) return false;
  std::lock_guard lock(mutex_);
  return mailboxes_.contains(thread);
}

std::shared_ptr<Mailbox> Subscriptions::MailboxOf(uint64_t thread) {
  std::lock_guard lock(mutex_);
  return Find(thread);
}

Status Subscriptions::Post(const std::shared_ptr<Call>& call) {
  std::lock_guard lock(mutex_);
  const auto thread = threads_.find(call->served.get());
  if (thread == threads_.end()) return Unserved();
  Find(thread->second)->Post(call);
  return {};
}

std::shared_ptr<Mailbox> Subscriptions::Find(uint64_t thread) {
  const auto mailbox = mailboxes_.find(thread);
  return mailbox != mailboxes_.end() ? mailbox->second : nullptr;
}

Subscriptions::Threads::iterator Subscriptions::FirstOf(uint64_t thread) {
  return std::find_if(threads_.begin(), threads_.end(),
                      [&](const auto& entry) { return entry.second == thread; });
}

// A thread that serves no stream any more has no mailbox either. The stream's calls that nobody has
// taken end without having run, with an error, so that the stream goes on.
void Subscriptions::End(std::unique_lock<std::mutex>& lock, Threads::iterator subscription) {
  const auto [stream, thread] = *subscription;
  const auto mailbox = mailboxes_.find(thread);
  const Calls calls = mailbox->second->Remove(stream);
  threads_.erase(subscription);
  any_.store(!threads_.empty(), std::memory_order_relaxed);
  if (FirstOf(thread) == threads_.end()) {
    mailbox->second->Close();
    mailboxes_.erase(mailbox);
  }
  lock.unlock();
  for (const auto& call : calls) {
    call->stream->Fail(Guard(Unserved));
    call->Finish();
  }
}

}  // namespace openaclnn
