// SPDX-License-Identifier: Apache-2.0
// Places in memory: each form of the words that reports have for one.
#include "ascendcl/memory/place.h"

#include <gtest/gtest.h>

namespace openaclnn {
namespace {

std::byte* At(uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

/// 64 bytes of a device, as memory finds them.
Place Known(int64_t offset) {
  Place place;
  place.begin = At(0x1000);
  place.offset = offset;
  place.bytes = 64;
  place.device_id = 2;
  return place;
}

TEST(PlaceTest, WhatWasFreedOrNeverMade) {
  const char* const words = " at 0x77: no allocation is there now; it was freed, or was never made";
  EXPECT_EQ(TextOf(At(0x77), 1, {}), std::string("1 byte") + words);
  EXPECT_EQ(TextOf(At(0x77), 4, {}), std::string("4 bytes") + words);
}

TEST(PlaceTest, InsideBeforeAndBehind) {
  const std::string rest = "64 that were allocated at 0x1000 on device 2";
  const auto text = [](int64_t offset, uint64_t bytes) {
    return TextOf(At(0), bytes, Known(offset));
  };
  EXPECT_EQ(text(0, 1), "byte 0 of the " + rest);
  EXPECT_EQ(text(0, 64), "bytes 0 to 63 of the " + rest);
  EXPECT_EQ(text(63, 1), "byte 63 of the " + rest);
  EXPECT_EQ(text(0, 65), "bytes 0 to 64, beyond the end of the " + rest);
  EXPECT_EQ(text(62, 3), "bytes 62 to 64, beyond the end of the " + rest);
  EXPECT_EQ(text(64, 1), "byte 64, behind the " + rest);
  EXPECT_EQ(text(-1, 1), "byte -1, before the " + rest);
  EXPECT_EQ(text(-8, 4), "bytes -8 to -5, before the " + rest);
  EXPECT_EQ(text(-2, 4), "bytes -2 to 1, before the " + rest);
}

TEST(PlaceTest, WhoMadeAndFreedIt) {
  Place place = Known(4);
  place.maker = "aclrtMalloc";
  place.freed_by = "aclrtFree";
  EXPECT_EQ(TextOf(At(0), 1, place),
            "byte 4 of the 64 that were allocated at 0x1000 on device 2 by aclrtMalloc and that "
            "aclrtFree has freed");
  place = Known(4);
  place.reserved = true;
  EXPECT_EQ(TextOf(At(0), 1, place), "byte 4 of the 64 that were reserved at 0x1000 on device 2");
  place.reserved = false;
  place.location = Location::kPinnedHost;
  EXPECT_EQ(TextOf(At(0), 1, place),
            "byte 4 of the 64 that were allocated at 0x1000 in pinned host memory");
  EXPECT_EQ(TextOf(At(0), 1, place).find('\n'), std::string::npos) << "nobody is known to call";
}

TEST(PlaceTest, OfAnAllocation) {
  Allocation allocation = {};
  allocation.location = Location::kPinnedHost;
  allocation.device_id = 3;
  allocation.block.device = At(0x2000);
  allocation.block.bytes = 100;
  allocation.maker = "aclrtMallocHost";
  allocation.last_task = "aclnnAdd";
  CallStack stack = {};
  stack.count = 1;
  allocation.made_from = std::make_unique<const CallStack>(stack);
  const Place place = PlaceIn(allocation);
  EXPECT_EQ(place.location, Location::kPinnedHost);
  EXPECT_EQ(place.begin, At(0x2000));
  EXPECT_EQ(place.offset, 0);
  EXPECT_EQ(place.bytes, 100U);
  EXPECT_EQ(place.device_id, 3U);
  EXPECT_FALSE(place.reserved);
  EXPECT_STREQ(place.maker, "aclrtMallocHost");
  EXPECT_STREQ(place.last_task, "aclnnAdd");
  EXPECT_EQ(place.made_from.count, 1U);
  EXPECT_EQ(place.freed_by, nullptr);
}

}  // namespace
}  // namespace openaclnn
