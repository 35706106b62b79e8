// SPDX-License-Identifier: Apache-2.0
// Meeting: what a rank has of the others when all have met.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hccl/rendezvous/socket.h"

namespace openaclnn {

struct Meeting {
  std::vector<std::string> addresses;  // of all ranks' engines
  /// By rank, and they stay open: who dies closes them. The root has one to each rank, the others
  /// have one to the root.
  std::vector<Socket> sockets;
  bool root = false;
  uint32_t root_rank = 0;
  bool checked = false;  // the root's rank tells the others what it calls, and so do all
};

}  // namespace openaclnn
