// SPDX-License-Identifier: Apache-2.0
// Zeros past the caches: all that is asked for and nothing beside it.
#include "kernels/row_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace openaclnn::test {
namespace {

TEST(StreamZeros, WritesEveryByteAndNoOther) {
  const RowSumKernels& kernels = *OPENACLNN_TARGET_SELECT(kRowSumKernels);
  constexpr std::byte kOther{0x5a};
  for (size_t at = 0; at < 66; ++at) {
    for (const size_t bytes : {0, 1, 2, 63, 64, 65, 127, 128, 130, 1000}) {
      std::vector<std::byte> memory(1200, kOther), wanted = memory;
      std::fill_n(wanted.begin() + static_cast<int64_t>(at), bytes, std::byte{0});
      kernels.stream_zeros(memory.data() + at, static_cast<int64_t>(bytes));
      ASSERT_EQ(memory, wanted) << bytes << " bytes at " << at;
    }
  }
}

}  // namespace
}  // namespace openaclnn::test
