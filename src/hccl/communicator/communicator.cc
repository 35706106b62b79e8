// SPDX-License-Identifier: Apache-2.0
// Communicator: the numbers of operations, which of them live, and which can no longer end.
#include "hccl/communicator/communicator.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/hold_during_fork.h"
#include "common/lasting.h"
#include "hccl/engine/failure.h"
#include "hccl/hccl_types.h"

namespace openaclnn {
namespace {

// Messages that a peer sent before it went may still be on their way, since news of its going come
// over another connection. Well below the second within which its death is to be known.
constexpr std::chrono::milliseconds kGrace{250};

// Parts of a tag: the sender's rank, whether it belongs to a message of two ranks, whether it is
// the receiver's answer to that, the number of the operation, the step.
constexpr int kSenderShift = 48;
constexpr uint64_t kPair = uint64_t{1} << 47;
static_assert(kReplyTag == kPair >> 1);
constexpr int kNumberShift = 16;
constexpr uint64_t kNumberMask = (uint64_t{1} << 30) - 1;
constexpr uint64_t kStepMask = (uint64_t{1} << kNumberShift) - 1;

}  // namespace

Communicator::Communicator(uint32_t size, uint32_t rank, Settings settings,
                           std::unique_ptr<Engine> engine)
    : size_(size),
      rank_(rank),
      settings_(std::move(settings)),
      quoted_name_(nlohmann::json(settings_.name)
                       .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)),
      engine_(std::move(engine)),
      peers_(size) {}

uint64_t Communicator::Numbers::NextTag() { return (collectives++ & kNumberMask) << kNumberShift; }

uint64_t Communicator::Numbers::NextMessageTag(uint32_t peer, bool receives) {
  return kPair | (messages[{peer, receives}]++ & kNumberMask) << kNumberShift;
}

uint64_t Communicator::TagOfStep(uint64_t tag, uint32_t sender, uint32_t step) const {
  return uint64_t{sender} << kSenderShift | tag | (step & kStepMask);
}

std::optional<Communicator::Clock::time_point> Communicator::DeadlineFromNow() const {
  if (settings_.timeout.count() == 0) return std::nullopt;
  return Clock::now() + settings_.timeout;
}

void Communicator::Queued(const Pending& operation) {
  std::lock_guard lock(mutex_);
  queued_.insert(&operation);
}

void Communicator::Begun(std::shared_ptr<Pending> operation) {
  if (alone()) return;
  std::unique_lock lock(mutex_);
  if (over_.ok()) return active_.push_back(std::move(operation));
  Status status = over_;
  lock.unlock();
  operation->Fail(std::move(status));
}

void Communicator::Finished(Pending& operation) {
  if (alone()) return;
  Operations quiet;  // these end without the lock
  std::lock_guard lock(mutex_);
  quiet = TakeQuietLocked();
  const auto found =
      std::ranges::find(active_, &operation, [](const auto& active) { return active.get(); });
  if (found == active_.end()) return;
  if (operation.quiet()) return quiet.splice(quiet.end(), active_, found);
  fading_.splice(fading_.end(), active_, found);
  changed_.notify_all();
  MessageMover::Get().Nudge();
}

Communicator::Operations Communicator::TakeQuietLocked() {
  Operations quiet;
  for (auto place = fading_.begin(); place != fading_.end();) {
    const auto operation = place++;
    if ((*operation)->quiet()) quiet.splice(quiet.end(), fading_, operation);
  }
  return quiet;
}

// The engine comes last, so that the others say why, and stands still before any of them is done.
void Communicator::GiveUp(const Status& cause) {
  FailAll(cause);
  engine_->GiveUp(cause);
  MessageMover::Get().Kick();
}

void Communicator::FailAll(const Status& cause) {
  {
    std::lock_guard lock(mutex_);
    gave_up_ = true;
    if (over_.ok()) {
      over_ = Worded(HCCL_E_REMOTE, [&] {
        return Concat("communicator ", Escaped{name()},
                      " has given up, since an operation has failed (", cause.text(),
                      "), expected another to be made");
      });
    }
    NoteRemoteError(over_);  // as of the operations that follow
  }
  FailActive();
}

