// SPDX-License-Identifier: Apache-2.0
// Rows past the caches: all that is asked for and nothing beside it.
#include "kernels/row_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "kernels/stream.h"

namespace openaclnn::test {
namespace {

TEST(StreamRow, IsStoreRow) {
  const RowSumKernels& kernels = *OPENACLNN_TARGET_SELECT(kRowSumKernels);
  std::vector<float> sums(kTileWidth);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = 1.0f / static_cast<float>(i + 1);
  alignas(64) std::byte memory[2][kTileWidth * sizeof(float) + 128];
  for (const int32_t dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    for (const int64_t width : {0, 32, 64, 992, 2048}) {
      for (const int64_t at : {0, 64}) {
        for (auto& each : memory) std::fill(std::begin(each), std::end(each), std::byte{0x5a});
        kernels.store(sums.data(), width, 3.0f, dtype, memory[0] + at);
        kernels.stream(sums.data(), width, 3.0f, dtype, memory[1] + at);
        EndStreams();
        ASSERT_TRUE(std::equal(std::begin(memory[0]), std::end(memory[0]), memory[1]))
            << dtype << ": " << width << " at " << at;
      }
    }
  }
}

}  // namespace
}  // namespace openaclnn::test
