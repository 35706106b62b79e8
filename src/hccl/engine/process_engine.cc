// SPDX-License-Identifier: Apache-2.0
// The engine within a process: sends and receives meet in a table, and who comes second copies.
#include "hccl/engine/process_engine.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "ascendcl/report/error.h"
#include "hccl/engine/failure.h"
#include "hccl/hccl_types.h"

namespace openaclnn {
namespace {

/// The messages that the ranks of the process share. Copies are made under the lock, so that what
/// was cancelled is not written.
class Exchange {
 public:
  explicit Exchange(uint32_t ranks) : states_(ranks, PeerState::kAlive) {}

  void Begin(uint32_t rank, Transfer* transfer) {
    const Key key = KeyOf(rank, *transfer);
    std::lock_guard lock(mutex_);
    const auto found = waiting_.find(key);
    if (found == waiting_.end() || found->second.front()->receives == transfer->receives) {
      return Wait(key, transfer);
    }
    Waiting& waiting = found->second;
    Transfer* const other = waiting.front();
    waiting.pop_front();
    if (waiting.empty()) waiting_.erase(found);
    Match(transfer->receives ? *transfer : *other, transfer->receives ? *other : *transfer);
  }

  void Cancel(uint32_t rank, Transfer* transfer) {
    std::lock_guard lock(mutex_);
    const auto found = waiting_.find(KeyOf(rank, *transfer));
    if (found == waiting_.end()) return;
    Waiting& waiting = found->second;
    const auto place = std::ranges::find(waiting, transfer);
    if (place == waiting.end()) return;
    waiting.erase(place);
    if (waiting.empty()) waiting_.erase(found);
    transfer->owner->Done(*transfer, Status(HCCL_E_INTERNAL, "cancelled"));
  }

  void GiveUp(uint32_t rank, const Status& cause) {
    std::lock_guard lock(mutex_);
    if (states_[rank] == PeerState::kAlive) states_[rank] = PeerState::kGaveUp;
    (void)Guard([&] {
      if (cause_.words.empty()) cause_ = {rank, cause.text()};
      return Status();
    });
  }
  Cause cause() const {
    std::lock_guard lock(mutex_);
    return cause_;
  }
  void Leave(uint32_t rank) {
    std::lock_guard lock(mutex_);
    if (states_[rank] == PeerState::kAlive) states_[rank] = PeerState::kLeft;
    for (auto place = waiting_.begin(); place != waiting_.end();) {
      const auto& [key, waiting] = *place;
      const bool own = rank == (waiting.front()->receives ? key.to : key.from);
      place = own ? waiting_.erase(place) : std::next(place);
    }
  }
  PeerState state(uint32_t rank) const {
    std::lock_guard lock(mutex_);
    return states_[rank];
  }

 private:
  struct Key {
    uint32_t from;
    uint32_t to;
    uint64_t tag;
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): of Clang 14
  };
  using Waiting = std::deque<Transfer*>;

  static Key KeyOf(uint32_t rank, const Transfer& transfer) {
    return transfer.receives ? Key{transfer.peer, rank, transfer.tag}
                             : Key{rank, transfer.peer, transfer.tag};
  }

  void Wait(const Key& key, Transfer* transfer) {
    const Status waits = Guard([&] {
      waiting_[key].push_back(transfer);
      return Status();
    });
    if (waits.ok()) return;
    const auto found = waiting_.find(key);
    if (found != waiting_.end() && found->second.empty()) waiting_.erase(found);
    transfer->owner->Done(*transfer, waits);
  }

  static void Match(Transfer& to, Transfer& from) {
    Status received;
    if (from.bytes == to.bytes || (to.shorter && from.bytes < to.bytes)) {
      if (from.bytes > 0) std::memcpy(to.data, from.data, from.bytes);
    } else {
      received = Worded(HCCL_E_PARA, [&] {
        return Concat("message size of rank ", to.peer, " is ", from.bytes, " bytes, expected ",
                      to.bytes);
      });
    }
    to.owner->Done(to, received);
    from.owner->Done(from, Status());
  }

  mutable std::mutex mutex_;  // guards what follows
  std::map<Key, Waiting> waiting_;
  std::vector<PeerState> states_;
  Cause cause_;
};

class ProcessEngine final : public Engine {
 public:
  ProcessEngine(std::shared_ptr<Exchange> exchange, uint32_t rank)
      : exchange_(std::move(exchange)), rank_(rank) {}

  void Begin(Transfer* transfer) override { exchange_->Begin(rank_, transfer); }
  void Cancel(Transfer* transfer) override { exchange_->Cancel(rank_, transfer); }
  bool Progress() override { return false; }
  bool needs_progress() const override { return false; }
  PeerState peer_state(uint32_t peer) const override { return exchange_->state(peer); }
  bool AddDescriptors(bool, std::vector<pollfd>*) override { return true; }
  Cause cause() const override { return exchange_->cause(); }
  void GiveUp(const Status& cause) override { exchange_->GiveUp(rank_, cause); }
  void Leave() override { exchange_->Leave(rank_); }

 private:
  const std::shared_ptr<Exchange> exchange_;
  const uint32_t rank_;
};

}  // namespace

std::vector<std::unique_ptr<Engine>> MakeProcessEngines(uint32_t ranks) {
  const auto exchange = std::make_shared<Exchange>(ranks);
  std::vector<std::unique_ptr<Engine>> engines;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    engines.push_back(std::make_unique<ProcessEngine>(exchange, rank));
  }
  return engines;
}

}  // namespace openaclnn