// One after the other, for which no memory is needed; without it the words are that there is none.
void Communicator::FailActive() {
  while (true) {
    std::shared_ptr<Pending> operation;
    Status status;
    {
      std::lock_guard lock(mutex_);
      const auto next =
          std::ranges::find_if(active_, [](const auto& each) { return !each->failed(); });
      if (next == active_.end()) return;
      operation = *next;
      status = CopyOf(over_);
    }
    operation->Fail(std::move(status));
  }
}

void Communicator::Ended(const Pending& operation) {
  std::lock_guard lock(mutex_);
  queued_.erase(&operation);
  changed_.notify_all();
}

void Communicator::HandOver() {
  handed_over_.fetch_add(1, std::memory_order_acq_rel);
  MessageMover::Get().Kick();
}

Moved::Result Communicator::Progress() {
  Result moved;
  moved.any = engine_->Progress();
  moved.busy = handed_over_.load(std::memory_order_acquire) > 0;
  Operations quiet;  // ends without the lock
  std::lock_guard lock(mutex_);
  quiet = TakeQuietLocked();
  moved.lingers = !active_.empty() || !fading_.empty() || engine_->peers_need_progress();
  return moved;
}

Status Communicator::LostPeer(uint32_t peer) const {
  return Worded(HCCL_E_REMOTE, [&] {
    const PeerState state = engine_->peer_state(peer);
    const Cause cause = state == PeerState::kGaveUp ? engine_->cause() : Cause();
    const std::string after = cause.rank == peer ? "" : Concat("; first failed rank ", cause.rank);
    return Concat("rank ", peer, " of communicator ", Escaped{name()}, " ", WordsOf(state),
                  cause.words.empty() ? "" : Concat(after, " (", cause.words, ")"),
                  ", expected all ranks to take part");
  });
}

void Communicator::NoteRemoteError(const Status& status) {
  std::lock_guard lock(error_mutex_);
  if (async_error() != 0) return;
  remote_error_ = CopyOf(status);
  async_error_.store(HCCL_E_REMOTE, std::memory_order_release);
}

// Without memory, too: a time-out or a death is told whatever happens.
void Communicator::LookAtPeers() {
  engine_->LookAtPeers();
  NotePeers();
  while (true) {
    const Doomed doomed = NextDoomed();
    if (doomed.operation == nullptr) return;
    Pending& operation = *doomed.operation;
    operation.Fail(doomed.peer != rank_ ? LostPeer(doomed.peer) : Worded(HCCL_E_TIMEOUT, [&] {
      return operation.TimeoutError().text();
    }));
  }
}

void Communicator::NotePeers() {
  std::lock_guard lock(mutex_);
  for (uint32_t rank = 0; rank < size_; ++rank) {
    Peer& peer = peers_[rank];
    const PeerState state = engine_->peer_state(rank);
    if (rank == rank_ || state == peer.state) continue;
    if (peer.state == PeerState::kAlive) peer.since = Clock::now();
    peer.state = state;
    if (state == PeerState::kDied || state == PeerState::kGaveUp) NoteRemoteError(LostPeer(rank));
  }
}

bool Communicator::Lost(uint32_t peer, Clock::time_point now) const {
  return peers_[peer].state != PeerState::kAlive && now > peers_[peer].since + kGrace;
}

// Names a rank that has died before ranks that gave up or fell silent because of it.
uint32_t Communicator::LostBy(const Pending& operation, bool died, Clock::time_point now) const {
  uint32_t lost = rank_;
  for (uint32_t rank = 0; rank < size_; ++rank) {
    if (!Lost(rank, now) || (lost != rank_ && peers_[rank].state >= peers_[lost].state)) continue;
    if (died || operation.Needs(rank)) lost = rank;
  }
  return lost;
}

