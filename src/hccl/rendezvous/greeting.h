// SPDX-License-Identifier: Apache-2.0
// Greeting: the frames by which a rank and the root meet.
#pragma once

#include <cstdint>

#include "hccl/rendezvous/root_info.h"

namespace openaclnn {

inline constexpr char kHelloMagic[16] = "openaclnn hello";
inline constexpr char kWelcomeMagic[16] = "openaclnn seat ";
/// An engine's address; UCX's are some hundred bytes.
inline constexpr uint32_t kMaxAddressBytes = uint32_t{64} << 10;
/// Words for a refusal or a failure.
inline constexpr uint32_t kMaxRefusalBytes = 4096;

/// The greeting of a rank; `address_bytes` of its engine's address follow it. The first two members
/// never change.
struct Hello {
  char magic[16];
  uint32_t version;
  uint32_t ranks;
  uint32_t rank;
  uint32_t address_bytes;
  Nonce nonce;
};

/// The root's answer; then, with code 0, a length and an address for each rank, else words.
struct Welcome {
  char magic[16];
  uint32_t version;
  uint32_t code;
  uint32_t root_rank;
  uint32_t bytes;
  uint32_t checked;  // whether the ranks tell each other what they call: the root's environment
};

}  // namespace openaclnn
