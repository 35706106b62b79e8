// SPDX-License-Identifier: Apache-2.0
// Choices of experts in the order of the experts, and what is counted of them.
#pragma once

#include <cstdint>
#include <vector>

namespace openaclnn::supporting {

/// The places of the keys in the order of the keys; equal keys keep their order. Keys are not
/// negative.
std::vector<int64_t> OrderOf(const std::vector<int64_t>& keys);

/// The places that undo an order: where each place of the keys went.
std::vector<int64_t> PlacesOf(const std::vector<int64_t>& order);

/// Makes of numbers their running totals.
void Accumulate(std::vector<int64_t>* counts);

}  // namespace openaclnn::supporting
