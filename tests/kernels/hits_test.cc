// SPDX-License-Identifier: Apache-2.0
// The sort of hits: stable, for every number of digits.
#include "kernels/index/hits.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "tests/support/cases.h"

namespace openaclnn {
namespace {

using test::Random;

bool Same(const Hit& a, const Hit& b) { return a.row == b.row && a.token == b.token; }

std::vector<Hit> RandomHits(Random& random, int64_t count, uint64_t limit) {
  std::uniform_int_distribution<uint64_t> row(0, limit - 1);
  std::vector<Hit> hits;
  for (int64_t i = 0; i < count; ++i) hits.push_back({static_cast<int64_t>(row(random)), i});
  return hits;
}

TEST(SortHits, IsTheStableSort) {
  EXPECT_TRUE(rc::check([] {
    const auto count = *rc::gen::inRange<int64_t>(0, 3000);
    const uint64_t limit =
        *rc::gen::element<uint64_t>(1, 2, 3, 2047, 2048, 2049, 4194303, 4194304, 4194305,
                                    uint64_t{1} << 33, uint64_t{1} << 55, INT64_MAX);
    Random random(*rc::gen::arbitrary<uint32_t>());
    std::vector<Hit> hits = RandomHits(random, count, limit), scratch(hits.size());
    std::vector<Hit> wanted = hits;
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const Hit& a, const Hit& b) { return a.row < b.row; });
    const Hit* sorted = SortHits(hits.data(), scratch.data(), count, limit);
    RC_ASSERT(sorted == hits.data() || sorted == scratch.data());
    RC_ASSERT(std::equal(wanted.begin(), wanted.end(), sorted, Same));
  }));
}

TEST(SortHits, OfLargestRows) {
  std::vector<Hit> hits = {{INT64_MAX - 1, 0}, {0, 1}, {INT64_MAX - 1, 2}, {1, 3}};
  std::vector<Hit> scratch(4);
  const Hit* sorted = SortHits(hits.data(), scratch.data(), 4, INT64_MAX);
  EXPECT_TRUE(Same(sorted[0], {0, 1}) && Same(sorted[1], {1, 3}));
  EXPECT_TRUE(Same(sorted[2], {INT64_MAX - 1, 0}) && Same(sorted[3], {INT64_MAX - 1, 2}));
}

TEST(LowerBound, IsTheFirstNotBelow) {
  const std::vector<Hit> hits = {{1, 0}, {1, 1}, {4, 2}, {4, 3}, {9, 4}};
  EXPECT_EQ(LowerBound(hits.data(), 0, 5, 0), 0);
  EXPECT_EQ(LowerBound(hits.data(), 0, 5, 1), 0);
  EXPECT_EQ(LowerBound(hits.data(), 0, 5, 2), 2);
  EXPECT_EQ(LowerBound(hits.data(), 0, 5, 4), 2);
  EXPECT_EQ(LowerBound(hits.data(), 3, 5, 4), 3);
  EXPECT_EQ(LowerBound(hits.data(), 0, 5, 9), 4);
  EXPECT_EQ(LowerBound(hits.data(), 0, 5, 10), 5);
  EXPECT_EQ(LowerBound(hits.data(), 2, 2, 1), 2);
}

}  // namespace
}  // namespace openaclnn
