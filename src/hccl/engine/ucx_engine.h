// SPDX-License-Identifier: Apache-2.0
// The engine between processes and machines: UCX, where it is installed.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/status.h"
#include "hccl/engine/engine.h"
#include "hccl/rendezvous/meeting.h"

namespace openaclnn {

/// How the ranks meet: gives all of them each other's addresses.
using MeetFunction = std::function<Status(const std::string& address, Meeting* meeting)>;

/// Connected to all ranks, and they to it, when it returns; `timeout`: from their meeting to that.
/// HCCL_E_UNAVAIL where there is no UCX, with what to install, or too few descriptors for it.
Status MakeUcxEngine(uint32_t ranks, uint32_t rank, std::chrono::seconds timeout,
                     const MeetFunction& meet, std::unique_ptr<Engine>* engine);

}  // namespace openaclnn
