// SPDX-License-Identifier: Apache-2.0
// Common shapes by the rule of NumPy, and walks over several views against one index at a time.
#include "kernels/move/broadcast.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "tests/support/layout.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

Shape ShapeWith(const Dims& dims) { return {dims.begin(), dims.end()}; }

bool Meets(const Dims& a, const Dims& b, Shape* shape) {
  const TensorHandle tensor({.dims = b});
  const Input operand("b", tensor.get());
  *shape = ShapeWith(a);
  return BroadcastShape(operand, shape);
}

TEST(BroadcastShape, AlignsAtTheEnd) {
  Shape shape;
  EXPECT_TRUE(Meets({2, 1, 4}, {3, 1}, &shape));
  EXPECT_EQ(shape, (Shape{2, 3, 4}));
  EXPECT_TRUE(Meets({4}, {2, 3, 1}, &shape));
  EXPECT_EQ(shape, (Shape{2, 3, 4}));
  EXPECT_TRUE(Meets({}, {2, 3}, &shape));
  EXPECT_EQ(shape, (Shape{2, 3}));
  EXPECT_TRUE(Meets({2, 3}, {}, &shape));
  EXPECT_EQ(shape, (Shape{2, 3}));
  // Nothing stretches to nothing, and only from one.
  EXPECT_TRUE(Meets({1, 3}, {0, 3}, &shape));
  EXPECT_EQ(shape, (Shape{0, 3}));
  EXPECT_TRUE(Meets({0, 3}, {1, 3}, &shape));
  EXPECT_EQ(shape, (Shape{0, 3}));
  EXPECT_FALSE(Meets({2, 3}, {0, 3}, &shape));
  EXPECT_FALSE(Meets({2, 3}, {2, 4}, &shape));
  EXPECT_FALSE(Meets({2, 3}, {2}, &shape));
}

// Callers check ranks; who forgets gets no steps beside the shape's.
TEST(BroadcastShape, RefusesWhatHasNoRoom) {
  const TensorHandle tensor({.dims = {2, 3}});
  const Input operand("x", tensor.get());
  EXPECT_THROW(Steps(Shape{6}, operand), std::logic_error);
  EXPECT_THROW(Steps(Shape{}, operand), std::logic_error);
  EXPECT_THROW(Walk(Shape(9, 2), {Steps(Shape(9, 0))}), std::logic_error);
  EXPECT_THROW(Walk(Shape{2}, std::vector<Steps>(7, Steps(Shape{0}))), std::logic_error);
}

/// A view of `shape` in which some dimensions are 1 or left out in front.
Dims Shrunk(Random& random, const Dims& shape) {
  Dims dims(shape.begin() + Uniform(random, 0, static_cast<int64_t>(shape.size())), shape.end());
  for (int64_t& dim : dims) {
    if (Uniform(random, 0, 2) == 0) dim = 1;
  }
  return dims;
}

/// Offset in bytes of an index of `shape` in a view that is broadcast to it.
int64_t OffsetOf(const Layout& layout, const Dims& shape, int64_t index, int64_t bytes) {
  int64_t offset = 0;
  for (size_t axis = shape.size(); axis-- > 0;) {
    const int64_t at = index % shape[axis];
    index /= shape[axis];
    const size_t lead = shape.size() - layout.dims.size();
    if (axis >= lead && layout.dims[axis - lead] != 1) {
      offset += at * layout.strides[axis - lead] * bytes;
    }
  }
  return offset;
}

// Runs cover each index once, in short runs along which every view has one step.
TEST(Walk, CoversEveryIndexOnce) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    Dims shape;
    for (int64_t rank = Uniform(random, 0, 5); rank > 0; --rank) {
      shape.push_back(Uniform(random, 1, 4));
    }
    // One may be longer than a run.
    if (!shape.empty() && Uniform(random, 0, 3) == 0) {
      shape[static_cast<size_t>(Uniform(random, 0, static_cast<int64_t>(shape.size()) - 1))] = 300;
    }
    const aclDataType dtypes[] = {ACL_FLOAT, ACL_INT8, ACL_DOUBLE};
    std::vector<Layout> layouts;
    std::vector<TensorHandle> tensors;
    std::vector<std::unique_ptr<Input>> inputs;
    std::vector<const Operand*> operands;
    for (const aclDataType dtype : dtypes) {
      layouts.push_back(RandomLayout(random, Shrunk(random, shape), true));
      tensors.emplace_back(TensorSpec{
          .dims = layouts.back().dims, .dtype = dtype, .strides = layouts.back().strides});
      inputs.push_back(std::make_unique<Input>("x", tensors.back().get()));
      operands.push_back(inputs.back().get());
    }
    const Walk walk(ShapeWith(shape), operands);
    const int64_t count = CountOf(ShapeWith(shape));
    RC_ASSERT(walk.count() == count);
    std::vector<std::array<int64_t, 3>> wanted, got;
    for (int64_t i = 0; i < count; ++i) {
      wanted.push_back({OffsetOf(layouts[0], shape, i, 4), OffsetOf(layouts[1], shape, i, 1),
                        OffsetOf(layouts[2], shape, i, 8)});
    }
    std::byte origin{};
    const Walk::Pointers origins = {&origin, &origin, &origin};
    walk.ForRunsInOrder(origins, [&](const Walk::Pointers& at, int64_t n) {
      RC_ASSERT(0 < n && n <= Walk::kRun);
      for (int64_t i = 0; i < n; ++i) {
        got.push_back({at[0] - &origin + i * walk.step(0), at[1] - &origin + i * walk.step(1),
                       at[2] - &origin + i * walk.step(2)});
      }
    });
    std::ranges::sort(got);
    std::ranges::sort(wanted);
    RC_ASSERT(got == wanted);
  }));
}

