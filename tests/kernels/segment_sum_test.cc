// SPDX-License-Identifier: Apache-2.0
// Sums of segments against the one tree, bit for bit, and which way each plan takes.
#include "kernels/rows/segment_sum.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/support/numbers.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

constexpr size_t kLine = kCacheLine;

/// Rows of elements with gaps between both, which begin `at` bytes behind a cache line.
struct Rows {
  Rows(Random& random, aclDataType type, int64_t row_count, int64_t row_width, int64_t between,
       size_t at = 0)
      : dtype(type),
        count(row_count),
        width(row_width),
        step(between),
        row_step(width * step + (step - 1)),
        memory(static_cast<size_t>(std::max<int64_t>(count * row_step, 1)) * size() + 2 * kLine) {
    void* begin = memory.data();
    size_t space = memory.size();
    origin = static_cast<std::byte*>(std::align(kLine, 1, begin, space)) + at;
    for (int64_t i = 0; i < count * row_step; ++i) {
      const double value = static_cast<double>(Uniform(random, -1000, 1000)) / 64;
      StoreElement(dtype, value, origin + static_cast<size_t>(i) * size());
    }
  }
  Rows(const Rows&) = delete;

  size_t size() const { return aclDataTypeSize(dtype); }
  TensorSpec spec() const {
    return {.dims = {count, width}, .dtype = dtype, .strides = Dims{row_step, step}};
  }
  std::byte* At(int64_t row, int64_t column) const {
    return origin + static_cast<size_t>(row * row_step + column * step) * size();
  }

  aclDataType dtype;
  int64_t count, width, step, row_step;
  std::vector<std::byte> memory;
  std::byte* origin;
};

/// Segment s is [ends[s - 1], ends[s]).
struct ListedSegments {
  int64_t Begin(int64_t segment) const {
    return segment == 0 ? 0 : ends[static_cast<size_t>(segment) - 1];
  }
  int64_t End(int64_t segment, int64_t) const { return ends[static_cast<size_t>(segment)]; }
  int64_t Ends(int64_t row, int64_t begin, int64_t most, std::span<int64_t> to) const {
    return EndsOneByOne(*this, row, begin, most, to);
  }

  std::vector<int64_t> ends;
};

/// At most 64 terms in sequence, then pairs, split at the largest power of two.
float Tree(std::span<const float> terms) {
  if (terms.size() <= 64) {
    float sum = terms[0];
    for (const float term : terms.subspan(1)) sum += term;
    return sum;
  }
  size_t half = 64;
  while (2 * half < terms.size()) half *= 2;
  return Tree(terms.first(half)) + Tree(terms.subspan(half));
}

SegmentSumPlan PlanOf(const Input& from, const Output& to, int64_t positions, bool means) {
  return {RowView(from), from.dtype(), to, positions, means};
}

/// What is asked of one call, and what must come of it.
struct Call {
  /// Runs it in scratch of exactly its size: whether every byte is what it should be.
  bool IsTree() const {
    const TensorHandle from_tensor(from.spec()), to_tensor(to.spec());
    const Input input("from", from_tensor.get());
    const Output output("to", to_tensor.get());
    const int64_t positions = segments.ends.empty() ? 0 : segments.ends.back();
    const SegmentSumPlan plan = PlanOf(input, output, positions, means);
    std::vector<std::byte> scratch(plan.scratch_bytes() + 64, std::byte{0x5a});
    std::vector<std::byte> wanted = to.memory;
    for (int64_t row = 0; row < to.count; ++row) Expect(row, wanted.data());
    SegmentSum sum(plan, from.origin, to.origin, scratch.data(),
                   hits.empty() ? nullptr : hits.data());
    for (int64_t row = 0; row < to.count; ++row) {
      sum.AddLongSegment(segments.Begin(row), segments.End(row, 0));
    }
    sum.Run(to.count, segments);
    return to.memory == wanted &&
           std::count(scratch.end() - 64, scratch.end(), std::byte{0x5a}) == 64;
  }

