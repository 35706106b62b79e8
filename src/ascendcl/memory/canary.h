// SPDX-License-Identifier: Apache-2.0
// Canaries: bytes beside an allocation that nobody may write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace openaclnn {

/// Behind a block, where there is room; it may go on for a few hundred more.
inline constexpr uint64_t kLeastCanary = 64;

/// Builds with AddressSanitizer have none: there such bytes are poisoned, and who writes them is
/// stopped at once.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kHaveCanaries = false;
#else
inline constexpr bool kHaveCanaries = true;
#endif

/// The 8 bytes of a canary from an address on. By halves of 16 bits they are a NaN in every float
/// type, as all new memory of guarded blocks is, and as integers far out of range; but no operator
/// computes this NaN, and no program fills memory with it, so that what is written over it shows.
inline uint64_t CanaryAt(const std::byte* address) {
  constexpr uint64_t kEven = 0xFFC5FFC5FFC5FFC5, kOdd = 0xC5FFC5FFC5FFC5FF;
  return (reinterpret_cast<uintptr_t>(address) & 1) == 0 ? kEven : kOdd;
}

void WriteCanary(std::byte* begin, uint64_t bytes);

/// How many bytes, from the first on, are as they were written.
uint64_t IntactBytes(const std::byte* begin, uint64_t bytes);

/// Whether the first 16 of at least kLeastCanary are: what each task that ends can afford to ask.
inline bool BeginsIntact(const std::byte* begin) {
  uint64_t words[2];
  std::memcpy(words, begin, sizeof(words));
  const uint64_t expected = CanaryAt(begin);
  return ((words[0] ^ expected) | (words[1] ^ expected)) == 0;
}

}  // namespace openaclnn
