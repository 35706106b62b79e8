// SPDX-License-Identifier: Apache-2.0
// Race detector: every kind of order is known, and whatever has none is found, once.
#include "ascendcl/watch/race.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace openaclnn {
namespace {

constexpr StreamNumber kFirst = 1, kSecond = 2, kThird = 3;

class RaceTest : public ::testing::Test {
 protected:
  using Races = std::vector<Race>;
  using Runs = std::vector<ByteRange>;

  Races Write(StreamNumber stream, const Runs& runs = {{0, 100}}) {
    return Launch("aclnnWrite", stream, {"out", true, runs});
  }
  Races Read(StreamNumber stream, const Runs& runs = {{0, 100}}) {
    return Launch("aclnnRead", stream, {"self", false, runs});
  }
  Races Launch(const char* call, StreamNumber stream, const MemoryAccess& access) {
    return detector.Launch({call, stream}, {&access, 1});
  }
  Races Host(bool writes, const Runs& runs = {{0, 100}}) {
    const MemoryAccess access = {"dst", writes, runs};
    return detector.TouchByHost({"aclrtMemcpy"}, {&access, 1});
  }

  RaceDetector detector;
};

TEST_F(RaceTest, OneStreamIsInOrder) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Write(kFirst).empty());
    EXPECT_TRUE(Read(kFirst, {{50, 150}}).empty());
  }
}

TEST_F(RaceTest, TwoStreamsAreNot) {
  Write(kFirst, {{0, 100}});
  const Races races = Read(kSecond, {{60, 160}});
  ASSERT_EQ(races.size(), 1U);
  EXPECT_STREQ(races[0].first.caller.call, "aclnnWrite");
  EXPECT_STREQ(races[0].first.operand, "out");
  EXPECT_TRUE(races[0].first.writes);
  EXPECT_EQ(races[0].first.caller.stream, kFirst);
  EXPECT_STREQ(races[0].second.caller.call, "aclnnRead");
  EXPECT_STREQ(races[0].second.operand, "self");
  EXPECT_FALSE(races[0].second.writes);
  EXPECT_EQ(races[0].second.caller.stream, kSecond);
  EXPECT_EQ(races[0].bytes, (ByteRange{60, 100}));
}

TEST_F(RaceTest, OtherBytesAreNoRace) {
  Write(kFirst, {{0, 100}});
  EXPECT_TRUE(Write(kSecond, {{100, 200}}).empty());
  EXPECT_TRUE(Write(kThird, {{200, 300}}).empty());
}

TEST_F(RaceTest, ReadersDoNotRace) {
  for (const StreamNumber stream : {kFirst, kSecond, kThird}) EXPECT_TRUE(Read(stream).empty());
  EXPECT_EQ(Write(kFirst).size(), 2U) << "with each of the others";
}

TEST_F(RaceTest, AnEventOrders) {
  Write(kFirst);
  detector.Await(kSecond, detector.Mark(kFirst));
  EXPECT_TRUE(Write(kSecond).empty());
  EXPECT_EQ(Read(kFirst).size(), 1U) << "the other way it does not";
}

TEST_F(RaceTest, AnEventOrdersWhatCameBeforeIt) {
  const RaceDetector::Point before = detector.Mark(kFirst);
  Write(kFirst);
  detector.Await(kSecond, before);
  EXPECT_EQ(Read(kSecond).size(), 1U);
  detector.Await(kThird, detector.Mark(kFirst));  // the event is recorded again
  EXPECT_TRUE(Read(kThird).empty());
}

TEST_F(RaceTest, EventsMakeChains) {
  Write(kFirst);
  detector.Await(kSecond, detector.Mark(kFirst));
  detector.Await(kThird, detector.Mark(kSecond));
  EXPECT_TRUE(Write(kThird).empty());
}

