// SPDX-License-Identifier: Apache-2.0
// Operand: strides that nobody steps along may be any numbers, and are none that overflow.
#include "frame/operand.h"

#include <gtest/gtest.h>

#include "frame/checker.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kAny = INT64_MAX / 2;

Dims StridesOf(const TensorSpec& spec) {
  const TensorHandle tensor(spec);
  const Input operand("x", tensor.get());
  const int64_t* const strides = operand.tensor().strides;
  return {strides, strides + operand.rank()};
}

TEST(Operand, StepsAreTheClients) {
  EXPECT_EQ(StridesOf({.dims = {2, 3}, .strides = Dims{-7, 0}}), (Dims{-7, 0}));
  EXPECT_EQ(StridesOf({.dims = {}}), Dims{});
}

TEST(Operand, DimensionsOfOneAreThoseOfRowsWithoutGaps) {
  EXPECT_EQ(StridesOf({.dims = {1, 2, 1, 3, 1}, .strides = Dims{kAny, 3, -kAny, 1, kAny}}),
            (Dims{6, 3, 3, 1, 1}));
  EXPECT_EQ(StridesOf({.dims = {1, 1}, .strides = Dims{kAny, kAny}}), (Dims{1, 1}));
  // Before rows with gaps, too.
  EXPECT_EQ(StridesOf({.dims = {1, 4, 3}, .strides = Dims{kAny, 10, 2}}), (Dims{40, 10, 2}));
  // No multiple of what lies behind overflows.
  EXPECT_EQ(StridesOf({.dims = {1, 2}, .strides = Dims{1, INT64_MAX / 2}}),
            (Dims{0, INT64_MAX / 2}));
  EXPECT_EQ(StridesOf({.dims = {1, 2}, .strides = Dims{1, INT64_MAX / 32}}),
            (Dims{INT64_MAX / 32 * 2, INT64_MAX / 32}));
  EXPECT_EQ(StridesOf({.dims = {1, 2}, .strides = Dims{1, INT64_MAX / 32 + 1}}),
            (Dims{0, INT64_MAX / 32 + 1}));
}

TEST(Operand, WithoutElementsThereAreNoSteps) {
  EXPECT_EQ(StridesOf({.dims = {3, 0, 5}, .strides = Dims{kAny, 1, -kAny}}), (Dims{0, 0, 0}));
}

TEST(Operand, RefusalsNameTheGivenStrides) {
  const TensorHandle tensor({.dims = {1, 2}, .strides = Dims{kAny, 1}, .offset = 9});
  const Input operand("x", tensor.get());
  EXPECT_NE(std::string(CheckView(operand).text())
                .find("strides (" + std::to_string(kAny) + ", 1) and offset 9"),
            std::string::npos);
}

}  // namespace
}  // namespace openaclnn::test
