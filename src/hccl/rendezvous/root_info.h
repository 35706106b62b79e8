// SPDX-License-Identifier: Apache-2.0
// Root info: what is in the bytes by which the ranks of a communicator find each other.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/status.h"
#include "hccl/hccl_types.h"
#include "hccl/rendezvous/environment.h"
#include "hccl/rendezvous/socket.h"

namespace openaclnn {

/// Changed with whatever ranks tell each other: those of different versions refuse.
inline constexpr uint32_t kRendezvousVersion = 8;

/// Which communicator is meant; nobody else can know it.
using Nonce = std::array<uint8_t, 16>;

Status NewNonce(Nonce* nonce);

struct RootInfo {
  Nonce nonce{};
  std::vector<Address> addresses;
};

/// Listens, and keeps the socket until Init on this rank takes it.
Status MakeRootInfo(const HcclEnvironment& environment, HcclRootInfo* blob);

/// HCCL_E_PARA when the bytes are none of ours.
Status ReadRootInfo(const HcclRootInfo& blob, RootInfo* info);

/// The socket of a root info that was made in this process and that nobody has taken; else none.
Socket TakeListener(const Nonce& nonce);

}  // namespace openaclnn
