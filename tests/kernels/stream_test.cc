// SPDX-License-Identifier: Apache-2.0
// Bytes past the caches: all that are asked for and none beside them.
#include "kernels/simd/stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace openaclnn::test {
namespace {

constexpr std::byte kOther{0x5a};

TEST(StreamZeros, WritesEveryByteAndNoOther) {
  const StreamKernels& kernels = *OPENACLNN_TARGET_SELECT(kStreamKernels);
  for (size_t at = 0; at < 66; ++at) {
    for (const size_t bytes : {0, 1, 2, 63, 64, 65, 127, 128, 130, 1000}) {
      std::vector<std::byte> memory(1200, kOther), wanted = memory;
      std::fill_n(wanted.begin() + static_cast<int64_t>(at), bytes, std::byte{0});
      kernels.zeros(memory.data() + at, static_cast<int64_t>(bytes));
      ASSERT_EQ(memory, wanted) << bytes << " bytes at " << at;
    }
  }
}

// Bits that are no number as well, from anywhere.
TEST(StreamCopy, IsACopy) {
  const StreamKernels& kernels = *OPENACLNN_TARGET_SELECT(kStreamKernels);
  std::vector<std::byte> from(1200);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i % 251 < 4 ? 255 : i);
  alignas(kCacheLine) std::byte to[1200];
  for (int64_t at = 0; at < 66; ++at) {
    for (const int64_t bytes : {0, 64, 128, 1024}) {
      std::fill(std::begin(to), std::end(to), kOther);
      kernels.copy(from.data() + at, to + kCacheLine, bytes);
      EndStreams();
      std::vector<std::byte> wanted(std::size(to), kOther);
      std::copy_n(from.begin() + at, bytes, wanted.begin() + kCacheLine);
      ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), to)) << bytes << " bytes from " << at;
    }
  }
}

}  // namespace
}  // namespace openaclnn::test
