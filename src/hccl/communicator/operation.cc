// SPDX-License-Identifier: Apache-2.0
// Operation: chains of steps, one after the other, of messages and work.
#include "hccl/communicator/operation.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "ascendcl/message.h"
#include "ascendcl/report/error.h"
#include "client/client.h"
#include "client/unpinned.h"
#include "hccl/communicator/result.h"
#include "hccl/engine/failure.h"

namespace openaclnn {

PinnedRanges::~PinnedRanges() {
  for (const Range& range : ranges_) Runtime().unpin(&range.pin);
}

Status PinnedRanges::Add(RangeUse use, const char* operand, const void* address, uint64_t bytes,
                         std::byte** host) {
  Range& range = ranges_.emplace_back(Range{{}, use, operand, address});
  const OpenaclnnPinResult result = Runtime().pin(address, bytes, &range.pin);
  if (result == OPENACLNN_PINNED) {
    *host = static_cast<std::byte*>(range.pin.host);
    return {};
  }
  ranges_.pop_back();
  return Status(HCCL_E_PARA, WhyUnpinned(result, Concat(operand, " memory"), address, bytes));
}

// A range that is sent may be unwritten: programs warm links up with whatever is there.
void PinnedRanges::Tell(std::vector<OpenaclnnAccess>* accesses) const {
  for (const Range& range : ranges_) {
    const int writes = range.use == RangeUse::kReceives ? 1 : 0;
    accesses->push_back({range.operand, writes, OPENACLNN_READS_PERHAPS, 0,
                         reinterpret_cast<uintptr_t>(range.address), range.pin.bytes, nullptr,
                         nullptr});
  }
}

Operation::Operation(std::shared_ptr<Communicator> communicator, const char* name, Plan plan,
                     PinnedRanges pins, std::shared_ptr<HeldStream> stream)
    : communicator_(std::move(communicator)),
      name_(name),
      plan_(std::move(plan)),
      pins_(std::move(pins)),
      stream_(std::move(stream)),
      progress_(plan_.steps.size()) {
  size_t count = 0;
  for (const Step& step : plan_.steps) count += step.ahead.size() + step.moves.size();
  messages_ = std::vector<Message>(count);
  count = 0;
  uint32_t first = 0;  // of the chain
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    if (plan_.steps[i].apart) first = i;
    if (i == first) chains_.push_back({i, i});
    chains_.back().end = i + 1;
    Progress& progress = progress_[i];
    progress.first = count;
    progress.ahead_end = count + plan_.steps[i].ahead.size();
    progress.end = progress.ahead_end + plan_.steps[i].moves.size();
    AddMessages(i, i - first, plan_.steps[i].ahead);
    AddMessages(i, i - first, plan_.steps[i].moves);
    progress.left = static_cast<uint32_t>(
        std::count_if(messages_.begin() + static_cast<ptrdiff_t>(count),
                      messages_.begin() + static_cast<ptrdiff_t>(progress.end),
                      [](const Message& message) { return message.awaited(); }));
    count = progress.end;
  }
  communicator_->Queued(*this);
}

void Operation::AddMessages(uint32_t step, uint32_t in_chain, const std::vector<Move>& moves) {
  const bool ahead = &moves == &plan_.steps[step].ahead;
  size_t place = ahead ? progress_[step].first : progress_[step].ahead_end;
  for (const Move& move : moves) {
    Message& message = messages_[place++];
    message.receives = move.receives;
    message.peer = move.peer;
    message.tag =
        communicator_->TagOfStep(move.tag != 0 ? move.tag : plan_.tag,
                                 move.receives ? move.peer : communicator_->rank(), in_chain);
    message.data = move.data;
    message.bytes = move.bytes;
    message.shorter = move.shorter;
    message.owner = this;
    message.step = step;
    message.own = move.own;
  }
}

Operation::~Operation() {
  TakeBack();
  communicator_->Ended(*this);
}

Accesses Operation::AccessesOf(const std::vector<std::shared_ptr<Operation>>& operations) noexcept
    try {
  std::vector<OpenaclnnAccess> accesses;
  for (const auto& operation : operations) operation->pins_.Tell(&accesses);
  return accesses;
} catch (...) {
  return std::nullopt;  // a check must not fail what it checks
}

