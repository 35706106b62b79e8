// SPDX-License-Identifier: Apache-2.0
// Reads the kernel's table of memory.
#include "ascendcl/process/usable_memory.h"

#include <gtest/gtest.h>

#include <sstream>

namespace openaclnn {
namespace {

uint64_t Total(const char* text) {
  std::istringstream meminfo(text);
  return TotalOf(meminfo);
}

TEST(UsableMemoryTest, TotalOfATable) {
  EXPECT_EQ(Total("MemTotal:       16384 kB\nMemFree:  1 kB\n"), 16384U << 10);
  EXPECT_EQ(Total("MemFree:  1 kB\nMemTotal: 2 kB\n"), 2U << 10);
  EXPECT_EQ(Total(""), 0U);
  EXPECT_EQ(Total("MemFree: 1 kB\n"), 0U);
  EXPECT_EQ(Total("MemTotal: none\n"), 0U);
}

TEST(UsableMemoryTest, OfThisMachine) {
  uint64_t bytes = 0;
  EXPECT_TRUE(UsableMemory(&bytes).ok());
  EXPECT_GT(bytes, uint64_t{1} << 20);
  EXPECT_LT(bytes, uint64_t{1} << 50);
}

}  // namespace
}  // namespace openaclnn
