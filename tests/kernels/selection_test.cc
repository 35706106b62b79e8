// SPDX-License-Identifier: Apache-2.0
// Selected slices of any views against one element at a time.
#include "kernels/index/selection.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <vector>

#include "tests/support/layout.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

using Memory = std::vector<std::byte>;

/// Steps of a tensor (places, rows, width), whose elements follow each other or lie rows first.
Shape StepsOf(const Shape& dims, bool transposed, int64_t bytes) {
  return transposed ? Shape{dims[1] * dims[2] * bytes, bytes, dims[1] * bytes}
                    : Shape{dims[1] * dims[2] * bytes, dims[2] * bytes, bytes};
}

TEST(Selection, MovesEverySlice) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    const int64_t bytes = int64_t{1} << Uniform(random, 0, 3);
    const int64_t widths[] = {1, 2, 4, 5, 16, 300};
    const int64_t places = Uniform(random, 1, 5), width = widths[Uniform(random, 0, 5)];
    const Shape self = {places, Uniform(random, 1, 40), width};
    const Shape out = {places, Uniform(random, 0, 60), width};
    const Shape from = StepsOf(self, Uniform(random, 0, 1) == 0, bytes);
    const Shape to = StepsOf(out, Uniform(random, 0, 1) == 0, bytes);
    Memory source(static_cast<size_t>(CountOf(self) * bytes));
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 37 + i / 251);
    Memory wanted(static_cast<size_t>(CountOf(out) * bytes)), got = wanted;
    std::vector<int64_t> offsets;
    for (int64_t row = 0; row < out[1]; ++row) {
      offsets.push_back(Uniform(random, 0, self[1] - 1) * from[1]);
      for (int64_t i = 0; i < places * width; ++i) {
        const int64_t place = i / width, column = i % width;
        std::memcpy(wanted.data() + place * to[0] + row * to[1] + column * to[2],
                    source.data() + place * from[0] + offsets.back() + column * from[2],
                    static_cast<size_t>(bytes));
      }
    }
    const Copy slice({width}, Steps(Shape{from[2]}), Steps(Shape{to[2]}), bytes);
    const Selection selection(Offsets(self.data(), from.data(), 1), places,
                              Offsets(out.data(), to.data(), 2), slice, width * bytes);
    selection(offsets, source.data(), got.data());
    RC_ASSERT(got == wanted);
  }));
}

TEST(PickElements, OfEverySize) {
  Memory source(160);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i);
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    const int64_t offsets[] = {3 * bytes, 0, 9 * bytes, 3 * bytes};
    Memory got(static_cast<size_t>(8 * bytes));
    PickElements(source.data(), offsets, 4, got.data(), 2 * bytes, bytes);
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(std::memcmp(got.data() + 2 * i * bytes, source.data() + offsets[i],
                            static_cast<size_t>(bytes)),
                0)
          << bytes << " bytes, " << i;
    }
  }
}

/// n elements of `bytes` by indices below `limit`, against one at a time.
template <class Index>
void PicksIndexed(Random& random, int64_t bytes, int64_t n, int64_t limit, bool of_row) {
  const int64_t along = of_row ? bytes : 3 * bytes,
                across = of_row ? 0 : bytes * Uniform(random, 0, 2),
                to_step = of_row ? bytes : bytes * Uniform(random, 1, 2);
  Memory source(static_cast<size_t>(limit * along + n * across + bytes));
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 37 + i / 251);
  Memory wanted(static_cast<size_t>(n * to_step)), got = wanted;
  std::vector<Index> indices(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = Uniform(random, 0, limit - 1);
    indices[static_cast<size_t>(i)] = static_cast<Index>(at);
    std::memcpy(wanted.data() + i * to_step, source.data() + at * along + i * across,
                static_cast<size_t>(bytes));
  }
  const bool known = Uniform(random, 0, 1) == 0;
  PickIndexed(
      {source.data(), along, across, reinterpret_cast<std::byte*>(indices.data()), sizeof(Index),
       got.data(), to_step, bytes, known ? source.data() : nullptr, limit * bytes},
      n);
  ASSERT_EQ(got, wanted) << bytes << " bytes, " << n << " of " << limit;
}

TEST(PickIndexed, OfEverySize) {
  Random random(9);
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    for (const int64_t n : {1, 7, 8, 9, 100}) {
      for (const int64_t limit : {1, 5, 90, 3000}) {
        PicksIndexed<int32_t>(random, bytes, n, limit, true);
        PicksIndexed<int64_t>(random, bytes, n, limit, true);
        PicksIndexed<int32_t>(random, bytes, n, limit, false);
        PicksIndexed<int64_t>(random, bytes, n, limit, false);
      }
    }
  }
}

}  // namespace
}  // namespace openaclnn::test
