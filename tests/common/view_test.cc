// SPDX-License-Identifier: Apache-2.0
// Geometry of strided views against brute force on small ones, and against overflow.
#include "common/view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace openaclnn {
namespace {

struct View {
  std::vector<int64_t> dims, strides;
  int64_t offset = 0;

  OpenaclnnTensor tensor() const {
    OpenaclnnTensor tensor = {};
    tensor.rank = static_cast<uint32_t>(dims.size());
    tensor.dims = dims.data();
    tensor.strides = strides.data();
    tensor.offset = offset;
    return tensor;
  }

  /// Positions of all elements, in order of their indices.
  std::vector<int64_t> Elements() const {
    std::vector<int64_t> places = {offset};
    for (size_t i = 0; i < dims.size(); ++i) {
      std::vector<int64_t> next;
      for (const int64_t place : places) {
        for (int64_t x = 0; x < dims[i]; ++x) next.push_back(place + x * strides[i]);
      }
      places = next;
    }
    return places;
  }
};

View RandomView(std::mt19937& random, int max_rank, int max_dim, int max_stride) {
  View view;
  const int rank = static_cast<int>(random() % (max_rank + 1));
  for (int i = 0; i < rank; ++i) {
    view.dims.push_back(1 + random() % max_dim);
    view.strides.push_back(static_cast<int64_t>(random() % (2 * max_stride + 1)) - max_stride);
  }
  view.offset = static_cast<int64_t>(random() % 21) - 10;
  return view;
}

TEST(ViewTest, CountAndSpan) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    View view = RandomView(random, 4, 4, 9);
    const std::vector<int64_t> elements = view.Elements();
    const auto [first, last] = std::minmax_element(elements.begin(), elements.end());
    EXPECT_EQ(ElementCount(view.tensor()), static_cast<int64_t>(elements.size()));
    const auto span = ElementSpan(view.tensor());
    ASSERT_TRUE(span);
    ASSERT_EQ(span->first, *first);
    ASSERT_EQ(span->last, *last);
    if (view.dims.empty()) continue;
    view.dims[random() % view.dims.size()] = 0;
    EXPECT_EQ(ElementCount(view.tensor()), 0);
  }
}

TEST(ViewTest, CountRefusesNegativeAndOverflow) {
  constexpr int64_t kBig = int64_t{1} << 62;
  const auto count = [](const std::vector<int64_t>& dims) {
    return ElementCount(dims.data(), static_cast<uint32_t>(dims.size()));
  };
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count({kBig, 1}), kBig);
  EXPECT_EQ(count({kBig, 2}), std::nullopt);
  EXPECT_EQ(count({kBig, 4, kBig}), std::nullopt);
  EXPECT_EQ(count({kBig, 4, 0}), 0) << "no element, whatever the others are";
  EXPECT_EQ(count({0, kBig, 4}), 0);
  EXPECT_EQ(count({-1}), std::nullopt);
  EXPECT_EQ(count({0, -1}), std::nullopt) << "negative is worse than empty";
  EXPECT_EQ(count({-1, 0}), std::nullopt);
  EXPECT_EQ(count({INT64_MIN, INT64_MIN}), std::nullopt);
}

TEST(ViewTest, SpanRefusesOverflow) {
  const auto span = [](const View& view) { return ElementSpan(view.tensor()).has_value(); };
  EXPECT_TRUE(span({{2}, {INT64_MAX}, 0}));
  EXPECT_FALSE(span({{2}, {INT64_MAX}, 1}));
  EXPECT_FALSE(span({{3}, {INT64_MAX}, 0}));
  EXPECT_TRUE(span({{2}, {INT64_MIN}, 0}));
  EXPECT_FALSE(span({{2}, {INT64_MIN}, -1}));
  EXPECT_FALSE(span({{3}, {INT64_MIN}, 0}));
  EXPECT_FALSE(span({{2, 2}, {INT64_MAX / 2 + 1, INT64_MAX / 2 + 1}, 0}));
  EXPECT_TRUE(span({{1, 1}, {INT64_MAX, INT64_MIN}, 0})) << "strides of no effect";
}

