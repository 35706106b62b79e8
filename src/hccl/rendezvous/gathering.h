// SPDX-License-Identifier: Apache-2.0
// Gathering: how far the ranks have come that make a communicator, as its root knows.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"

namespace openaclnn {

/// One step after the other, each of which is over when all ranks have arrived.
class Gathering {
 public:
  explicit Gathering(uint32_t ranks) : places_(ranks) {}

  /// Whether the rank was the last: then the next step has begun.
  bool Arrive(uint32_t rank);
  /// The rank takes too long, since it waits for that one.
  void Miss(uint32_t rank, uint32_t peer);
  /// Whether each rank that has not arrived has said whom it misses.
  bool AllSpoke() const;
  /// Names the ranks that are silent; if none is, those that do not reach each other.
  Status Late(std::chrono::seconds timeout) const;

 private:
  struct Place {
    bool arrived = false;
    bool misses = false;
    uint32_t peer = 0;  // whom it misses

    bool silent() const { return !arrived && !misses; }
  };
  std::vector<Place> places_;
};

/// Ranks that have come and say nothing any more.
Status Silent(const std::string& ranks, size_t all, std::chrono::seconds timeout);

}  // namespace openaclnn
