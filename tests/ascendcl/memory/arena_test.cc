// SPDX-License-Identifier: Apache-2.0
// Arena: random allocations against a model, by every combination of options.
#include "ascendcl/memory/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "ascendcl/memory/canary.h"

namespace openaclnn {
namespace {

class ArenaTest : public testing::TestWithParam<ArenaOptions> {};

struct Held {
  Block block;
  uint8_t fill;
};

/// Every byte as it was filled, and its own.
void ExpectIntact(const Held& held) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(held.block.host);
  for (uint64_t i = 0; i < held.block.bytes; i += i < 64 ? 1 : 997) {
    ASSERT_EQ(bytes[i], held.fill) << "at byte " << i;
  }
  ASSERT_EQ(bytes[held.block.bytes - 1], held.fill);
  const Block& block = held.block;
  ASSERT_EQ(IntactBytes(block.host + block.bytes, block.behind), block.behind);
  ASSERT_EQ(IntactBytes(block.host - block.before, block.before), block.before);
}

/// Live blocks by device address: no two may share a byte, at either address.
void Add(const Block& block, std::map<std::byte*, Held>* live, uint8_t fill) {
  const auto next = live->lower_bound(block.device);
  if (next != live->end()) {
    ASSERT_LE(block.device + block.bytes, next->first);
  }
  if (next != live->begin()) {
    const Held& previous = std::prev(next)->second;
    ASSERT_LE(previous.block.device + previous.block.bytes, block.device);
  }
  for (const auto& [address, held] : *live) {
    ASSERT_TRUE(block.host + block.bytes <= held.block.host ||
                held.block.host + held.block.bytes <= block.host);
  }
  std::memset(block.host, fill, block.bytes);
  live->emplace(block.device, Held{block, fill});
}

TEST_P(ArenaTest, AgreesWithAModel) {
  Arena arena(GetParam());
  std::mt19937 random(20);
  std::map<std::byte*, Held> live;
  const uint64_t alignment = GetParam().at_pages      ? Arena::kPage
                             : GetParam().guard_pages ? Arena::kGuardedAlignment
                                                      : Arena::kAlignment;
  for (int i = 0; i < 3000; ++i) {
    if (live.size() < 100 && random() % 5 < 3) {
      const uint64_t scale = uint64_t{1} << random() % 21;
      const uint64_t bytes = 1 + random() % scale;
      Block block;
      ASSERT_TRUE(arena.Allocate(bytes, &block));
      ASSERT_EQ(block.bytes, bytes);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(block.device) % alignment, 0u);
      ASSERT_EQ(block.device == block.host, GetParam().host_access);
      if (!GetParam().canaries) {
        ASSERT_EQ(block.before + block.behind, 0U);
      } else if (!GetParam().guard_pages) {
        ASSERT_GE(block.behind, kLeastCanary);
      }
      ASSERT_TRUE(arena.Covers(block.device));
      ASSERT_TRUE(arena.Covers(block.device + bytes - 1));
      // As its owner does.
      GetParam().guard_pages ? Arena::Fill(block)
                             : WriteCanary(block.host + block.bytes, block.behind);
      Add(block, &live, static_cast<uint8_t>(i));
    } else if (!live.empty()) {
      const auto chosen = std::next(live.begin(), random() % live.size());
      ExpectIntact(chosen->second);
      arena.Free(chosen->second.block);
      live.erase(chosen);
    }
  }
  for (const auto& [address, held] : live) {
    ExpectIntact(held);
    arena.Free(held.block);
  }
}

TEST_P(ArenaTest, Large) {
  Arena arena(GetParam());
  for (const uint64_t bytes : {uint64_t{64} << 20, (uint64_t{64} << 20) + 1, uint64_t{200} << 20}) {
    Block block;
    ASSERT_TRUE(arena.Allocate(bytes, &block));
    block.host[0] = block.host[bytes - 1] = std::byte{7};
    EXPECT_TRUE(arena.Covers(block.device + bytes - 1));
    EXPECT_TRUE(arena.Covers(block.device - 1)) << "no memory of anybody's";
    arena.Free(block);
    EXPECT_TRUE(arena.Covers(block.device)) << "freed, and known to have been device memory";
    Block again;
    ASSERT_TRUE(arena.Allocate(bytes, &again));
    EXPECT_EQ(again.device == block.device, !GetParam().guard_pages)
        << "addresses are used again, of guarded blocks later";
    again.host[bytes - 1] = std::byte{1};
    arena.Free(again);
  }
  Block block;
  EXPECT_FALSE(arena.Allocate(UINT64_MAX, &block));
  EXPECT_FALSE(arena.Allocate(UINT64_MAX / 8, &block)) << "more than there are addresses";
  EXPECT_FALSE(arena.Covers(&block));
  EXPECT_FALSE(arena.Covers(nullptr));
}

// The last large blocks that were freed keep their pages for the next ones, up to 256 MiB: what was
// in them shows it. Those before are given back, and new pages are 0.
TEST(ArenaKeepTest, LastLargeBlocksKeepTheirPages) {
  constexpr uint64_t kBytes = uint64_t{66} << 20;
  Arena arena(ArenaOptions{});
  std::vector<Block> blocks(5);
  for (Block& block : blocks) {
    ASSERT_TRUE(arena.Allocate(kBytes, &block));
    block.host[0] = std::byte{7};
  }
  for (const Block& block : blocks) arena.Free(block);
  for (size_t i = 0; i < blocks.size(); ++i) {
    Block again;
    ASSERT_TRUE(arena.Allocate(kBytes, &again));
    const auto before = std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) {
      return block.device == again.device;
    });
    ASSERT_NE(before, blocks.end());
    EXPECT_EQ(again.host[0], std::byte{before - blocks.begin() < 2 ? uint8_t{0} : uint8_t{7}});
  }
}

