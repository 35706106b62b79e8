// SPDX-License-Identifier: Apache-2.0
// Rendezvous: the ranks of a new communicator meet at the root, and learn each other's addresses.
#pragma once

#include <cstdint>
#include <string>

#include "common/status.h"
#include "hccl/rendezvous/environment.h"
#include "hccl/rendezvous/meeting.h"
#include "hccl/rendezvous/root_info.h"

namespace openaclnn {

/// Returns when all ranks have come, or the time is over. `address` is this rank's.
Status Meet(const HcclEnvironment& environment, const RootInfo& info, uint32_t ranks, uint32_t rank,
            const std::string& address, Meeting* meeting);

/// Where this is the root's rank and has not met the others: they hear at once why it will not.
void RefuseToMeet(const HcclEnvironment& environment, const RootInfo& info, uint32_t ranks,
                  uint32_t rank, const Status& why);

}  // namespace openaclnn