/// A walk over two views of a shape.
Walk WalkOf(const Dims& shape, const std::vector<Dims>& strides) {
  std::vector<TensorHandle> tensors;
  std::vector<std::unique_ptr<Input>> inputs;
  std::vector<const Operand*> operands;
  for (const Dims& each : strides) {
    tensors.emplace_back(TensorSpec{.dims = shape, .strides = each});
    inputs.push_back(std::make_unique<Input>("x", tensors.back().get()));
    operands.push_back(inputs.back().get());
  }
  return Walk(ShapeWith(shape), operands);
}

// Images with the channels last are one run, as any dense views of one layout.
TEST(Walk, FollowsTheMemoryOfTheLast) {
  const Dims channels_last = {60, 1, 15, 3};
  const Walk walk = WalkOf({2, 3, 4, 5}, {channels_last, channels_last});
  std::byte origin{};
  int runs = 0;
  walk.ForRunsInOrder({&origin, &origin}, [&](const Walk::Pointers& at, int64_t n) {
    EXPECT_EQ(at[0], &origin);
    EXPECT_EQ(n, 120);
    ++runs;
  });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(walk.step(0), 4);
}

TEST(Walk, InTilesCoversTheSame) {
  constexpr int64_t kOuter = 3, kRows = 70, kColumns = 150;
  const Dims shape = {kOuter, kRows, kColumns};
  const Walk walk = WalkOf(shape, {{kRows * kColumns, 1, kRows}, {kRows * kColumns, kColumns, 1}});
  EXPECT_EQ(walk.Across(0, 4), std::optional<uint32_t>(1));
  EXPECT_EQ(walk.Across(1, 4), std::nullopt);
  EXPECT_EQ(walk.Across(0, 8), std::nullopt);  // no neighbours are so far apart
  std::vector<float> from(kOuter * kRows * kColumns), to(from.size());
  std::vector<int> written(from.size());
  auto* const in = reinterpret_cast<std::byte*>(from.data());
  auto* const out = reinterpret_cast<std::byte*>(to.data());
  walk.ForTiles({in, out}, 1, 16, 40, [&](const Walk::Pointers& at, int64_t rows, int64_t columns) {
    EXPECT_LE(rows, 16);
    EXPECT_LE(columns, 40);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        const int64_t place = (at[1] - out + r * walk.step_across(1, 1) + c * walk.step(1)) / 4;
        const int64_t i = place / (kRows * kColumns), j = place / kColumns % kRows;
        const int64_t k = place % kColumns;
        EXPECT_EQ(at[0] - in + r * walk.step_across(0, 1) + c * walk.step(0),
                  4 * (i * kRows * kColumns + k * kRows + j));
        ++written[static_cast<size_t>(place)];
      }
    }
  });
  EXPECT_EQ(std::ranges::count(written, 1), std::ssize(written));
}

// In blocks, on whatever threads there are: each byte of the output is written once.
TEST(Walk, InBlocksCoversTheSame) {
  for (const Dims& shape : {Dims{100003}, Dims{300, 1, 257}, Dims{7, 0, 3}, Dims{}}) {
    const TensorHandle tensor({.dims = shape, .dtype = ACL_UINT8});
    const Input operand("x", tensor.get());
    const Operand* const operands[] = {&operand};
    const int64_t count = CountOf(ShapeWith(shape));
    std::vector<std::byte> written(static_cast<size_t>(std::max<int64_t>(count, 1)));
    Walk(ShapeWith(shape), operands)
        .ForRuns({written.data()}, [](const Walk::Pointers& at, int64_t n) {
          for (int64_t i = 0; i < n; ++i) {
            at[0][i] = static_cast<std::byte>(static_cast<int>(at[0][i]) + 1);
          }
        });
    const auto ones = std::count(written.begin(), written.end(), std::byte{1});
    EXPECT_EQ(ones, count) << testing::PrintToString(shape);
  }
}

// Where nothing is read, sizes may be any.
TEST(Walk, OfHugeViewsWithoutElements) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  const Dims shape = {kHuge, kHuge, 0};
  const TensorHandle tensor({.dims = shape, .strides = Dims{INT64_MAX, INT64_MIN, 1}});
  const Input operand("x", tensor.get());
  const Operand* const operands[] = {&operand};
  const Walk walk(ShapeWith(shape), operands);
  EXPECT_EQ(walk.count(), 0);
  walk.ForRuns({}, [](const Walk::Pointers&, int64_t) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace openaclnn::test
