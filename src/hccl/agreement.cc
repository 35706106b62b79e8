// SPDX-License-Identifier: Apache-2.0
// The exchange of headers, and the words for a difference.
#include "hccl/agreement.h"

#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "hccl/data_type.h"
#include "hccl/hccl_types.h"

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
  if (theirs.type != own.type) {
    return Differ(peer, rank, "type", TypeName(theirs.type), TypeName(own.type));
  }
  if (theirs.op != own.op)
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

}  // namespace

void AddAgreements(Place place, const std::vector<Agreement>& agreements, bool before, Plan* plan) {
  const size_t bytes = agreements.size() * sizeof(CallHeader);
  std::byte* const own = plan->AddScratch(bytes);
  std::byte* const theirs = plan->AddScratch(bytes);
  Step step;
  for (size_t i = 0; i < agreements.size(); ++i) {
    const Agreement& with = agreements[i];
    const size_t at = i * sizeof(CallHeader);
    std::memcpy(own + at, &with.header, sizeof(CallHeader));
    step.moves.push_back({false, with.peer, own + at, sizeof(CallHeader), with.send_tag});
    step.moves.push_back({true, with.peer, theirs + at, sizeof(CallHeader), with.recv_tag});
  }
  const bool alone = before || plan->steps.empty();
  std::function<Status()> work = alone ? nullptr : std::move(plan->steps[0].work);
  step.work = [place, agreements, theirs, work = std::move(work)] {
    for (size_t i = 0; i < agreements.size(); ++i) {
      CallHeader header;
      std::memcpy(&header, theirs + i * sizeof(CallHeader), sizeof(header));
      Status status = Compare(header, agreements[i].header, agreements[i].peer, place.rank);
      if (!status.ok()) return status;
    }
    return work != nullptr ? work() : Status();
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
