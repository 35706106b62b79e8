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
      stream_(std::move(stream)) {
  size_t steps = 0, messages = 0;
  for (const Chain* const chain : plan_.Chains()) {
    steps += chain->size();
    for (const Step& step : *chain) messages += step.ahead.size() + step.moves.size();
  }
  progress_ = std::vector<Progress>(steps);
  messages_ = std::vector<Message>(messages);
  Progress* progress = progress_.data();
  size_t place = 0;
  for (const Chain* const chain : plan_.Chains()) {
    chains_.push_back({chain->data(), chain->data() + chain->size(), progress});
    for (uint32_t i = 0; i < chain->size(); ++i, ++progress) {
      const Step& step = (*chain)[i];
      progress->first = place;
      progress->ahead_end = place = AddMessages(step.ahead, i, place, progress);
      progress->end = place = AddMessages(step.moves, i, place, progress);
    }
  }
  communicator_->Queued(*this);
}

size_t Operation::AddMessages(const std::vector<Move>& moves, uint32_t step, size_t place,
                              Progress* progress) {
  for (const Move& move : moves) {
    Message& message = messages_[place++];
    message.receives = move.receives;
    message.peer = move.peer;
    message.tag = communicator_->TagOfStep(move.tag != 0 ? move.tag : plan_.tag,
                                           move.receives ? move.peer : communicator_->rank(), step);
    message.data = move.data;
    message.bytes = move.bytes;
    message.shorter = move.shorter;
    message.owner = this;
    message.progress = progress;
    message.own = move.own;
    if (message.awaited()) ++progress->left;
  }
  return place;
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

// Every part starts before the stream waits for any, because ranks may wait for each other in a
// ring.
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

// When a rank is lost, all other parts fail too. The program then knows within a second, and no
// part writes to memory that the program uses again.
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
  for (const RunningChain& chain : chains_) Begin(chain.progress->first, chain.progress->end);
}

void Operation::FinishSteps() {
  for (RunningChain& chain : chains_) chain.arrived = chain.HasArrived();
  for (const RunningChain& chain : chains_) {
    if (chain.arrived && !failed()) Work(chain);
  }
  for (RunningChain& chain : chains_) {
    if (!chain.arrived || failed()) continue;
    BeginNext(chain);
    ++chain.step;
    ++chain.progress;
  }
  std::erase_if(chains_, [](const RunningChain& chain) { return chain.step == chain.end; });
}

void Operation::Work(const RunningChain& chain) {
  const Step& step = *chain.step;
  if (chain.has_next() && !step.gate) {
    const Progress& next = chain.progress[1];
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

void Operation::BeginNext(const RunningChain& chain) {
  if (!chain.has_next()) return;
  const Progress& next = chain.progress[1];
  Begin(chain.step->gate ? next.first : next.ahead_end, next.end);
}

int Operation::End(OpenaclnnMessage* message) {
  if (!failed()) {
    const PinnedRanges ended(std::move(pins_));  // unpins now, not with the last message
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

bool Operation::SomeArrive() const {
  return std::ranges::any_of(chains_, &RunningChain::HasArrived);
}

// Handing the messages to the progress thread and back takes longer than most small messages. So
// this thread moves them for a while; the other one sleeps, unless it has other operations'
// messages.
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

// The engine is locked, so its owner outlives this call. The stream that is woken runs on another
// thread.
void Operation::Done(Transfer& transfer, const Status& status) {
  auto& message = static_cast<Message&>(transfer);
  message.done.store(true, std::memory_order_release);
  if (!status.ok()) Fail(CopyOf(status));
  const bool last =
      message.awaited() && message.progress->left.fetch_sub(1, std::memory_order_acq_rel) == 1;
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

// Other ranks may wait for messages of an operation that has not started here. If all ranks compare
// their calls, all of them see the difference, and none waits.
bool Operation::OthersWait(const Status& failure) const {
  return failure.code() != HCCL_E_PARA || plan_.by_pairs || !communicator_->checked();
}

// Messages of the plan's own memory and of ranks that are gone cannot reach the program's memory.
bool Operation::Lingers() const {
  return std::ranges::any_of(messages_, [&](const Message& message) {
    if (!message.begun.load(std::memory_order_acquire)) return false;
    if (message.own || message.done.load(std::memory_order_acquire)) return false;
    const PeerState state = communicator_->engine().peer_state(message.peer);
    return state == PeerState::kAlive || state == PeerState::kUnheard;
  });
}

}  // namespace openaclnn
