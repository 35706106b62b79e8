// SPDX-License-Identifier: Apache-2.0
// Copies between views of any strides against one element at a time.
#include "kernels/move/copy.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/move/tile.h"
#include "tests/support/layout.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

using Memory = std::vector<std::byte>;

Memory Numbered(size_t size) {
  Memory memory(size);
  for (size_t i = 0; i < size; ++i) memory[i] = static_cast<std::byte>(i * 37 + i / 251);
  return memory;
}

/// Steps of a dense view whose dimensions lie in memory in the given order.
Shape StepsInOrder(const Shape& shape, const std::vector<size_t>& order, int64_t bytes) {
  Shape steps(shape.size());
  for (size_t i = order.size(); i-- > 0;) {
    steps[order[i]] = bytes;
    bytes *= shape[order[i]];
  }
  return steps;
}

int64_t OffsetOf(const Shape& shape, const Shape& steps, int64_t index) {
  int64_t offset = 0;
  for (size_t d = shape.size(); d-- > 0; index /= shape[d]) {
    offset += index % shape[d] * steps[d];
  }
  return offset;
}

/// Both forms of the copy, between guards that must stay.
void ExpectCopied(const Shape& shape, const Shape& from, const Shape& to, int64_t bytes) {
  constexpr int64_t kGuard = 64;
  const int64_t count = CountOf(shape);
  int64_t from_end = bytes, to_end = bytes;
  for (size_t d = 0; d < shape.size(); ++d) {
    from_end += (shape[d] - 1) * from[d];
    to_end += (shape[d] - 1) * to[d];
  }
  const Memory source = Numbered(static_cast<size_t>(from_end));
  Memory wanted(static_cast<size_t>(to_end + 2 * kGuard), std::byte{0x5A}), got = wanted;
  Memory in_order = wanted;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(wanted.data() + kGuard + OffsetOf(shape, to, i),
                source.data() + OffsetOf(shape, from, i), static_cast<size_t>(bytes));
  }
  const Copy copy(shape, Steps(from), Steps(to), bytes);
  copy(source.data(), got.data() + kGuard);
  copy.InOrder(source.data(), in_order.data() + kGuard);
  RC_ASSERT(got == wanted);
  RC_ASSERT(in_order == wanted);
}

TEST(Copy, IsThatOfEveryElement) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    const int64_t bytes = int64_t{1} << Uniform(random, 0, 3);
    Shape shape;
    const int64_t lengths[] = {1, 2, 3, 4, 7, 16, 33};
    for (int64_t rank = Uniform(random, 0, 4); rank > 0; --rank) {
      shape.push_back(lengths[Uniform(random, 0, 6)]);
    }
    std::vector<size_t> order(shape.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    Shape from = StepsInOrder(shape, order, bytes);
    std::shuffle(order.begin(), order.end(), random);
    // Elements of the output may have gaps between them; the source may stand still.
    const Shape to = StepsInOrder(shape, order, bytes * Uniform(random, 1, 2));
    for (int64_t& step : from) {
      if (Uniform(random, 0, 5) == 0) step = 0;
    }
    ExpectCopied(shape, from, to, bytes);
  }));
}

TEST(Copy, TransposesLongSides) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    const int64_t bytes = int64_t{1} << Uniform(random, 0, 4);
    const Shape shape = {Uniform(random, 1, 300), Uniform(random, 1, 300)};
    const int64_t more = bytes * Uniform(random, 0, 5);
    const Shape columns = {bytes, shape[0] * bytes + more}, rows = {shape[1] * bytes + more, bytes};
    ExpectCopied(shape, columns, rows, bytes);
    ExpectCopied(shape, rows, columns, bytes);
    ExpectCopied(shape, rows, rows, bytes);
  }));
}

TEST(Copy, GoesBackwards) {
  const Memory source = Numbered(12);
  Memory got(12);
  const Copy copy({3, 4}, Steps({-4, -1}), Steps({1, 3}), 1);
  copy(source.data() + 11, got.data());
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(got[i / 4 + i % 4 * 3], source[11 - i]) << i;
}

TEST(Copy, OfNothingTouchesNothing) {
  const Copy empty({3, 0}, Steps({1, 1}), Steps({1, 1}), 8);
  empty(nullptr, nullptr);
  Copy().InOrder(nullptr, nullptr);
  std::byte one{1};
  const Copy itself(Shape{}, Steps(Shape{}), Steps(Shape{}), 1);
  itself(&one, &one);
  std::byte other{0};
  itself(&one, &other);
  EXPECT_EQ(other, one);
  EXPECT_EQ(itself.run(), 1);
  EXPECT_EQ(Copy({4, 8}, Steps({8, 1}), Steps({8, 1}), 1).run(), 32);
  EXPECT_EQ(Copy({4, 8}, Steps({8, 1}), Steps({9, 1}), 1).run(), 0);
}

}  // namespace
}  // namespace openaclnn::test
