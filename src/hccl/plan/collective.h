// SPDX-License-Identifier: Apache-2.0
// Collectives: the plan of each for one rank, from the number of ranks and elements alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hccl/hccl_types.h"
#include "hccl/plan/plan.h"

namespace openaclnn {

/// One rank among those that take part.
struct Place {
  uint32_t size;
  uint32_t rank;
};

/// The elements of a reduction and their operation.
struct Reduction {
  HcclDataType type;
  uint32_t bytes;  // of an element
  HcclReduceOp op;
};

// Addresses are the process's. `count` is that of the function of the API.

Plan PlanAllReduce(Place place, Reduction reduction, uint64_t count, const std::byte* send,
                   std::byte* recv);
Plan PlanReduce(Place place, Reduction reduction, uint64_t count, uint32_t root,
                const std::byte* send, std::byte* recv);
Plan PlanReduceScatter(Place place, Reduction reduction, uint64_t count, const std::byte* send,
                       std::byte* recv);

Plan PlanAllGather(Place place, uint64_t bytes, const std::byte* send, std::byte* recv);
Plan PlanBroadcast(Place place, uint64_t bytes, uint32_t root, std::byte* buffer);
Plan PlanScatter(Place place, uint64_t bytes, uint32_t root, const std::byte* send,
                 std::byte* recv);

/// Puts the messages of every step in the order of the ranks behind this one, the next one's first:
/// where all began with rank 0, its link would be full while the others' stand idle.
void BeginWithTheNext(Place place, Plan* plan);

/// A part of a buffer.
struct Part {
  uint64_t offset;
  uint64_t bytes;
};
/// A part for, and from, each rank.
Plan PlanAllToAll(Place place, std::span<const Part> sends, std::span<const Part> receives,
                  const std::byte* send, std::byte* recv);

}  // namespace openaclnn
