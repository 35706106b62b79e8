// SPDX-License-Identifier: Apache-2.0
// ProgramMemory: which parts of reserved and of registered memory tasks keep.
#include "ascendcl/graph/program_memory.h"

#include <algorithm>
#include <new>
#include <utility>

#include "acl/acl.h"
#include "ascendcl/memory/memory.h"

namespace openaclnn {

void ProgramMemory::Add(const Task& task) {
  struct Found {
    ProgramMemory memory;
    bool complete = true;  // there was memory for all
  } found;
  const auto add = [](void* to, const Kept& kept) noexcept {
    auto& all = *static_cast<Found*>(to);
    try {
      all.memory.AddKept(kept);
    } catch (const std::bad_alloc&) {
      all.complete = false;
    }
  };
  task.EachKept(add, &found);
  if (!found.complete) throw std::bad_alloc();
  Take(std::move(found.memory));
}

void ProgramMemory::Take(ProgramMemory&& other) {
  parts_.merge(other.parts_);
  registered_.merge(other.registered_);
}

// Whole granules are mapped and unmapped: operands that share them are one part.
void ProgramMemory::AddKept(const Kept& kept) {
  const AddressRange* const range = kept.allocation.range.get();
  if (range == nullptr) return;
  if (range->registered()) {
    registered_.insert(&kept.allocation);
    return;
  }
  constexpr uint64_t kUnit = AddressRange::kGranularity;
  const std::byte* const origin = range->block().host;
  const auto offset = static_cast<uint64_t>(kept.host - origin);
  const uint64_t first = offset / kUnit, end = (offset + kept.bytes + kUnit - 1) / kUnit;
  parts_.emplace(origin + first * kUnit, origin + end * kUnit);
}

bool ProgramMemory::Has(const std::byte* host, uint64_t bytes) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const auto& part) {
    return part.first < host + bytes && host < part.second;
  });
}

Status ProgramMemory::CheckRegistered() const {
  for (const Allocation* const allocation : registered_) {
    if (Memory::Get().IsLive(*allocation)) continue;
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Concat("modelRI memory is in part what was registered at ",
                         static_cast<const void*>(allocation->block.host),
                         ", expected aclrtHostUnregister of it after the last execution"));
  }
  return {};
}

}  // namespace openaclnn