  /// Writes a row to a copy of the output's memory.
  void Expect(int64_t row, std::byte* copy) const {
    const int64_t begin = segments.Begin(row), end = segments.End(row, begin);
    std::vector<float> terms(static_cast<size_t>(end - begin));
    for (int64_t column = 0; column < to.width; ++column) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t source = hits.empty() ? p : hits[static_cast<size_t>(p)].token;
        terms[static_cast<size_t>(p - begin)] =
            static_cast<float>(LoadElement(from.dtype, from.At(source, column)));
      }
      float sum = terms.empty() ? 0.0f : Tree(terms);
      if (means && !terms.empty()) sum /= static_cast<float>(terms.size());
      StoreElement(to.dtype, sum, copy + (to.At(row, column) - to.memory.data()));
    }
  }

  const Rows& from;
  const Rows& to;
  const ListedSegments& segments;
  const std::vector<Hit>& hits;
  bool means;
};

aclDataType Type(Random& random) {
  const aclDataType types[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  return types[Uniform(random, 0, 2)];
}

/// Empty ones, a few rows, a chunk and more, units and more.
ListedSegments RandomSegments(Random& random, int64_t rows, bool are_long) {
  ListedSegments segments;
  int64_t end = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t sizes[] = {0, Uniform(random, 1, 9), Uniform(random, 60, 200), 0};
    end += sizes[Uniform(random, 0, 3)];
    const int64_t units[] = {1023, 1024, 1025, 2048, 2049, 3000, 5121};
    if (are_long && Uniform(random, 0, 3) == 0) end += units[Uniform(random, 0, 6)];
    segments.ends.push_back(end);
  }
  return segments;
}

TEST(SegmentSum, IsTheTree) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    const int64_t widths[] = {1, 7, 15, 16, 17, 30, 32, 64, 100, 128, 129, 300};
    const bool are_long = Uniform(random, 0, 3) == 0;
    const int64_t width = widths[Uniform(random, 0, are_long ? 6 : 11)];
    const int64_t rows = Uniform(random, 1, are_long ? 5 : 40);
    const ListedSegments segments = RandomSegments(random, rows, are_long);
    const int64_t positions = segments.ends.back();
    const bool has_hits = Uniform(random, 0, 1) == 1 && positions > 0;
    const int64_t sources = has_hits ? Uniform(random, 1, 300) : positions;
    const aclDataType type = Type(random);
    const Rows from(random, type, sources, width, Uniform(random, 0, 3) == 0 ? 2 : 1);
    const Rows to(random, Uniform(random, 0, 2) == 0 ? Type(random) : type, rows, width,
                  Uniform(random, 0, 3) == 0 ? 3 : 1, Uniform(random, 0, 1) == 0 ? 0 : 4);
    std::vector<Hit> hits(has_hits ? static_cast<size_t>(positions) : 0);
    for (Hit& hit : hits) hit = {0, Uniform(random, 0, sources - 1)};
    RC_ASSERT((Call{from, to, segments, hits, Uniform(random, 0, 1) == 1}.IsTree()));
  }));
}

