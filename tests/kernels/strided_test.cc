// SPDX-License-Identifier: Apache-2.0
// Addresses of strided views, and copies along them.
#include "kernels/move/strided.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <vector>

#include "tests/support/layout.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

TEST(Offsets, AreThoseOfEveryIndex) {
  EXPECT_TRUE(rc::check([] {
    const auto dims =
        *rc::gen::container<Dims>(*rc::gen::inRange<size_t>(0, 9), rc::gen::inRange<int64_t>(1, 4));
    Random random(*rc::gen::arbitrary<uint32_t>());
    Layout layout = RandomLayout(random, dims, true);
    const TensorHandle tensor({.dims = dims, .strides = layout.strides});
    const Input operand("x", tensor.get());
    const Offsets offsets(operand, operand.rank());
    layout.offset = 0;
    ForEachElement(layout, [&](int64_t at, int64_t i) { RC_ASSERT(offsets(i) == at); });
  }));
}

TEST(RowView, IsARowAtATime) {
  const TensorHandle tensor({.dims = {2, 3, 4}, .dtype = ACL_INT16, .strides = Dims{100, -10, 2}});
  const Input operand("x", tensor.get());
  const RowView view(operand);
  EXPECT_EQ(view.step, 2);
  EXPECT_EQ(view.element_bytes, 2);
  std::vector<int16_t> memory(200);
  int16_t* const origin = &memory[50];
  for (int64_t row = 0; row < 6; ++row) {
    const int64_t wanted = row / 3 * 100 - row % 3 * 10;
    EXPECT_EQ(view.Row(origin, row), reinterpret_cast<std::byte*>(origin + wanted)) << row;
  }
}

/// Copies and clears n elements of a size, with every mix of steps; nothing between may change.
template <class T>
void ExpectCopies() {
  constexpr int64_t kCount = 21;
  for (const int64_t from_step : {-3, -1, 0, 1, 2}) {
    for (const int64_t to_step : {-2, -1, 1, 4}) {
      std::vector<T> from(200), to(200, T{99});
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i);
      std::vector<T> wanted = to, cleared = to;
      for (int64_t i = 0; i < kCount; ++i) {
        wanted[static_cast<size_t>(100 + i * to_step)] =
            from[static_cast<size_t>(100 + i * from_step)];
        cleared[static_cast<size_t>(100 + i * to_step)] = 0;
      }
      std::vector<T> got = to;
      CopyStrided(&from[100], from_step, &got[100], to_step, kCount, sizeof(T));
      EXPECT_EQ(got, wanted) << from_step << " " << to_step;
      ZeroStrided(&to[100], to_step, kCount, sizeof(T));
      EXPECT_EQ(to, cleared) << to_step;
    }
  }
}

TEST(CopyStrided, OfEverySize) {
  ExpectCopies<uint8_t>();
  ExpectCopies<uint16_t>();
  ExpectCopies<uint32_t>();
  ExpectCopies<uint64_t>();
}

TEST(CopyStrided, OfNothing) {
  uint32_t value = 5;
  CopyStrided(&value, 1, nullptr, 3, 0, 4);
  ZeroStrided(&value, 1, 0, 4);
  EXPECT_EQ(value, 5u);
}

}  // namespace
}  // namespace openaclnn::test