// Those of another size and the end of the library do not find them kept.
TEST(ArenaKeepTest, GivenBack) {
  constexpr uint64_t kBytes = uint64_t{66} << 20;
  for (const bool other_size : {false, true}) {
    Arena arena(ArenaOptions{});
    Block block, other, again;
    ASSERT_TRUE(arena.Allocate(kBytes, &block));
    block.host[0] = std::byte{7};
    arena.Free(block);
    if (other_size) {
      ASSERT_TRUE(arena.Allocate(2 * kBytes, &other));
    } else {
      arena.GiveBack();
    }
    ASSERT_TRUE(arena.Allocate(kBytes, &again));
    EXPECT_EQ(again.device, block.device);
    EXPECT_EQ(again.host[0], std::byte{0}) << other_size;
  }
}

// The pages of what is free beside blocks in use as well.
TEST(ArenaKeepTest, AllGivenBack) {
  constexpr uint64_t kBytes = uint64_t{1} << 20;
  Arena arena(ArenaOptions{});
  Block freed, held;
  ASSERT_TRUE(arena.Allocate(kBytes, &freed));
  ASSERT_TRUE(arena.Allocate(kBytes, &held));
  freed.host[5000] = held.host[5000] = std::byte{7};
  arena.Free(freed);
  arena.GiveAllBack();
  Block again;
  ASSERT_TRUE(arena.Allocate(kBytes, &again));
  EXPECT_EQ(again.device, freed.device);
  EXPECT_EQ(again.host[5000], std::byte{0});
  EXPECT_EQ(held.host[5000], std::byte{7});
}

// What is given back is joined: the largest block fits again, wherever it was cut.
TEST(ArenaJoinTest, NeighboursBecomeOne) {
  constexpr uint64_t kPiece = uint64_t{1} << 20;
  Arena arena(ArenaOptions{});
  std::mt19937 random(3);
  std::byte* lowest = nullptr;
  for (int round = 0; round < 20; ++round) {
    std::vector<Block> pieces(64);
    for (Block& piece : pieces) ASSERT_TRUE(arena.Allocate(kPiece, &piece));
    std::shuffle(pieces.begin(), pieces.end(), random);
    for (const Block& piece : pieces) arena.Free(piece);
    Block whole;
    ASSERT_TRUE(arena.Allocate(64 * kPiece, &whole));
    if (lowest == nullptr) lowest = whole.device;
    EXPECT_EQ(whole.device, lowest) << "a second mapping was needed";
    arena.Free(whole);
  }
}

// Guarded addresses rest, but not for ever; and kernels' addresses are known too.
TEST(ArenaGuardTest, AddressesRest) {
  Arena arena(ArenaOptions{.guard_pages = true});
  std::map<std::byte*, int> rounds;
  int again = 0;
  for (int round = 0; round < 3000; ++round) {
    Block block;
    ASSERT_TRUE(arena.Allocate(100, &block));
    EXPECT_EQ(arena.DeviceAddress(block.host + 7), block.device + 7);
    EXPECT_EQ(arena.DeviceAddress(block.host + 5000), block.device + 5000) << "on the page behind";
    EXPECT_EQ(arena.DeviceAddress(block.device), nullptr);
    const auto [seen, fresh] = rounds.emplace(block.device, round);
    if (!fresh) {
      ++again;
      EXPECT_GE(round - std::exchange(seen->second, round), 1000);
    }
    arena.Free(block);
  }
  EXPECT_GT(again, 0);
}

// A canary takes no page of its own behind large blocks of whole pages.
TEST(ArenaCanaryTest, LargeBlocksKeepTheirSize) {
  if (!kHaveCanaries) GTEST_SKIP() << "such bytes are poisoned";
  Arena arena(ArenaOptions{.canaries = true});
  for (const uint64_t bytes : {uint64_t{64} << 20, uint64_t{200} << 20}) {
    Block block;
    ASSERT_TRUE(arena.Allocate(bytes, &block));
    EXPECT_EQ(block.behind, 0U);
    arena.Free(block);
    ASSERT_TRUE(arena.Allocate(bytes - 1, &block));
    EXPECT_EQ(block.behind, 1U);
    arena.Free(block);
    ASSERT_TRUE(arena.Allocate(bytes + 1, &block));
    EXPECT_GE(block.behind, kLeastCanary);
    arena.Free(block);
  }
}

std::string NameOf(const testing::TestParamInfo<ArenaOptions>& info) {
  return std::string(info.param.host_access ? "HostAccess" : "Apart") +
         (info.param.guard_pages ? "Guarded" : "Shared") +
         (info.param.canaries ? "WithCanaries" : "") + (info.param.at_pages ? "AtPages" : "");
}

std::vector<ArenaOptions> Options() {
  std::vector<ArenaOptions> options;
  for (const bool host_access : {false, true}) {
    for (const bool guard_pages : {false, true}) {
      for (const bool at_pages : {false, true}) {
        ArenaOptions each = {
            .host_access = host_access, .guard_pages = guard_pages, .at_pages = at_pages};
        options.push_back(each);
        each.canaries = true;
        if (kHaveCanaries) options.push_back(each);
      }
    }
  }
  return options;
}

INSTANTIATE_TEST_SUITE_P(Options, ArenaTest, testing::ValuesIn(Options()), NameOf);

}  // namespace
}  // namespace openaclnn