TEST_F(RaceTest, ReadersAreToBeAwaitedToo) {
  Write(kFirst);
  const RaceDetector::Point written = detector.Mark(kFirst);
  detector.Await(kSecond, written);
  Read(kSecond);
  detector.Await(kThird, written);
  EXPECT_EQ(Write(kThird).size(), 1U);
}

TEST_F(RaceTest, TheHostOrdersAllThatFollows) {
  Write(kFirst);
  detector.PassHost(detector.Mark(kFirst));
  EXPECT_TRUE(Write(kSecond).empty());
  EXPECT_EQ(Write(kThird).size(), 1U) << "what it has not waited for";
}

TEST_F(RaceTest, TheHostItselfTouchesMemory) {
  Write(kFirst);
  const Races races = Host(false, {{10, 20}});
  ASSERT_EQ(races.size(), 1U);
  EXPECT_EQ(races[0].second.caller.stream, 0U);
  EXPECT_EQ(races[0].bytes, (ByteRange{10, 20}));
  detector.PassHost(detector.Mark(kFirst));
  EXPECT_TRUE(Host(true).empty());
  EXPECT_TRUE(Write(kSecond).empty()) << "it has finished when the next call is made";
  EXPECT_TRUE(Host(false, {{100, 200}}).empty());
}

// Whoever comes later races with the host's write or with nothing.
TEST_F(RaceTest, AWriteOfTheHostIsTheLastOne) {
  Write(kFirst);
  EXPECT_EQ(Host(true, {{10, 20}}).size(), 1U);
  EXPECT_TRUE(Write(kSecond, {{10, 20}}).empty());
  EXPECT_EQ(Write(kSecond, {{20, 21}}).size(), 1U);
}

TEST_F(RaceTest, ThreadsOfTheHostDoNotOrderStreams) {
  // Whichever thread launches: nothing here knows of threads.
  Write(kFirst);
  detector.PassHost(detector.Mark(kThird));
  EXPECT_EQ(Write(kSecond).size(), 1U);
}

TEST_F(RaceTest, NewMemoryHasNoPast) {
  Write(kFirst, {{0, 300}});
  detector.Forget({100, 200});
  EXPECT_TRUE(Write(kSecond, {{100, 200}}).empty());
  EXPECT_EQ(Write(kSecond, {{0, 101}}).size(), 1U);
  EXPECT_EQ(Write(kSecond, {{199, 300}}).size(), 1U);
}

TEST_F(RaceTest, AStreamThatEndedIsInThePast) {
  Write(kFirst);
  detector.End(kFirst);
  EXPECT_TRUE(Write(kSecond).empty());
}

TEST_F(RaceTest, TheEndOfAStreamLeavesTheOrderOfOthers) {
  Write(kFirst);
  Write(kThird, {{100, 200}});
  detector.Await(kSecond, detector.Mark(kFirst));
  detector.End(kThird);
  EXPECT_TRUE(Write(kSecond).empty());
}

TEST_F(RaceTest, InterleavedColumnsDoNotRace) {
  const auto column = [](uint64_t first, int64_t width) {
    Runs runs;
    EXPECT_TRUE(FindByteRuns(first * 4, 4, std::vector<int64_t>{50, width},
                             std::vector<int64_t>{8, 1}, &runs));
    return runs;
  };
  Write(kFirst, column(0, 2));
  EXPECT_TRUE(Write(kSecond, column(2, 3)).empty());
  EXPECT_TRUE(Write(kThird, column(5, 3)).empty());
  const Races races = Read(kFirst, column(4, 1));
  ASSERT_EQ(races.size(), 1U) << "one for all rows";
  EXPECT_EQ(races[0].first.caller.stream, kSecond);
  EXPECT_EQ(races[0].bytes, (ByteRange{16, 49 * 32 + 20}));
}

TEST_F(RaceTest, ATaskDoesNotRaceWithItself) {
  const std::vector<MemoryAccess> in_place = {
      {"self", false, {{0, 100}}}, {"out", true, {{0, 100}}}, {"workspace", true, {{50, 60}}}};
  EXPECT_TRUE(detector.Launch({"aclnnAdd", kFirst}, in_place).empty());
  EXPECT_EQ(detector.Launch({"aclnnAdd", kSecond}, in_place).size(), 1U) << "one for a pair";
}

