// SPDX-License-Identifier: Apache-2.0
// Gathering: who has arrived, who waits for whom, and the words for those who are late.
#include "hccl/rendezvous/gathering.h"

#include <algorithm>

#include "hccl/hccl_types.h"

namespace openaclnn {

bool Gathering::Arrive(uint32_t rank) {
  places_[rank].arrived = true;
  if (!std::ranges::all_of(places_, &Place::arrived)) return false;
  std::ranges::fill(places_, Place());
  return true;
}

void Gathering::Miss(uint32_t rank, uint32_t peer) {
  places_[rank].misses = true;
  places_[rank].peer = peer;
}

bool Gathering::AllSpoke() const { return std::ranges::none_of(places_, &Place::silent); }

Status Gathering::Late(std::chrono::seconds timeout) const {
  std::string silent, apart;
  for (uint32_t rank = 0; rank < places_.size(); ++rank) {
    const Place& place = places_[rank];
    if (place.arrived) continue;
    if (place.silent()) silent += Concat(silent.empty() ? "" : ", ", rank);
    if (place.misses) apart += Concat(apart.empty() ? "" : ", ", place.peer, " from rank ", rank);
  }
  if (!silent.empty()) return Silent(silent, places_.size(), timeout);
  return Status(HCCL_E_TIMEOUT,
                Concat("rank ", apart, " is not reached in ", timeout.count(),
                       " s (HCCL_CONNECT_TIMEOUT), expected each to reach all others: see UCX_TLS, "
                       "UCX_NET_DEVICES"));
}

Status Silent(const std::string& ranks, size_t all, std::chrono::seconds timeout) {
  return Status(HCCL_E_TIMEOUT, Concat("rank ", ranks, " of ", all, " has come and not gone on in ",
                                       timeout.count(),
                                       " s (HCCL_CONNECT_TIMEOUT), expected all ranks to connect"));
}

}  // namespace openaclnn
