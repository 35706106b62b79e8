// SPDX-License-Identifier: Apache-2.0
// Orders against a stable sort, and keys against what they stand for.
#include "kernels/index/order.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/index/order_scan.h"
#include "tests/support/layout.h"

namespace openaclnn::test {
namespace {

template <class T>
void ExpectFloatKeys() {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T least = std::numeric_limits<T>::denorm_min(), most = std::numeric_limits<T>::max();
  const std::vector<T> rising = {-inf, -most, -1, -least, 0, least, 1, most, inf, nan};
  for (size_t i = 1; i < rising.size(); ++i) EXPECT_LT(KeyOf(rising[i - 1]), KeyOf(rising[i])) << i;
  EXPECT_EQ(KeyOf(T{0}), KeyOf(-T{0}));
  EXPECT_EQ(KeyOf(nan), KeyOf(-nan));
}

TEST(KeyOf, ComparesAsTheValues) {
  ExpectFloatKeys<float>();
  ExpectFloatKeys<double>();
  const int64_t integers[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
  for (size_t i = 1; i < 5; ++i) EXPECT_LT(KeyOf(integers[i - 1]), KeyOf(integers[i]));
}

/// Keys with few different values, or many.
template <class Entry>
void ExpectOrdered(Random& random, int64_t n, int64_t begin, int64_t count, int bits) {
  std::vector<Entry> entries, wanted;
  const uint64_t shift = static_cast<uint64_t>(
      Uniform(random, 0, 8 * sizeof(typename Entry::Key) - static_cast<size_t>(bits)));
  for (int64_t i = 0; i < n; ++i) {
    const auto key = static_cast<uint64_t>(Uniform(random, 0, (int64_t{1} << bits) - 1)) << shift;
    entries.push_back(Entry(static_cast<typename Entry::Key>(key), i));
  }
  wanted = entries;
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const Entry& a, const Entry& b) { return a.key() < b.key(); });
  PutInOrder(&entries, begin, count);
  for (int64_t i = begin; i < begin + count; ++i) {
    const Entry &a = entries[static_cast<size_t>(i)], &b = wanted[static_cast<size_t>(i)];
    RC_ASSERT(a.key() == b.key());
    RC_ASSERT(a.place() == b.place());
  }
}

TEST(PutInOrder, IsAStableSort) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    const int64_t lengths[] = {1, 2, 31, 128, 129, 1000, 5000};
    const int64_t n = lengths[Uniform(random, 0, 6)];
    const int64_t begin = Uniform(random, 0, 1) * Uniform(random, 0, n - 1);
    const int64_t counts[] = {1, n - begin, (n - begin + 9) / 10};
    const int64_t count = counts[Uniform(random, 0, 2)];
    const int bits = static_cast<int>(Uniform(random, 1, 31));
    ExpectOrdered<ShortEntry>(random, n, begin, count, bits);
    ExpectOrdered<LongEntry>(random, n, begin, count, bits);
  }));
}

TEST(PutInOrder, OfMoreThanABlock) {
  Random random(5);
  ExpectOrdered<ShortEntry>(random, 1 << 19, 0, 1 << 19, 20);
  ExpectOrdered<LongEntry>(random, 1 << 18, 0, 1 << 18, 31);
}

// Each one is before all others so far: the bound tightens again and again.
TEST(PutInOrder, OfFallingKeys) {
  std::vector<ShortEntry> entries;
  for (int64_t i = 0; i < 10000; ++i) entries.push_back({static_cast<uint32_t>(10000 - i), i});
  PutInOrder(&entries, 0, 7);
  for (int64_t i = 0; i < 7; ++i) EXPECT_EQ(entries[static_cast<size_t>(i)].place(), 9999 - i);
}

TEST(FirstInOrder, IsThatOfAStableSort) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    const int64_t lengths[] = {2, 31, 33, 128, 1000, 5000};
    const int64_t n = lengths[Uniform(random, 0, 5)], most = int64_t{1} << Uniform(random, 0, 31);
    const int64_t count = Uniform(random, 1, std::max<int64_t>(1, n / 8));
    std::vector<uint32_t> keys;
    std::vector<ShortEntry> wanted, first;
    for (int64_t i = 0; i < n; ++i) {
      keys.push_back(static_cast<uint32_t>(Uniform(random, 0, most)));
      wanted.push_back({keys.back(), i});
    }
    std::sort(wanted.begin(), wanted.end());
    FirstInOrder(keys, count, &first);
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      RC_ASSERT(first[i].both == wanted[i].both);
    }
  }));
}

TEST(KeyScans, AreThoseOfEveryFloat) {
  Random random(6);
  std::vector<float> values = {0.0f, -0.0f, NAN, -NAN, INFINITY, -INFINITY, 1e-45f, -1e-45f};
  for (int i = 0; i < 100000; ++i) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  }
  std::vector<uint32_t> keys(values.size());
  const auto n = static_cast<int64_t>(keys.size());
  for (const uint32_t inverted : {uint32_t{0}, ~uint32_t{0}}) {
    KeyScans()->keys(values.data(), n, inverted, keys.data());
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(keys[i], KeyOf(values[i]) ^ inverted) << values[i];
    }
  }
  std::vector<uint32_t> level(200, 5);
  for (const int64_t length : {1, 7, 16, 31, 64, 100, 200}) {
    for (int64_t at = 0; at < length; ++at) {
      level[static_cast<size_t>(at)] = 4;
      EXPECT_EQ(KeyScans()->below(level.data(), 0, length, 5), at);
      EXPECT_EQ(KeyScans()->below(level.data(), at / 2, length, 5), at);
      level[static_cast<size_t>(at)] = 5;
    }
    EXPECT_EQ(KeyScans()->below(level.data(), 0, length, 5), length);
  }
  const std::vector<uint32_t> falling = {9, 8, 7, 7, 6, 5};
  EXPECT_EQ(KeyScans()->below(falling.data(), 0, 6, 7), 4);
  EXPECT_EQ(KeyScans()->below(falling.data(), 5, 6, 7), 5);
  EXPECT_EQ(KeyScans()->below(falling.data(), 0, 6, 5), 6);
}

}  // namespace
}  // namespace openaclnn::test
