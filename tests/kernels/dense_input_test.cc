// SPDX-License-Identifier: Apache-2.0
// Which inputs are copied before they are read, and what the copy holds.
#include "kernels/move/dense_input.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "tests/support/layout.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

struct Case {
  Dims dims, strides;
  bool copied;
};

const Case kCases[] = {{{1024, 16}, {1, 1024}, true},      {{1023, 16}, {1, 1023}, false},
                       {{1024, 16}, {32, 2}, true},        {{1024, 16}, {17, 1}, false},
                       {{1024, 16}, {0, 2}, false},        {{1024, 16}, {1, 0}, false},
                       {{16384, 1}, {3, 2}, false},        {{1, 16384}, {0, 2}, true},
                       {{32, 32, 16}, {1, 32, 1024}, true}};

TEST(DenseInput, CopiesManyElementsThatAreApart) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(testing::PrintToString(each.strides));
    const TensorHandle tensor({.dims = each.dims, .dtype = ACL_FLOAT, .strides = each.strides});
    const DenseInput input(Input("input", tensor.get()));
    EXPECT_EQ(input.copied(), each.copied);
    EXPECT_TRUE(input.bytes() == (each.copied ? 4 * 16384 : 0));
    EXPECT_TRUE(input.rows().step == 1 || !each.copied);
  }
}

// Row by row the elements are those of the view, wherever they are.
TEST(DenseInput, HasTheRowsOfTheView) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(testing::PrintToString(each.strides));
    const TensorHandle tensor({.dims = each.dims, .dtype = ACL_FLOAT, .strides = each.strides});
    const DenseInput input(Input("input", tensor.get()));
    std::vector<float> memory(65536), room(16384);
    std::iota(memory.begin(), memory.end(), 0.0f);
    void* const origin = input.Take(memory.data(), room.data());
    EXPECT_EQ(origin, static_cast<void*>(each.copied ? room.data() : memory.data()));
    const int64_t width = each.dims.back();
    ForEachElement({.dims = each.dims, .strides = each.strides}, [&](int64_t at, int64_t i) {
      float got;
      std::memcpy(&got, input.rows().Row(origin, i / width) + i % width * input.rows().step * 4, 4);
      ASSERT_EQ(got, memory[static_cast<size_t>(at)]) << i;
    });
  }
}

}  // namespace
}  // namespace openaclnn::test