Status Operation::SubmitAll(const std::vector<std::shared_ptr<Operation>>& operations) {
  auto together = std::make_unique<Together>();
  for (const auto& operation : operations) {
    const std::string& arguments = operation->plan_.arguments;
    together->arguments += operations.size() == 1 ? arguments : Concat(",{", arguments, "}");
    together->parts.push_back({operation});
  }
  if (operations.size() > 1) {
    together->arguments = Concat("\"operations\":[", together->arguments.substr(1), "]");
  }
  const OpenaclnnTask task = {
      .name = operations.front()->name_,
      .run = [](void* state,
                OpenaclnnMessage* words) { return static_cast<Together*>(state)->Run(words); },
      .release = [](void* state) { delete static_cast<Together*>(state); },
      .state = together.get(),
      .arguments = together->arguments.c_str(),
      .each_pin = nullptr,
  };
  const DeclaredAccesses declared(RacesAreWatched() ? AccessesOf(operations)
                                                    : std::vector<OpenaclnnAccess>{});
  Status status = operations.front()->stream_->Submit(task);
  if (status.ok()) (void)together.release();  // the task's
  return status;
}

// Each begins before the stream waits for any: ranks may wait for each other in a ring.
bool Operation::Together::RunParts() {
  bool lost = false;
  for (Part& part : parts) {
    if (part.done) continue;
    OpenaclnnMessage words;
    const int result = part.operation->Run(&words);
    part.done = result != OPENACLNN_TASK_PARKED;
    if (!part.done || result == 0) continue;
    lost |= result == StreamCode(HCCL_E_REMOTE);
    if (code == 0) code = result, failure = words;
  }
  return lost;
}

// A death is to be known within a second, however long the others would take: they end with it, so
// that nothing of them reaches memory that is the program's again.
int Operation::Together::Run(OpenaclnnMessage* message) {
  if (RunParts()) {
    for (const Part& part : parts) {
      if (part.done) continue;
      part.operation->Fail(Worded(HCCL_E_REMOTE, [&] { return std::string(failure.text); }));
    }
    (void)RunParts();
  }
  if (!std::ranges::all_of(parts, &Part::done)) return OPENACLNN_TASK_PARKED;
  if (code != 0) *message = failure;
  return code;
}

// Nothing is thrown into the runtime.
int Operation::Run(OpenaclnnMessage* message) {
  int code = 0;
  Status thrown = Guard([&] {
    code = Advance(message);
    return Status();
  });
  if (thrown.ok()) return code;
  Fail(std::move(thrown));
  return End(message);
}

int Operation::Advance(OpenaclnnMessage* message) {
  TakeBack();
  if (!std::exchange(begun_, true)) BeginAll();
  while (!chains_.empty() && !failed()) {
    if (!SomeArriveSoon()) {
      HandOver();
      return OPENACLNN_TASK_PARKED;
    }
    FinishSteps();
  }
  return End(message);
}

void Operation::BeginAll() {
  deadline_ = communicator_->DeadlineFromNow();
  communicator_->Begun(shared_from_this());
  for (const auto& prepare : plan_.prepare) prepare();
  for (const Chain& chain : chains_) {
    Begin(progress_[chain.step].first, progress_[chain.step].end);
  }
}

void Operation::FinishSteps() {
  for (Chain& chain : chains_) chain.arrived = Arrived(chain);
  for (const Chain& chain : chains_) {
    if (chain.arrived && !failed()) Work(chain);
  }
  for (Chain& chain : chains_) {
    if (!chain.arrived || failed()) continue;
    BeginNext(chain);
    ++chain.step;
  }
  std::erase_if(chains_, [](const Chain& chain) { return chain.step == chain.end; });
}

void Operation::Work(const Chain& chain) {
  const Step& step = plan_.steps[chain.step];
  if (chain.step + 1 < chain.end && !step.gate) {
    const Progress& next = progress_[chain.step + 1];
    if (next.first != next.ahead_end) {
      Begin(next.first, next.ahead_end);
      HandOver();  // while this thread works
    }
  }
  if (step.work) {
    Status status = Guard(step.work);
    if (!status.ok()) Fail(std::move(status));
  }
  TakeBack();
}

void Operation::BeginNext(const Chain& chain) {
  if (chain.step + 1 == chain.end) return;
  const Progress& next = progress_[chain.step + 1];
  Begin(plan_.steps[chain.step].gate ? next.first : next.ahead_end, next.end);
}

int Operation::End(OpenaclnnMessage* message) {
  if (!failed()) {
    const PinnedRanges ended(std::move(pins_));  // now, not with the last message
    communicator_->Finished(*this);
    return 0;
  }
  CancelMessages();
  const Status& failure = failure_;  // which was written before failed_, once
  if (OthersWait(failure) || Lingers()) communicator_->GiveUp(failure);
  communicator_->Finished(*this);
  Write(message, failure.text());
  return StreamCode(failure.code());
}

