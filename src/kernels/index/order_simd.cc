// SPDX-License-Identifier: Apache-2.0
// Keys of floats, and those below a bound, compiled once for each instruction set.
#include <cstring>

#include "kernels/index/order_scan.h"
#include "kernels/simd/wide-inl.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

constexpr int64_t kWords = kRegisterBytes / 4;

void KeysOfLanes(const float* from, U32s inverted, uint32_t* to) {
  F32s values;
  std::memcpy(&values, from, sizeof values);
  values = values + 0.0f;  // one zero
  const U32s bits = reinterpret_cast<U32s>(values);
  const U32s sign = reinterpret_cast<U32s>(reinterpret_cast<I32s>(bits) >> 31);
  const U32s nan = reinterpret_cast<U32s>(values != values);  // NOLINT(misc-redundant-expression)
  const U32s keys = ((bits ^ (sign | 0x80000000)) | nan) ^ inverted;
  std::memcpy(to, &keys, sizeof keys);
}

void KeysOf(const float* values, int64_t n, uint32_t inverted, uint32_t* keys) {
  const U32s inverts = U32s{} + inverted;
  int64_t i = 0;
  for (; i + kWords <= n; i += kWords) KeysOfLanes(values + i, inverts, keys + i);
  if (i == n) return;
  float rest[kWords] = {};
  uint32_t own[kWords];
  const auto bytes = static_cast<size_t>(n - i) * sizeof(float);
  std::memcpy(rest, values + i, bytes);
  KeysOfLanes(rest, inverts, own);
  std::memcpy(keys + i, own, bytes);
}

bool AnyBelow(const uint32_t* keys, U32s bound) {
  U32s lanes[2];
  std::memcpy(lanes, keys, sizeof lanes);
  const I32s below = (lanes[0] < bound) | (lanes[1] < bound);
  const U64s words = reinterpret_cast<U64s>(below);
  uint64_t any = 0;
  for (int i = 0; i < kWideLanes; ++i) any |= words[i];
  return any != 0;
}

int64_t FindBelow(const uint32_t* keys, int64_t begin, int64_t n, uint32_t bound) {
  const U32s bounds = U32s{} + bound;
  while (begin + 2 * kWords <= n && !AnyBelow(keys + begin, bounds)) begin += 2 * kWords;
  while (begin < n && keys[begin] >= bound) ++begin;
  return begin;
}

}  // namespace

extern const OrderScans kOrderScans = {KeysOf, FindBelow};

}  // namespace openaclnn::OPENACLNN_TARGET