TEST_F(RaceTest, NothingIsSaidBehindAFunctionOfTheHost) {
  Write(kFirst);
  const uint64_t gate = detector.OpenGate(kSecond);
  EXPECT_TRUE(Read(kSecond).empty()) << "it may wait for the write";
  detector.Await(kThird, detector.Mark(kSecond));
  EXPECT_TRUE(Read(kThird).empty()) << "and what waits for it too";
  EXPECT_TRUE(Write(kFirst).empty()) << "the function may wait for this, too";
  EXPECT_TRUE(Read(kSecond, {{200, 300}}).empty());
  detector.CloseGate(gate);
  EXPECT_EQ(Write(kFirst, {{200, 300}}).size(), 1U) << "it has returned: too late for that";
  EXPECT_EQ(Read(kSecond).size(), 1U);
}

// An event outlives the streams that it was recorded on: their number must not slow every launch.
TEST_F(RaceTest, WhatHasEndedDoesNotComeBack) {
  Write(kFirst);
  const uint64_t gate = detector.OpenGate(kFirst);
  const RaceDetector::Point point = detector.Mark(kFirst);
  EXPECT_EQ(detector.Joined(point, point).clock.At(kFirst), 1U);
  EXPECT_EQ(detector.Joined(point, point).gates, std::vector<uint64_t>{gate});
  detector.CloseGate(gate);
  detector.End(kFirst);
  EXPECT_EQ(detector.Joined(point, point).clock.At(kFirst), 0U);
  EXPECT_TRUE(detector.Joined(point, point).gates.empty());
  detector.Await(kSecond, point);
  detector.PassHost(point);
  const RaceDetector::Point later = detector.Mark(kSecond);
  EXPECT_EQ(later.clock.At(kFirst), 0U);
  EXPECT_TRUE(later.gates.empty());
  EXPECT_TRUE(Write(kSecond).empty());
}

TEST_F(RaceTest, WhatTheHostHasNotWaitedForIsKept) {
  constexpr uint64_t kCells = 10'000;  // more than are looked through at once
  for (uint64_t i = 0; i < kCells; ++i) {
    i % 2 == 0 ? Write(kFirst, {{i * 8, i * 8 + 4}}) : Read(kFirst, {{i * 8, i * 8 + 4}});
  }
  for (uint64_t i = 0; i < kCells; ++i) {
    ASSERT_EQ(Write(kSecond, {{i * 8, i * 8 + 4}}).size(), 1U) << i;
  }
}

TEST_F(RaceTest, TheShadowOfReadsStaysSmall) {
  for (uint64_t i = 0; i < 100'000; ++i) {
    Read(kFirst, {{i * 8, i * 8 + 4}});
    if (i % 64 == 0) detector.PassHost(detector.Mark(kFirst));
    ASSERT_LT(detector.size(), 8192U);
  }
}

TEST_F(RaceTest, TheShadowStaysSmall) {
  Write(kFirst);
  Read(kFirst, {{40, 60}});
  EXPECT_EQ(detector.size(), 3U);
  Write(kFirst);
  EXPECT_EQ(detector.size(), 1U) << "neighbours that are the same again are joined";
  for (uint64_t i = 0; i < 100'000; ++i) {
    Write(kFirst, {{i * 8, i * 8 + 4}});
    if (i % 64 == 0) detector.PassHost(detector.Mark(kFirst));
    ASSERT_LT(detector.size(), 8192U);
  }
  for (uint64_t i = 0; i < 300'000; ++i) Write(kFirst, {{i * 8, i * 8 + 4}});
  EXPECT_LT(detector.size(), 280'000U) << "also when the host never waits";
}

}  // namespace
}  // namespace openaclnn
