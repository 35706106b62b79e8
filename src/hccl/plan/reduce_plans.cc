// SPDX-License-Identifier: Apache-2.0
// Plans of the collectives that reduce. Whatever the way of the elements, the order of the sum is
// that of ReduceRanks.
#include <algorithm>
#include <utility>
#include <vector>

#include "client/client.h"
#include "hccl/plan/collective.h"
#include "hccl/plan/tree_sum.h"

namespace openaclnn {
namespace {

// Up to here everybody sends everything to whoever needs the result: one step, and the bytes on the
// wire do not matter yet.
constexpr uint64_t kSmallBytes = uint64_t{16} << 10;
// Bytes of one rank's slice that are under way at a time: while one piece is reduced the next one
// comes.
constexpr uint64_t kPieceBytes = uint64_t{1} << 20;
// Elements that a thread reduces at a time.
constexpr uint64_t kBlockElements = uint64_t{32} << 10;

/// The elements of all ranks at one place of the vector.
struct Terms {
  Reduction reduction;
  std::vector<const void*> inputs;
  uint64_t count;
  std::byte* result;
};

Status ReduceTerms(const Terms& terms) {
  const auto block = [](void* state, uint64_t index) {
    const auto& all = *static_cast<const Terms*>(state);
    const uint64_t first = index * kBlockElements;
    ReduceRanks(all.inputs.data(), static_cast<uint32_t>(all.inputs.size()), first,
                std::min(all.count, first + kBlockElements), all.reduction.type, all.reduction.op,
                all.result);
  };
  const uint64_t blocks = (terms.count + kBlockElements - 1) / kBlockElements;
  auto* const state = const_cast<Terms*>(&terms);
  if (blocks == 1) {
    block(state, 0);
  } else if (blocks > 1) {
    Runtime().parallel_for(blocks, /*is_long=*/0, block, state);
  }
  return {};
}

/// All of everybody's elements to each rank that wants the result.
Plan PlanSmall(Place place, Reduction reduction, uint64_t count, const std::vector<bool>& wants,
               const std::byte* send, std::byte* recv) {
  const uint64_t bytes = count * reduction.bytes;
  Plan plan;
  Step& step = plan.steps.emplace_back();
  for (uint32_t peer = 0; peer < place.size; ++peer) {
    if (peer != place.rank && wants[peer]) step.moves.push_back(SendTo(peer, send, bytes));
  }
  if (!wants[place.rank]) return plan;
  std::byte* const theirs = plan.AddScratch(place.size * bytes);
  Terms terms = {reduction, {}, count, recv};
  for (uint32_t peer = 0; peer < place.size; ++peer) {
    std::byte* const from = theirs + peer * bytes;
    terms.inputs.push_back(peer == place.rank ? send : from);
    if (peer != place.rank) step.moves.push_back(ReceiveFrom(peer, from, bytes));
  }
  step.work = [terms = std::move(terms)] { return ReduceTerms(terms); };
  return plan;
}

/// Where the reduced slices go.
enum class Gather { kNowhere, kToAll, kToRoot };

/// Slice j of every rank goes to rank j, which reduces it; then the slices are gathered. By pieces:
/// while one is reduced the next arrives, and the one before is gathered.
class SlicedPlan {
 public:
  struct Shape {
    Place place;
    Reduction reduction;
    uint64_t count;  // of all slices
    uint64_t slice;  // of one; the last may have less
    Gather gather;
    uint32_t root;
  };

  SlicedPlan(const Shape& shape, const std::byte* send, std::byte* recv)
      : shape_(shape), send_(send), recv_(recv) {}

  Plan Make() {
    const Place place = shape_.place;
    piece_ = std::max<uint64_t>(1, std::min(shape_.slice, kPieceBytes / shape_.reduction.bytes));
    const uint64_t pieces = (shape_.slice + piece_ - 1) / piece_;
    const uint64_t room = piece_ * shape_.reduction.bytes;
    for (auto& scratch : theirs_) scratch = plan_.AddScratch(place.size * room);
    for (auto& scratch : reduced_) scratch = KeepsResult() ? nullptr : plan_.AddScratch(room);
    for (uint64_t i = 0; i <= pieces; ++i) {
      if (i == pieces && shape_.gather == Gather::kNowhere) break;
      Step& step = plan_.steps.emplace_back();
      if (i > 0 && shape_.gather != Gather::kNowhere) AddGather(i - 1, &step.moves);
      if (i < pieces) AddReduce(i, &step);
    }
    return std::move(plan_);
  }