// Where one has died all fail: whom an operation waits for may itself wait for the dead, or be
// about to, and a death is to be known within a second.
Communicator::Doomed Communicator::NextDoomed() {
  const Clock::time_point now = Clock::now();
  std::lock_guard lock(mutex_);
  bool died = false;
  for (uint32_t rank = 0; rank < size_; ++rank) {
    died |= peers_[rank].state == PeerState::kDied && Lost(rank, now);
  }
  for (const auto& operation : active_) {
    if (operation->failed()) continue;
    const uint32_t peer = LostBy(*operation, died, now);
    const bool late = operation->deadline() && now > *operation->deadline();
    if (peer != rank_ || late) return {operation, peer};
  }
  return {};
}

bool Communicator::Owes(Clock::time_point since) {
  Operations quiet;  // ends without the lock
  std::lock_guard lock(mutex_);
  quiet = TakeQuietLocked();
  if (gave_up_) return false;
  const Clock::time_point now = Clock::now();
  return std::ranges::any_of(fading_, [&](const auto& operation) {
    if (operation->failed() && now > since + kGrace) return false;
    if (operation->deadline() && now > *operation->deadline()) return false;
    for (uint32_t peer = 0; peer < size_; ++peer) {
      const bool lives = engine_->peer_state(peer) == PeerState::kAlive;
      if (lives && operation->Needs(peer)) return true;
    }
    return false;
  });
}

// Nobody moves messages any more: whoever waits for an operation, as static destructors do, has to
// be told.
void Communicator::Quit() {
  engine_->Quit();
  {
    std::lock_guard lock(mutex_);
    over_ = Worded(HCCL_E_UNAVAIL, [] {
      return std::string("process ends, expected the operation to be awaited before");
    });
  }
  FailActive();
}

std::vector<std::shared_ptr<HeldStream>> Communicator::AwaitedStreams() {
  std::vector<std::shared_ptr<HeldStream>> streams;
  std::lock_guard lock(mutex_);
  for (const Pending* const operation : queued_) streams.push_back(operation->stream());
  return streams;
}

void Communicator::Close() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queued_.size() == fading_.size(); });
    // A group that is open may still hold messages.
    over_ = Worded(HCCL_E_PARA, [&] {
      return Concat("communicator ", Escaped{name()},
                    " was destroyed before the operation began, expected it to live until the "
                    "operation is done");
    });
  }
  if (alone()) return;
  Moved* const all[] = {this};
  SendOut(all, std::nullopt);
  engine_->Leave();  // known to the thread still, which a process that ends asks to stop
  MessageMover::Get().Remove(this);
  Operations fading;  // this and the operations hold each other
  std::lock_guard lock(mutex_);
  fading.swap(fading_);
}

namespace {

HandleTable& Handles() { return Lasting<HandleTable>(); }

std::mutex& HandlesMutex() { return Handles().mutex(); }
[[maybe_unused]] const int kAtFork = HoldDuringFork<HandlesMutex>();

Status NoCommunicator(Found found, const void* handle) {
  if (found == Found::kNull)
    return Status(HCCL_E_PTR, "comm value is null, expected a communicator");
  return Status(HCCL_E_PARA, Concat("comm value is ", handle,
                                    found == Found::kStale ? ", which was destroyed" : "",
                                    ", expected a live communicator"));
}

}  // namespace

void* InsertCommunicator(std::shared_ptr<Communicator> communicator) {
  return InsertObject(
      Handles(), std::make_unique<CommunicatorEntry>(CommunicatorEntry{std::move(communicator)}));
}

Status FindCommunicator(const void* handle, std::shared_ptr<Communicator>* communicator) {
  Pinned<CommunicatorEntry> entry;
  const Found found = FindObject(Handles(), handle, &entry);
  if (found != Found::kLive) return NoCommunicator(found, handle);
  *communicator = entry->object;
  return {};
}

Status RemoveCommunicator(const void* handle, std::shared_ptr<Communicator>* communicator) {
  Status status = FindCommunicator(handle, communicator);
  if (!status.ok()) return status;
  const Found found = Handles().Remove(Kind::kCommunicator, handle);
  return found == Found::kLive ? Status() : NoCommunicator(found, handle);
}

}  // namespace openaclnn
