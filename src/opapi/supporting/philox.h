// SPDX-License-Identifier: Apache-2.0
// Philox 4x32-10: random bits from a key and a place.
#pragma once

#include <algorithm>
#include <cstdint>

namespace openaclnn::supporting {

struct Bits {
  uint32_t word[4];
  uint64_t Long() const { return static_cast<uint64_t>(word[1]) << 32 | word[0]; }
  /// In (0, 1].
  double Open(int pair) const {
    const uint64_t bits = static_cast<uint64_t>(word[2 * pair + 1]) << 32 | word[2 * pair];
    return (static_cast<double>(bits >> 11) + 1) * 0x1p-53;
  }
};

/// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
inline Bits Philox(uint64_t seed, uint64_t offset, uint64_t index) {
  uint32_t c[4] = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                   static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32)};
  auto low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t x = uint64_t{0xD2511F53} * c[0], y = uint64_t{0xCD9E8D57} * c[2];
    const uint32_t next[4] = {static_cast<uint32_t>(y >> 32) ^ c[1] ^ low, static_cast<uint32_t>(y),
                              static_cast<uint32_t>(x >> 32) ^ c[3] ^ high,
                              static_cast<uint32_t>(x)};
    std::copy_n(next, 4, c);
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

}  // namespace openaclnn::supporting
