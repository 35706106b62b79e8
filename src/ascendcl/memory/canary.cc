// SPDX-License-Identifier: Apache-2.0
// Canaries: written and compared in words of 8 bytes, and what is left in bytes.
#include "ascendcl/memory/canary.h"

namespace openaclnn {
namespace {

constexpr uint64_t kWord = sizeof(uint64_t);

}  // namespace

// Both are a part of aclrtMalloc and aclrtFree: whole words have a loop of their own.

void WriteCanary(std::byte* begin, uint64_t bytes) {
  const uint64_t pattern = CanaryAt(begin);
  uint64_t i = 0;
  for (; i + kWord <= bytes; i += kWord) std::memcpy(begin + i, &pattern, kWord);
  std::memcpy(begin + i, &pattern, bytes - i);
}

uint64_t IntactBytes(const std::byte* begin, uint64_t bytes) {
  const uint64_t expected = CanaryAt(begin);
  uint64_t i = 0, differs = 0;
  for (; i + kWord <= bytes; i += kWord) {
    uint64_t word = 0;
    std::memcpy(&word, begin + i, kWord);
    differs |= word ^ expected;
  }
  if (differs == 0 && std::memcmp(begin + i, &expected, bytes - i) == 0) return bytes;
  const auto* pattern = reinterpret_cast<const std::byte*>(&expected);
  for (i = 0; begin[i] == pattern[i % kWord];) ++i;
  return i;
}

}  // namespace openaclnn