 private:
  struct Range {
    uint64_t first;  // element of the whole vector
    uint64_t count;
  };

  Range Piece(uint32_t rank, uint64_t index) const {
    const uint64_t begin = std::min(shape_.count, rank * shape_.slice);
    const uint64_t end = std::min(shape_.count, begin + shape_.slice);
    const uint64_t first = std::min(end, begin + index * piece_);
    return {first, std::min(end, first + piece_) - first};
  }
  uint64_t Bytes(uint64_t count) const { return count * shape_.reduction.bytes; }

  /// Whether the rank's own slice of the result is a part of what it is to get.
  bool KeepsResult() const {
    return shape_.gather != Gather::kToRoot || shape_.place.rank == shape_.root;
  }

  std::byte* Result(uint64_t index, const Range& own) const {
    if (!KeepsResult()) return reduced_[index % 2];
    // A scattered result begins with the rank's own slice.
    const uint64_t first = shape_.gather == Gather::kNowhere ? shape_.place.rank * shape_.slice : 0;
    return recv_ + Bytes(own.first - first);
  }

  void AddReduce(uint64_t index, Step* step) {
    const Place place = shape_.place;
    const Range own = Piece(place.rank, index);
    Terms terms = {shape_.reduction, {}, own.count, Result(index, own)};
    for (uint32_t peer = 0; peer < place.size; ++peer) {
      const Range theirs = Piece(peer, index);
      std::byte* const from = theirs_[index % 2] + peer * Bytes(piece_);
      terms.inputs.push_back(peer == place.rank ? send_ + Bytes(own.first) : from);
      if (peer == place.rank) continue;
      if (theirs.count > 0) {
        step->ahead.push_back(SendTo(peer, send_ + Bytes(theirs.first), Bytes(theirs.count)));
      }
      if (own.count > 0) step->ahead.push_back(ReceiveFrom(peer, from, Bytes(own.count)));
    }
    step->work = [terms = std::move(terms)] { return ReduceTerms(terms); };
  }

  void AddGather(uint64_t index, std::vector<Move>* moves) const {
    const Place place = shape_.place;
    const Range own = Piece(place.rank, index);
    const bool to_all = shape_.gather == Gather::kToAll;
    for (uint32_t peer = 0; peer < place.size; ++peer) {
      if (peer == place.rank) continue;
      if ((to_all || peer == shape_.root) && own.count > 0) {
        moves->push_back(SendTo(peer, Result(index, own), Bytes(own.count)));
      }
      const Range theirs = Piece(peer, index);
      if ((to_all || place.rank == shape_.root) && theirs.count > 0) {
        moves->push_back(ReceiveFrom(peer, recv_ + Bytes(theirs.first), Bytes(theirs.count)));
      }
    }
  }

  const Shape shape_;
  const std::byte* const send_;
  std::byte* const recv_;
  Plan plan_;
  uint64_t piece_ = 0;         // elements
  std::byte* theirs_[2] = {};  // of two pieces, what the other ranks sent
  std::byte* reduced_[2] = {};
};

/// Slices of whole cache lines.
uint64_t SliceOf(uint64_t count, uint32_t size) {
  constexpr uint64_t kTogether = 64;
  return ((count + size - 1) / size + kTogether - 1) / kTogether * kTogether;
}

}  // namespace

Plan PlanAllReduce(Place place, Reduction reduction, uint64_t count, const std::byte* send,
                   std::byte* recv) {
  if (count * reduction.bytes <= kSmallBytes) {
    const std::vector<bool> wants(place.size, true);
    return PlanSmall(place, reduction, count, wants, send, recv);
  }
  const uint64_t slice = SliceOf(count, place.size);
  return SlicedPlan({place, reduction, count, slice, Gather::kToAll, 0}, send, recv).Make();
}

Plan PlanReduce(Place place, Reduction reduction, uint64_t count, uint32_t root,
                const std::byte* send, std::byte* recv) {
  if (count * reduction.bytes <= kSmallBytes) {
    std::vector<bool> wants(place.size, false);
    wants[root] = true;
    return PlanSmall(place, reduction, count, wants, send, recv);
  }
  const uint64_t slice = SliceOf(count, place.size);
  return SlicedPlan({place, reduction, count, slice, Gather::kToRoot, root}, send, recv).Make();
}

Plan PlanReduceScatter(Place place, Reduction reduction, uint64_t count, const std::byte* send,
                       std::byte* recv) {
  return SlicedPlan({place, reduction, count * place.size, count, Gather::kNowhere, 0}, send, recv)
      .Make();
}

}  // namespace openaclnn