// Of whole units and of one row more, one behind the other.
TEST(SegmentSum, IsTheTreeOfLongSegments) {
  Random random(3);
  for (const int64_t width : {1, 16, 40}) {
    for (const bool means : {false, true}) {
      const ListedSegments segments = {{2048, 2048, 5120, 6145, 7169, 7170, 11'266}};
      const Rows from(random, ACL_FLOAT, 11'266, width, 1), to(random, ACL_FLOAT, 7, width, 1);
      EXPECT_TRUE((Call{from, to, segments, {}, means}.IsTree())) << width;
    }
  }
}

// More columns than a tile has, of short segments and of long ones.
TEST(SegmentSum, IsTheTreeOfWideRows) {
  Random random(1);
  for (const int64_t width : {kTileWidth, kTileWidth + 1, 2 * kTileWidth + 40}) {
    for (const aclDataType type : {ACL_FLOAT, ACL_BF16}) {
      for (const int64_t step : {1, 2}) {
        const ListedSegments segments = {{3, 3, 1100, 1101}};
        const Rows from(random, type, 1101, width, 1), to(random, type, 4, width, step);
        EXPECT_TRUE((Call{from, to, segments, {}, step == 2}.IsTree())) << width;
      }
    }
  }
}

// An output that goes past the caches, whether its rows are cache lines, long or neither.
TEST(SegmentSum, IsTheTreeOfLargeOutputs) {
  Random random(2);
  for (const int64_t width : {64, 100, 2048, 2100}) {
    for (const size_t at : {0, 4}) {
      const int64_t rows = (int64_t{4} << 20) / (4 * width) + 40;
      ListedSegments segments;
      int64_t end = 0;
      for (int64_t row = 0; row < rows; ++row) {
        end += row % 3;
        segments.ends.push_back(end);
      }
      std::vector<Hit> hits(static_cast<size_t>(end));
      for (Hit& hit : hits) hit = {0, Uniform(random, 0, 49)};
      const Rows from(random, ACL_FLOAT, 50, width, 1), to(random, ACL_FLOAT, rows, width, 1, at);
      EXPECT_TRUE((Call{from, to, segments, hits, false}.IsTree())) << width;
    }
  }
}

struct Way {
  int64_t rows, width, from_step, to_step;
  aclDataType from, to;
  bool narrow, streams_rows, streams_zeros;
};

TEST(SegmentSum, TakesTheWayThatIsMeasured) {
  const RowSumKernels& kernels = *OPENACLNN_TARGET_SELECT(kRowSumKernels);
  const int64_t most = kernels.narrow_width, lines = int64_t{1} << 20;
  const Way ways[] = {
      {10, 15, 1, 1, ACL_FLOAT, ACL_FLOAT, false, false, false},
      {10, 16, 1, 1, ACL_FLOAT, ACL_FLOAT, true, false, false},
      {10, most, 1, 1, ACL_BF16, ACL_BF16, true, false, false},
      {10, most + 1, 1, 1, ACL_BF16, ACL_BF16, false, false, false},
      {10, 16, 2, 1, ACL_FLOAT, ACL_FLOAT, false, false, false},
      {10, 16, 1, 2, ACL_FLOAT, ACL_FLOAT, false, false, false},
      {10, 16, 1, 1, ACL_FLOAT, ACL_FLOAT16, false, false, false},
      {lines / 32, 32, 1, 1, ACL_FLOAT, ACL_FLOAT, true, true, false},
      {lines / 32 - 1, 32, 1, 1, ACL_FLOAT, ACL_FLOAT, true, false, false},
      {lines / 20, 24, 1, 1, ACL_FLOAT, ACL_FLOAT, true, false, false},
      {lines / 2048, 2048, 1, 1, ACL_FLOAT, ACL_FLOAT, false, true, true},
      {lines / 2048, 2049, 1, 1, ACL_FLOAT, ACL_FLOAT, false, false, true},
      {lines / 2047 + 1, 2047, 1, 1, ACL_FLOAT, ACL_FLOAT, false, false, false},
      {lines / 2048, 2049, 1, 2, ACL_FLOAT, ACL_FLOAT, false, false, false},
      {100, 2049, 1, 1, ACL_FLOAT, ACL_FLOAT, false, false, false},
  };
  for (const Way& way : ways) {
    const auto spec = [&](aclDataType dtype, int64_t step) {
      return TensorSpec{
          .dims = {way.rows, way.width}, .dtype = dtype, .strides = Dims{way.width * step, step}};
    };
    const TensorHandle from_tensor(spec(way.from, way.from_step)),
        to_tensor(spec(way.to, way.to_step));
    const Input from("from", from_tensor.get());
    const Output to("to", to_tensor.get());
    const SegmentSumPlan plan = PlanOf(from, to, 2100, false);
    EXPECT_EQ(plan.narrow, way.narrow) << way.width;
    EXPECT_EQ(plan.streams_rows, way.streams_rows) << way.width;
    EXPECT_EQ(plan.streams_zeros, way.streams_zeros) << way.width;
    // A place for twice as many units as there are in one long segment, and no more.
    EXPECT_EQ(plan.scratch_bytes(), 4U * (static_cast<size_t>(way.width) * 4 + sizeof(SumUnit)));
  }
}

// No number of bytes is too large for the plan, which then asks for more than there is.
TEST(SegmentSum, OfMorePositionsThanMemoryHas) {
  const TensorHandle tensor({.dims = {2, 1 << 20}});
  const Input from("from", tensor.get());
  const Output to("to", tensor.get());
  EXPECT_EQ(PlanOf(from, to, INT64_MAX / 4, false).scratch_bytes(), uint64_t{INT64_MAX});
  EXPECT_EQ(PlanOf(from, to, kUnitRows - 1, false).scratch_bytes(), 0U);
}

}  // namespace
}  // namespace openaclnn::test
