// SPDX-License-Identifier: Apache-2.0
// Windows over segments: their number and their places, against sliding one by one.
#include "nsa_compress/shared.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>

#include "tests/support/windows.h"

namespace openaclnn {
namespace {

using nsa_compress::CutSegments;
using nsa_compress::Geometry;
using nsa_compress::Segment;
using nsa_compress::WindowCount;
using nsa_compress::WindowToken;
using test::WindowCase;

void ExpectSegment(const Segment& got, const Segment& wanted) {
  EXPECT_EQ(got.begin, wanted.begin);
  EXPECT_EQ(got.end, wanted.end);
  EXPECT_EQ(got.first_window, wanted.first_window);
  EXPECT_EQ(got.windows, wanted.windows);
}

TEST(CutSegments, OfTheWorkedExample) {
  const std::vector<Segment> segments =
      CutSegments(std::array<int64_t, 3>{0, 128, 272}, Geometry{272, 32, 16});
  ASSERT_EQ(segments.size(), 3u);
  ExpectSegment(segments[0], {0, 0, 0, 0});
  ExpectSegment(segments[1], {0, 128, 0, 7});
  ExpectSegment(segments[2], {128, 272, 7, 8});
}

TEST(CutSegments, WithoutAListIsOne) {
  const std::vector<Segment> segments = CutSegments({}, Geometry{100, 32, 16});
  ASSERT_EQ(segments.size(), 1u);
  ExpectSegment(segments[0], {0, 100, 0, 5});
  ExpectSegment(CutSegments({}, Geometry{31, 32, 16})[0], {0, 31, 0, 0});
}

TEST(CutSegments, AtTheirBoundaries) {
  const auto windows = [](int64_t length) {
    return CutSegments(std::array<int64_t, 1>{length}, Geometry{length, 48, 32})[0].windows;
  };
  EXPECT_EQ(windows(0), 0);
  EXPECT_EQ(windows(47), 0);
  EXPECT_EQ(windows(48), 1);
  EXPECT_EQ(windows(79), 1);
  EXPECT_EQ(windows(80), 2);
  EXPECT_EQ(windows(INT64_MAX), (INT64_MAX - 48) / 32 + 1);
}

// Sizes that no operator accepts are counted before they are refused.
TEST(WindowCount, OfHugeSizes) {
  const std::array<int64_t, 2> ends = {5, INT64_MAX};
  EXPECT_EQ(WindowCount(ends, {INT64_MAX, 2, 1}), INT64_MAX - 2);
  EXPECT_EQ(WindowCount(ends, {INT64_MAX, INT64_MAX, 1}), 0);
  EXPECT_EQ(WindowCount({}, {INT64_MAX, INT64_MAX, INT64_MAX}), 1);
  EXPECT_EQ(WindowCount({}, {INT64_MAX, 1, INT64_MAX - 1}), 2);
}

TEST(WindowToken, IsThatOfSliding) {
  EXPECT_TRUE(rc::check([] {
    test::Random random(*rc::gen::arbitrary<uint32_t>());
    WindowCase shape = test::RandomWindowCase(random, true);
    // Strides past the block leave tokens between windows; no operator has them.
    if (*rc::gen::arbitrary<bool>()) shape.stride = *rc::gen::inRange<int64_t>(1, 300);
    if (*rc::gen::inRange(0, 4) == 0) shape.ends.clear();
    const Geometry geometry = {shape.tokens, shape.block, shape.stride};
    const std::vector<Segment> segments = CutSegments(shape.ends, geometry);
    const std::vector<int64_t> wanted = test::WindowStarts(shape);
    for (size_t i = 0; i < wanted.size(); ++i) {
      RC_ASSERT(WindowToken(segments, shape.stride, static_cast<int64_t>(i)) == wanted[i]);
    }
    RC_ASSERT(WindowCount(shape.ends, geometry) == static_cast<int64_t>(wanted.size()));
    int64_t token = 0, window = 0;
    for (const Segment& segment : segments) {
      RC_ASSERT(segment.begin == token && segment.first_window == window);
      token = segment.end;
      window += segment.windows;
    }
    RC_ASSERT(token == shape.tokens);
  }));
}

}  // namespace
}  // namespace openaclnn
