// SPDX-License-Identifier: Apache-2.0
// Plans of the collectives that only move elements.
#include <algorithm>
#include <cstring>

#include "hccl/plan/collective.h"

namespace openaclnn {
namespace {

// From here on a broadcast to several goes in slices, so that all ranks send.
constexpr uint64_t kSlicedBroadcast = uint64_t{64} << 10;

void Copy(std::byte* to, const std::byte* from, uint64_t bytes) {
  if (to != from && bytes > 0) std::memcpy(to, from, bytes);
}

/// The rank's slice of a buffer that is cut into as many as there are ranks.
Part Slice(uint64_t bytes, Place place, uint32_t rank) {
  constexpr uint64_t kLine = 64;
  const uint64_t each = ((bytes + place.size - 1) / place.size + kLine - 1) / kLine * kLine;
  const uint64_t begin = std::min(bytes, each * rank);
  return {begin, std::min(bytes, begin + each) - begin};
}

void AddMove(std::vector<Move>* moves, const Move& move) {
  if (move.bytes > 0) moves->push_back(move);
}

}  // namespace

void BeginWithTheNext(Place place, Plan* plan) {
  const auto distance = [&](const Move& move) {
    return (move.peer + place.size - place.rank) % place.size;
  };
  for (Step& step : plan->steps) {
    std::ranges::stable_sort(step.ahead, {}, distance);
    std::ranges::stable_sort(step.moves, {}, distance);
  }
}

Plan PlanAllGather(Place place, uint64_t bytes, const std::byte* send, std::byte* recv) {
  Plan plan;
  Step& step = plan.steps.emplace_back();
  for (uint32_t peer = 0; peer < place.size; ++peer) {
    if (peer == place.rank) continue;
    AddMove(&step.moves, SendTo(peer, send, bytes));
    AddMove(&step.moves, ReceiveFrom(peer, recv + peer * bytes, bytes));
  }
  std::byte* const own = recv + place.rank * bytes;
  step.work = [=] {
    Copy(own, send, bytes);
    return Status();
  };
  return plan;
}

Plan PlanBroadcast(Place place, uint64_t bytes, uint32_t root, std::byte* buffer) {
  const bool sliced = place.size > 2 && bytes >= kSlicedBroadcast;
  const bool is_root = place.rank == root;
  Plan plan;
  Step& first = plan.steps.emplace_back();
  for (uint32_t peer = 0; is_root && peer < place.size; ++peer) {
    if (peer == root) continue;
    const Part part = sliced ? Slice(bytes, place, peer) : Part{0, bytes};
    AddMove(&first.moves, SendTo(peer, buffer + part.offset, part.bytes));
  }
  const Part own = sliced ? Slice(bytes, place, place.rank) : Part{0, bytes};
  if (!is_root) AddMove(&first.moves, ReceiveFrom(root, buffer + own.offset, own.bytes));
  if (!sliced) return plan;
  // Everybody passes its slice on; the root has the others' already.
  Step& second = plan.steps.emplace_back();
  for (uint32_t peer = 0; peer < place.size; ++peer) {
    if (peer == place.rank) continue;
    if (peer != root) AddMove(&second.moves, SendTo(peer, buffer + own.offset, own.bytes));
    if (is_root) continue;
    const Part theirs = Slice(bytes, place, peer);
    AddMove(&second.moves, ReceiveFrom(peer, buffer + theirs.offset, theirs.bytes));
  }
  return plan;
}

Plan PlanScatter(Place place, uint64_t bytes, uint32_t root, const std::byte* send,
                 std::byte* recv) {
  Plan plan;
  Step& step = plan.steps.emplace_back();
  if (place.rank != root) {
    AddMove(&step.moves, ReceiveFrom(root, recv, bytes));
    return plan;
  }
  for (uint32_t peer = 0; peer < place.size; ++peer) {
    if (peer != root) AddMove(&step.moves, SendTo(peer, send + peer * bytes, bytes));
  }
  step.work = [=] {
    Copy(recv, send + root * bytes, bytes);
    return Status();
  };
  return plan;
}

Plan PlanAllToAll(Place place, std::span<const Part> sends, std::span<const Part> receives,
                  const std::byte* send, std::byte* recv) {
  Plan plan;
  Step& step = plan.steps.emplace_back();
  for (uint32_t peer = 0; peer < place.size; ++peer) {
    if (peer == place.rank) continue;
    AddMove(&step.moves, SendTo(peer, send + sends[peer].offset, sends[peer].bytes));
    AddMove(&step.moves, ReceiveFrom(peer, recv + receives[peer].offset, receives[peer].bytes));
  }
  const Part from = sends[place.rank], to = receives[place.rank];
  step.work = [=] {
    Copy(recv + to.offset, send + from.offset, to.bytes);
    return Status();
  };
  return plan;
}

}  // namespace openaclnn