TEST(ViewTest, SelfOverlap) {
  std::mt19937 random(2);
  int overlapping = 0;
  for (int i = 0; i < 30'000; ++i) {
    const View view = RandomView(random, 4, 4, 14);
    const std::vector<int64_t> elements = view.Elements();
    const bool expected =
        std::set<int64_t>(elements.begin(), elements.end()).size() < elements.size();
    overlapping += expected;
    ASSERT_EQ(OverlapsItself(view.tensor()), expected) << "view " << i;
  }
  EXPECT_GT(overlapping, 3000);
  EXPECT_LT(overlapping, 27'000);
}

struct Placed {
  View view;
  OpenaclnnTensor tensor;
  Placement placement;
  std::set<int64_t> bytes;

  Placed(View made, int64_t element_bytes, int64_t base)
      : view(std::move(made)), tensor(view.tensor()) {
    const Span span = *ElementSpan(tensor);
    placement = {&tensor, element_bytes, base + span.first * element_bytes,
                 base + (span.last + 1) * element_bytes - 1};
    for (const int64_t element : view.Elements()) {
      for (int64_t byte = 0; byte < element_bytes; ++byte) {
        bytes.insert(base + element * element_bytes + byte);
      }
    }
  }
  Placed(const Placed&) = delete;
};

TEST(ViewTest, OverlapOfTwo) {
  std::mt19937 random(3);
  int overlapping = 0, inside = 0;
  const int sizes[] = {1, 2, 4, 8};
  for (int i = 0; i < 30'000; ++i) {
    const Placed a(RandomView(random, 3, 4, 9), sizes[random() % 4], 1000);
    const Placed b(RandomView(random, 3, 4, 9), sizes[random() % 4], 1000 + random() % 16);
    const bool expected = std::any_of(a.bytes.begin(), a.bytes.end(),
                                      [&](int64_t byte) { return b.bytes.count(byte) > 0; });
    overlapping += expected;
    inside += !expected && a.placement.last_byte >= b.placement.first_byte &&
              b.placement.last_byte >= a.placement.first_byte;
    ASSERT_EQ(Overlap(a.placement, b.placement), expected) << "pair " << i;
    ASSERT_EQ(Overlap(b.placement, a.placement), expected) << "pair " << i;
  }
  EXPECT_GT(overlapping, 3000);
  EXPECT_GT(inside, 1000) << "pairs that interleave without touching";
}

TEST(ViewTest, InterleavedColumnsOfALargeMatrix) {
  const int64_t rows = 1 << 20, width = 64;
  const Placed small({{2, 2}, {width, 1}, 0}, 4, 0);  // the shape of the two below, in small
  EXPECT_TRUE(Overlap(small.placement, small.placement));
  const std::vector<int64_t> dims = {rows, width / 2}, strides = {width, 1};
  OpenaclnnTensor half = {};
  half.rank = 2;
  half.dims = dims.data();
  half.strides = strides.data();
  const int64_t bytes = ((rows - 1) * width + width / 2) * 4;
  const Placement left = {&half, 4, 0, bytes - 1};
  const Placement right = {&half, 4, width / 2 * 4, width / 2 * 4 + bytes - 1};
  const Placement shifted = {&half, 4, width / 2 * 4 - 4, width / 2 * 4 - 4 + bytes - 1};
  EXPECT_FALSE(Overlap(left, right));
  EXPECT_TRUE(Overlap(left, shifted));
  EXPECT_FALSE(OverlapsItself(half));
}

// A search of all pairs would take longer than it may and give up, which counts as overlapping.
TEST(ViewTest, ApartHoweverManyThereAre) {
  const int64_t count = 1 << 20;
  const auto every = [&](const int64_t* step) {
    OpenaclnnTensor tensor = {};
    tensor.rank = 1;
    tensor.dims = &count;
    tensor.strides = step;
    return tensor;
  };
  const int64_t two = 2, three = 3, four = 4;
  const OpenaclnnTensor even = every(&two), thirds = every(&three), fourths = every(&four);
  const auto at = [&](const OpenaclnnTensor& tensor, int64_t first_byte) {
    return Placement{&tensor, 4, first_byte, first_byte + (count - 1) * tensor.strides[0] * 4 + 3};
  };
  for (const int64_t middle : {int64_t{4}, count * 4 + 4}) {
    EXPECT_FALSE(Overlap(at(even, 0), at(even, middle)));
    EXPECT_FALSE(Overlap(at(even, 0), at(fourths, middle)));
    EXPECT_FALSE(Overlap(at(fourths, middle), at(even, 0)));
    EXPECT_TRUE(Overlap(at(even, 0), at(even, middle + 4)));
    EXPECT_TRUE(Overlap(at(even, 0), at(fourths, middle + 3))) << "by a byte";
    EXPECT_TRUE(Overlap(at(thirds, 0), at(even, middle)));
  }
}

TEST(ViewTest, SameViewIsSameElementsInOrder) {
  const Placed a({{2, 1, 3}, {3, 99, 1}, 0}, 4, 0), b({{2, 1, 3}, {3, -5, 1}, 0}, 4, 0);
  const Placed turned({{2, 1, 3}, {-3, 99, 1}, 3}, 4, 0), wider({{2, 1, 3}, {3, 99, 1}, 0}, 8, 0);
  const Placed moved({{2, 1, 3}, {3, 99, 1}, 1}, 4, 0), flat({{6}, {1}, 0}, 4, 0);
  const Placed shorter({{2, 1, 2}, {3, 99, 1}, 0}, 4, 0);
  EXPECT_TRUE(SameView(a.placement, a.placement));
  EXPECT_TRUE(SameView(a.placement, b.placement)) << "the stride of an axis of one has no effect";
  for (const Placed* other : {&turned, &wider, &moved, &flat, &shorter}) {
    EXPECT_FALSE(SameView(a.placement, other->placement));
    EXPECT_FALSE(SameView(other->placement, a.placement));
  }
}

TEST(ViewTest, HalvesOfElementsInOrder) {
  const Placed whole({{2, 1, 3}, {4, 99, 1}, 0}, 8, 96);
  for (const int64_t at : {92, 96, 98, 100, 104}) {
    const Placed halves({{2, 1, 3}, {8, -5, 2}, 0}, 4, at);
    EXPECT_EQ(IsHalfOf(halves.placement, whole.placement), at == 96 || at == 100) << at;
    EXPECT_FALSE(IsHalfOf(whole.placement, halves.placement));
  }
  const Placed dense({{2, 1, 3}, {4, 99, 1}, 0}, 4, 96), turned({{2, 3, 1}, {8, 2, 1}, 0}, 4, 96),
      shorter({{2, 1, 2}, {8, 99, 2}, 0}, 4, 96), quarters({{2, 1, 3}, {16, 99, 4}, 0}, 2, 96);
  for (const Placed* other : {&dense, &turned, &shorter, &quarters, &whole}) {
    EXPECT_FALSE(IsHalfOf(other->placement, whole.placement));
  }
}

}  // namespace
}  // namespace openaclnn
