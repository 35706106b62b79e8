// SPDX-License-Identifier: Apache-2.0
// Keys in order: elements as integers that compare as they do, with their places.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace openaclnn {

/// A key of 32 bits and a place below 2^32; no two are equal, so that equal keys keep their order.
struct ShortEntry {
  using Key = uint32_t;
  ShortEntry() = default;
  ShortEntry(Key key, int64_t place)
      : both(static_cast<uint64_t>(key) << 32 | static_cast<uint64_t>(place)) {}
  Key key() const { return static_cast<Key>(both >> 32); }
  int64_t place() const { return static_cast<int64_t>(both & 0xFFFFFFFF); }
  bool operator<(const ShortEntry& other) const { return both < other.both; }

  uint64_t both = 0;
};

/// An entry for a place of any size.
struct LongEntry {
  using Key = uint64_t;
  LongEntry() = default;
  LongEntry(Key entry_key, int64_t entry_place) : own_key(entry_key), own_place(entry_place) {}
  Key key() const { return own_key; }
  int64_t place() const { return own_place; }
  bool operator<(const LongEntry& other) const {
    return own_key != other.own_key ? own_key < other.own_key : own_place < other.own_place;
  }

  uint64_t own_key = 0;
  int64_t own_place = 0;
};

/// Keys of floats: both zeros have one, and every NaN the largest.
inline uint32_t KeyOf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value + 0.0f);
  const auto sign = static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31);
  return value != value ? ~uint32_t{0} : bits ^ (sign | 0x80000000);
}
inline uint64_t KeyOf(double value) {
  const auto bits = std::bit_cast<uint64_t>(value + 0.0);
  const auto sign = static_cast<uint64_t>(static_cast<int64_t>(bits) >> 63);
  return value != value ? ~uint64_t{0} : bits ^ (sign | uint64_t{1} << 63);
}
inline uint64_t KeyOf(int64_t value) {
  return static_cast<uint64_t>(value) ^ uint64_t { 1 } << 63;
}

/// The first `count` of the order of all keys, which stand in the order of their places: fewer than
/// there are keys, and at least one.
void FirstInOrder(const std::vector<uint32_t>& keys, int64_t count, std::vector<ShortEntry>* first);

/// Puts entries [begin, begin + count) of the order where they belong; the others are anywhere.
/// Entries begin in the order of their places. On more than one thread if they are many.
template <class Entry>
void PutInOrder(std::vector<Entry>* entries, int64_t begin, int64_t count);

}  // namespace openaclnn