void Operation::Begin(size_t first, size_t end) {
  for (size_t i = first; i < end && !failed(); ++i) {
    under_way_.fetch_add(1, std::memory_order_acq_rel);
    messages_[i].begun.store(true, std::memory_order_release);
    communicator_->engine().Begin(&messages_[i]);
  }
}

void Operation::HandOver() {
  if (!std::exchange(handed_over_, true)) communicator_->HandOver();
}

void Operation::TakeBack() {
  if (std::exchange(handed_over_, false)) communicator_->TakeBack();
}

bool Operation::Arrived(const Chain& chain) const {
  return progress_[chain.step].left.load(std::memory_order_acquire) == 0;
}

bool Operation::SomeArrive() const {
  return std::ranges::any_of(chains_, [this](const Chain& chain) { return Arrived(chain); });
}

// To hand over to another thread and back costs more than most small messages take: that one sleeps
// meanwhile, unless it has others' to move.
bool Operation::SomeArriveSoon() const {
  constexpr std::chrono::microseconds kPatience{50};
  if (SomeArrive()) return true;
  if (communicator_->alone() || !communicator_->engine().needs_progress()) return false;
  const Clock::time_point end = Clock::now() + kPatience;
  do {
    if (!communicator_->engine().Progress()) std::this_thread::yield();
    if (SomeArrive() || failed()) return true;
  } while (Clock::now() < end);
  return false;
}

// The engine is locked, so that its owner outlives this; what is woken here runs elsewhere.
void Operation::Done(Transfer& transfer, const Status& status) {
  auto& message = static_cast<Message&>(transfer);
  message.done.store(true, std::memory_order_release);
  if (!status.ok()) Fail(CopyOf(status));
  const bool last = message.awaited() &&
                    progress_[message.step].left.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (last && status.ok()) stream_->Wake();
  under_way_.fetch_sub(1, std::memory_order_acq_rel);
}

void Operation::Fail(Status status) {
  {
    std::lock_guard lock(mutex_);
    if (failed()) return;
    if (status.code() == HCCL_E_REMOTE) communicator_->NoteRemoteError(status);
    failure_ = std::move(status);
    failed_.store(true, std::memory_order_release);
  }
  stream_->Wake();
}

bool Operation::Needs(uint32_t peer) const {
  return std::ranges::any_of(messages_, [&](const Message& message) {
    return message.peer == peer && !message.done.load(std::memory_order_acquire);
  });
}

bool Operation::WaitsFor(uint32_t peer) const {
  return std::ranges::any_of(messages_, [&](const Message& message) {
    return message.peer == peer && message.begun.load(std::memory_order_acquire) &&
           !message.done.load(std::memory_order_acquire);
  });
}

Status Operation::TimeoutError() const {
  std::string missing;
  for (uint32_t rank = 0; rank < communicator_->size(); ++rank) {
    if (WaitsFor(rank)) missing += Concat(missing.empty() ? "" : ", ", rank);
  }
  const std::string late = Concat("operation is not done after ", communicator_->timeout().count(),
                                  " s (HCCL_EXEC_TIMEOUT): ");
  if (missing.empty()) {
    return Status(HCCL_E_TIMEOUT,
                  Concat(late, "all that it waits for has come to rank ", communicator_->rank(),
                         " of communicator ", Escaped{communicator_->name()},
                         ", expected its process to run and to have a thread for it"));
  }
  return Status(HCCL_E_TIMEOUT,
                Concat(late, "it waits for rank ", missing, " of communicator ",
                       Escaped{communicator_->name()}, ", expected all ranks to call it"));
}

// Cancels all messages except those that report a result to other ranks.
void Operation::CancelMessages() {
  for (Message& message : messages_) {
    const bool begun = message.awaited() && message.begun.load(std::memory_order_acquire);
    if (begun && !message.done.load(std::memory_order_acquire)) {
      communicator_->engine().Cancel(&message);
    }
  }
}

// Other ranks may wait for messages of an operation that has not begun here. Where all compare what
// they call, all see a difference.
bool Operation::OthersWait(const Status& failure) const {
  return failure.code() != HCCL_E_PARA || plan_.by_pairs || !communicator_->checked();
}

// The plan's own memory stays, and whoever is gone takes nothing.
bool Operation::Lingers() const {
  return std::ranges::any_of(messages_, [&](const Message& message) {
    if (!message.begun.load(std::memory_order_acquire)) return false;
    if (message.own || message.done.load(std::memory_order_acquire)) return false;
    const PeerState state = communicator_->engine().peer_state(message.peer);
    return state == PeerState::kAlive || state == PeerState::kUnheard;
  });
}

}  // namespace openaclnn
