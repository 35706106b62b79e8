// SPDX-License-Identifier: Apache-2.0
// The exchange of headers, and the words for a difference.
#include "hccl/communicator/agreement.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "hccl/hccl_types.h"
#include "hccl/plan/data_type.h"

namespace openaclnn {
namespace {

constexpr const char* kNames[] = {
    "HcclAllReduce", "HcclReduce",   "HcclReduceScatter", "HcclAllGather",        "HcclBroadcast",
    "HcclScatter",   "HcclAlltoAll", "HcclBarrier",       "HcclSend or HcclRecv",
};
static_assert(std::size(kNames) == static_cast<size_t>(CallKind::kCount));

std::string KindName(CallKind kind) {
  return kind < CallKind::kCount ? kNames[static_cast<size_t>(kind)] : "not known";
}

std::string TypeName(uint32_t type) {
  const HcclTypeInfo* info = FindHcclType(static_cast<HcclDataType>(type));
  return info != nullptr ? info->name : Concat(type);
}

std::string OpName(uint32_t op) {
  const char* name = ReduceOpName(static_cast<HcclReduceOp>(op));
  return name != nullptr ? name : Concat(op);
}

/// "count" of elements where both have one type.
std::string CountOf(uint64_t bytes, uint32_t type) {
  const HcclTypeInfo* info = FindHcclType(static_cast<HcclDataType>(type));
  return Concat(info != nullptr ? bytes / info->bytes : bytes);
}

Status Differ(uint32_t peer, uint32_t rank, const char* what, const std::string& theirs,
              const std::string& own) {
  return Status(HCCL_E_PARA, Concat(what, " of rank ", peer, " is ", theirs, ", expected ", own,
                                    " as on rank ", rank));
}

Status Compare(const CallHeader& theirs, const CallHeader& own, uint32_t peer, uint32_t rank) {
  if (theirs.kind != own.kind) {
    return Differ(peer, rank, "operation", KindName(theirs.kind), KindName(own.kind));
  }
  if (theirs.type != own.recv_type()) {
    return Differ(peer, rank, "type", TypeName(theirs.type), TypeName(own.recv_type()));
  }
  if (theirs.recv_type() != own.type) {
    return Differ(peer, rank, "recvType", TypeName(theirs.recv_type()), TypeName(own.type));
  }
  if (own.kind != CallKind::kAllToAll && theirs.op != own.op)
    return Differ(peer, rank, "reduction", OpName(theirs.op), OpName(own.op));
  if (theirs.root != own.root) {
    return Differ(peer, rank, "root", Concat(theirs.root), Concat(own.root));
  }
  for (const auto& [here, there] : {std::pair(own.recv_bytes, theirs.send_bytes),
                                    std::pair(own.send_bytes, theirs.recv_bytes)}) {
    if (here == there) continue;
    return Differ(peer, rank, "count", CountOf(there, own.type), CountOf(here, own.type));
  }
  return {};
}

/// The message of the step to the peer, or from it, if it is small: it is taken out.
std::optional<Move> TakeSmall(const Agreement& with, bool receives, Step* step) {
  for (auto* const moves : {&step->ahead, &step->moves}) {
    const auto found = std::ranges::find_if(*moves, [&](const Move& move) {
      return move.receives == receives && move.peer == with.peer &&
             move.tag == (receives ? with.recv_tag : with.send_tag);
    });
    if (found == moves->end()) continue;
    if (found->bytes > kRidingBytes) return std::nullopt;
    const Move taken = *found;
    moves->erase(found);
    return taken;
  }
  return std::nullopt;
}

struct Copy {
  std::byte* to;
  const std::byte* from;
  size_t bytes;
};

void CopyAll(const std::vector<Copy>& copies) {
  for (const Copy& copy : copies) std::memcpy(copy.to, copy.from, copy.bytes);
}

/// A header and what rides with it, to and from each peer.
class Exchange {
 public:
  Exchange(const std::vector<Agreement>& agreements, Plan* plan)
      : agreements_(agreements), plan_(plan) {
    own_ = plan->AddScratch(agreements.size() * kRoom);
    theirs_ = plan->AddScratch(agreements.size() * kRoom);
    for (size_t i = 0; i < agreements.size(); ++i) Add(i);
    if (!sent_.empty()) plan->prepare.push_back([sent = std::move(sent_)] { CopyAll(sent); });
  }

  const std::vector<Move>& moves() const { return moves_; }

  /// Compares what has come, and then puts what rode where it belongs.
  std::function<Status()> Work(Place place) const {
    return [place, agreements = agreements_, theirs = theirs_, received = received_] {
      for (size_t i = 0; i < agreements.size(); ++i) {
        CallHeader header;
        std::memcpy(&header, theirs + i * kRoom, sizeof(header));
        Status status = Compare(header, agreements[i].header, agreements[i].peer, place.rank);
        if (!status.ok()) return status;
      }
      CopyAll(received);
      return Status();
    };
  }

 private:
  static constexpr size_t kRoom = sizeof(CallHeader) + kRidingBytes;

  void Add(size_t index) {
    const Agreement& with = agreements_[index];
    std::byte* const own = own_ + index * kRoom;
    std::byte* const theirs = theirs_ + index * kRoom;
    std::memcpy(own, &with.header, sizeof(CallHeader));
    size_t bytes = sizeof(CallHeader);
    Step* const first = plan_->steps.empty() ? nullptr : plan_->steps.data();
    if (const auto sends = first ? TakeSmall(with, false, first) : std::nullopt) {
      sent_.push_back({own + bytes, sends->data, sends->bytes});
      bytes += sends->bytes;
    }
    if (const auto receives = first ? TakeSmall(with, true, first) : std::nullopt) {
      received_.push_back({receives->data, theirs + sizeof(CallHeader), receives->bytes});
    }
    moves_.push_back(
        {false, with.peer, own, bytes, with.send_tag, /*shorter=*/false, /*own=*/true});
    moves_.push_back(
        {true, with.peer, theirs, kRoom, with.recv_tag, /*shorter=*/true, /*own=*/true});
  }

  const std::vector<Agreement>& agreements_;
  Plan* const plan_;
  std::byte* own_;
  std::byte* theirs_;
  std::vector<Move> moves_;
  std::vector<Copy> sent_, received_;
};

}  // namespace

void AddAgreements(Place place, const std::vector<Agreement>& agreements, bool before, Plan* plan) {
  const Exchange exchange(agreements, plan);
  Step step;
  step.moves = exchange.moves();
  const bool alone = before || plan->steps.empty();
  std::function<Status()> work = alone ? nullptr : std::move(plan->steps[0].work);
  step.work = [compare = exchange.Work(place), work = std::move(work)] {
    Status status = compare();
    return status.ok() && work != nullptr ? work() : status;
  };
  if (alone) {
    step.gate = true;
    plan->steps.insert(plan->steps.begin(), std::move(step));
    return;
  }
  Step& first = plan->steps[0];
  first.moves.insert(first.moves.begin(), step.moves.begin(), step.moves.end());
  first.work = std::move(step.work);
}

}  // namespace openaclnn
