// SPDX-License-Identifier: Apache-2.0
// Networks of ranks: where bench/ranks/ranks_networks.py has started the test, each rank has its
// own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ascendcl/fixture.h"

namespace openaclnn::ranks {

/// How many there are; 0 where all ranks share the machine's.
uint32_t CountNetworks();

/// The address at which the rank is reached from the test, and from the other ranks.
std::string AddressOf(uint32_t rank);

/// What this thread starts meanwhile is in the rank's network, with shared memory off.
class WithinNetwork {
 public:
  explicit WithinNetwork(uint32_t rank);
  WithinNetwork(const WithinNetwork&) = delete;
  ~WithinNetwork();

 private:
  int before_ = -1;
  std::optional<Variable> transports_;
};

/// Runs the body where what it starts has a network with nothing but `lo`, up or down. False, and
/// nothing has run, where there may be no such network.
bool WithinLoopback(bool up, const std::function<void()>& body);

/// Bytes that the rank has sent and received, by the switch's port.
struct Traffic {
  uint64_t sent, received;
};
Traffic TrafficOf(uint32_t rank);

/// Pulls the rank's cable, or puts it in again.
bool SetCable(uint32_t rank, bool in);

}  // namespace openaclnn::ranks
