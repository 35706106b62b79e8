// SPDX-License-Identifier: Apache-2.0
// Byte runs: joined where there is no gap, apart where there is one, and not too many.
#include "common/byte_runs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace openaclnn {

void PrintTo(const ByteRange& range, std::ostream* out) {
  *out << "[" << range.begin << ", " << range.end << ")";
}

namespace {

using Runs = std::vector<ByteRange>;

/// Of elements of 4 bytes whose first is at 1000.
Runs Find(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides) {
  Runs runs = {{1, 2}};
  EXPECT_TRUE(FindByteRuns(1000, 4, dims, strides, &runs));
  std::sort(runs.begin(), runs.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  return runs;
}

TEST(ByteRunsTest, DenseViewsAreOneRun) {
  EXPECT_EQ(Find({}, {}), (Runs{{1000, 1004}}));
  EXPECT_EQ(Find({2, 3}, {3, 1}), (Runs{{1000, 1024}}));
  EXPECT_EQ(Find({3, 2}, {1, 3}), (Runs{{1000, 1024}})) << "transposed";
  EXPECT_EQ(Find({4}, {-1}), (Runs{{988, 1004}})) << "backwards";
  EXPECT_EQ(Find({5, 3}, {0, 1}), (Runs{{1000, 1012}})) << "expanded";
  EXPECT_EQ(Find({5, 3}, {1, 1}), (Runs{{1000, 1028}})) << "windows that overlap";
}

TEST(ByteRunsTest, GapsPartThem) {
  EXPECT_EQ(Find({3}, {2}), (Runs{{1000, 1004}, {1008, 1012}, {1016, 1020}}));
  EXPECT_EQ(Find({2, 2}, {5, 1}), (Runs{{1000, 1008}, {1020, 1028}}));
  EXPECT_EQ(Find({2, 2}, {-5, 1}), (Runs{{980, 988}, {1000, 1008}}));
  EXPECT_EQ(Find({2, 2, 1}, {10, 3, 7}),
            (Runs{{1000, 1004}, {1012, 1016}, {1040, 1044}, {1052, 1056}}));
}

TEST(ByteRunsTest, NothingWithoutElements) {
  EXPECT_EQ(Find({0}, {1}), Runs{});
  EXPECT_EQ(Find({3, 0, 2}, {2, 2, 1}), Runs{});
}

TEST(ByteRunsTest, SpansAreFromTheFirstByteToTheLast) {
  using Numbers = std::vector<int64_t>;
  const auto span = [](const Numbers& dims, const Numbers& strides) {
    return FindByteSpan(1000, 4, dims, strides);
  };
  EXPECT_EQ(span({}, {}), (ByteRange{1000, 1004}));
  EXPECT_EQ(span({2, 3}, {-10, 2}), (ByteRange{960, 1020}));
  EXPECT_EQ(span({5000, 7}, {2, 0}), (ByteRange{1000, 1000 + 4999 * 8 + 4}));
  EXPECT_EQ(span({3, 0}, {1, 1}), (ByteRange{1000, 1000}));
}

TEST(ByteRunsTest, TooManyAreRefused) {
  Runs runs;
  const int64_t most = kMaxRuns;
  for (const auto& [dims, fits] : {std::pair<std::vector<int64_t>, bool>{{most, 1}, true},
                                   {{most + 1, 1}, false},
                                   {{most, 2}, false},
                                   {{int64_t{1} << 40, int64_t{1} << 40}, false}}) {
    const std::vector<int64_t> strides = {3, int64_t{1} << 30};
    EXPECT_EQ(FindByteRuns(0, 4, dims, strides, &runs), fits) << dims[0] << ", " << dims[1];
    EXPECT_EQ(runs.size(), fits ? kMaxRuns : 0);
  }
}

}  // namespace
}  // namespace openaclnn
