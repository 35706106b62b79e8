// SPDX-License-Identifier: Apache-2.0
// ShortVector beside std::vector: random changes, below and above what lies in the object.
#include "common/short_vector.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace openaclnn {
namespace {

using Short = ShortVector<int, 4>;
using Long = std::vector<int>;

void ExpectEqual(const Short& found, const Long& wanted) {
  ASSERT_EQ(Long(found.begin(), found.end()), wanted);
  ASSERT_EQ(found.size(), wanted.size());
  ASSERT_EQ(found.empty(), wanted.empty());
}

struct Pair {
  Short found;
  Long wanted;

  void Change(std::mt19937& random) {
    const int value = static_cast<int>(random() % 100);
    const size_t place = random() % (wanted.size() + 1), count = random() % 4;
    const auto at = static_cast<std::ptrdiff_t>(place);
    switch (random() % 8) {
      case 0:
        found.push_back(value);
        return wanted.push_back(value);
      case 1:
        found.insert(found.begin() + at, count, value);
        wanted.insert(wanted.begin() + at, count, value);
        return;
      case 2: {
        const Long more(count, value);
        found.insert(found.begin() + at, more.begin(), more.end());
        wanted.insert(wanted.begin() + at, more.begin(), more.end());
        return;
      }
      case 3:
        found.resize(place, value);
        return wanted.resize(place, value);
      case 4:
        found.erase(found.begin() + at, found.end());
        wanted.erase(wanted.begin() + at, wanted.end());
        return;
      case 5:
        if (place == wanted.size()) return;
        found.erase(found.begin() + at);
        wanted.erase(wanted.begin() + at);
        return;
      case 6:
        found.insert(found.begin() + at, value);
        wanted.insert(wanted.begin() + at, value);
        return;
      default:
        if (wanted.empty()) return;
        found.pop_back();
        wanted.pop_back();
    }
  }
};

TEST(ShortVectorTest, AsAVector) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    Pair pair;
    for (int i = 0; i < 30; ++i) {
      pair.Change(random);
      ExpectEqual(pair.found, pair.wanted);
    }
  }
}

TEST(ShortVectorTest, CopiesAndMoves) {
  for (const size_t size : {0, 3, 4, 5, 20}) {
    Long wanted(size);
    for (size_t i = 0; i < size; ++i) wanted[i] = static_cast<int>(i);
    for (const size_t before : {0, 2, 9}) {
      const Short given(wanted.begin(), wanted.end());
      Short copy(before, 5);
      copy = given;
      ExpectEqual(copy, wanted);
      EXPECT_TRUE(copy == given);
      Short moved(before, 5);
      moved = std::move(copy);
      ExpectEqual(moved, wanted);
      Short made(std::move(moved));
      ExpectEqual(made, wanted);
      made.push_back(1);
      EXPECT_FALSE(made == given);
      Short& same = made;
      made = same;
      EXPECT_EQ(made.back(), 1);
      made.clear();
      ExpectEqual(made, {});
    }
  }
}

TEST(ShortVectorTest, WhatWasMovedAwayIsEmpty) {
  for (const size_t size : {2, 9}) {
    Short given(size, 7);
    const Short taken = std::move(given);
    // NOLINTNEXTLINE(bugprone-use-after-move,clang-analyzer-cplusplus.Move): what it is here for
    ExpectEqual(given, {});
    given.push_back(3);
    ExpectEqual(given, {3});
  }
}

}  // namespace
}  // namespace openaclnn
