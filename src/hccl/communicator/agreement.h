// SPDX-License-Identifier: Apache-2.0
// Agreement: ranks tell each other what they call, so that a difference is named.
#pragma once

#include <cstdint>
#include <vector>

#include "hccl/plan/collective.h"
#include "hccl/plan/plan.h"

namespace openaclnn {

enum class CallKind : uint32_t {
  kAllReduce,
  kReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kScatter,
  kAllToAll,
  kBarrier,
  kMessage,
  kCount
};

/// The header that a rank sends to one peer. Goes over the network as it is, between machines of
/// one kind.
struct CallHeader {
  CallKind kind;
  uint32_t type;
  uint32_t op;  // of AlltoAll: the type of what comes
  uint32_t root;
  uint64_t send_bytes;  // that go to this peer, for collectives of one count: of that
  uint64_t recv_bytes;  // that come from it

  uint32_t recv_type() const { return kind == CallKind::kAllToAll ? op : type; }
};

/// One peer, and what it is told; `tag`s as those of Move, of what is sent and what comes.
struct Agreement {
  uint32_t peer;
  CallHeader header;
  uint64_t send_tag = 0;
  uint64_t recv_tag = 0;
};

/// Bytes of a message of the first step that ride with the header, so that the operation is one
/// exchange. Who does not know yet whether the other calls the same has room for so many.
inline constexpr uint64_t kRidingBytes = (uint64_t{8} << 10) - sizeof(CallHeader);

/// Puts the exchange before the plan's first step, where `before` any other byte reaches the
/// program's memory, else into that step; small messages of the step ride with it.
void AddAgreements(Place place, const std::vector<Agreement>& agreements, bool before, Plan* plan);

}  // namespace openaclnn
