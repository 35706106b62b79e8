// SPDX-License-Identifier: Apache-2.0
// Unwritten bytes against a byte each.
#include "ascendcl/watch/unwritten.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace openaclnn {
namespace {

enum class Byte { kUnknown, kUnwritten, kWritten };

/// A byte each, of which the first is at 100.
struct Model {
  static constexpr uint64_t kBytes = 60, kFirst = 100;

  void Fill(const ByteRange& range, Byte state) {
    std::fill_n(bytes.begin() + At(range.begin), range.end - range.begin, state);
  }
  bool All(const ByteRange& range, bool (*holds)(Byte)) const {
    return std::all_of(bytes.begin() + At(range.begin), bytes.begin() + At(range.end), holds);
  }
  static std::ptrdiff_t At(uint64_t address) {
    return static_cast<std::ptrdiff_t>(address - kFirst);
  }
  std::array<Byte, kBytes> bytes = {};
};

TEST(UnwrittenTest, AgreesWithAByteEach) {
  std::mt19937 random(1);
  const auto number = [&](uint64_t below) { return random() % below; };
  for (int round = 0; round < 200; ++round) {
    UnwrittenBytes ranges;
    Model model;
    for (int step = 0; step < 60; ++step) {
      const uint64_t begin = Model::kFirst + number(Model::kBytes);
      const ByteRange range = {begin, begin + number(Model::kFirst + Model::kBytes - begin) + 1};
      switch (number(4)) {
        case 0:
          ranges.Allocate(range);
          model.Fill(range, Byte::kUnwritten);
          break;
        case 1:
          ranges.Free(range);
          model.Fill(range, Byte::kUnknown);
          break;
        case 2:
          ranges.Write(range);
          if (model.All(range, [](Byte byte) { return byte != Byte::kUnknown; })) {
            model.Fill(range, Byte::kWritten);
          } else {
            for (uint64_t at = range.begin; at < range.end; ++at) {
              Byte& byte = model.bytes[static_cast<size_t>(Model::At(at))];
              if (byte == Byte::kUnwritten) byte = Byte::kWritten;
            }
          }
          break;
        default:
          ranges.Spoil(range);
          if (model.All(range, [](Byte byte) { return byte != Byte::kUnknown; })) {
            model.Fill(range, Byte::kUnwritten);
          }
      }
      const uint64_t from = Model::kFirst + number(Model::kBytes);
      const ByteRange asked = {from, from + number(Model::kFirst + Model::kBytes - from) + 1};
      ASSERT_EQ(ranges.Contains(asked),
                model.All(asked, [](Byte byte) { return byte == Byte::kUnwritten; }))
          << "round " << round << ", step " << step;
    }
  }
}

TEST(UnwrittenTest, NothingIsKnownOfOtherMemory) {
  UnwrittenBytes ranges;
  ranges.Spoil({10, 20});
  EXPECT_FALSE(ranges.Contains({10, 20}));
  ranges.Allocate({10, 20});
  EXPECT_TRUE(ranges.Contains({10, 20}));
  EXPECT_FALSE(ranges.Contains({10, 21}));
  EXPECT_FALSE(ranges.Contains({12, 12})) << "no byte";
  ranges.ForgetAll();
  EXPECT_FALSE(ranges.Contains({10, 20}));
  ranges.Spoil({10, 20});
  EXPECT_FALSE(ranges.Contains({10, 20})) << "nor that it was ever allocated";
  EXPECT_EQ(ranges.size(), 0U);
}

TEST(UnwrittenTest, NoPieceIsEmpty) {
  UnwrittenBytes ranges;
  ranges.Allocate({10, 20});
  ranges.Spoil({15, 15});
  EXPECT_EQ(ranges.size(), 1U);
  ranges.Write({15, 20});
  EXPECT_EQ(ranges.size(), 1U) << "what is left ends where the write begins";
  ranges.Write({10, 15});
  ranges.Spoil({12, 12});
  EXPECT_EQ(ranges.size(), 0U);
}

TEST(UnwrittenTest, TooManyPiecesAreForgotten) {
  UnwrittenBytes ranges;
  const uint64_t end = 4 * UnwrittenBytes::kMaxRanges;
  ranges.Allocate({0, end});
  size_t most = 0;
  for (uint64_t at = 1; at < end && ranges.size() > 0; at += 2) {
    ranges.Write({at, at + 1});
    most = std::max(most, ranges.size());
  }
  EXPECT_FALSE(ranges.Contains({end - 2, end - 1}));
  EXPECT_EQ(most, UnwrittenBytes::kMaxRanges);
}

TEST(UnwrittenTest, TooManySpoiltPiecesAreForgottenToo) {
  UnwrittenBytes ranges;
  const uint64_t end = 4 * UnwrittenBytes::kMaxRanges;
  ranges.Allocate({0, end});
  ranges.Write({0, end});
  size_t most = 0;
  for (uint64_t at = 1; at < end; at += 2) {
    ranges.Spoil({at, at + 1});
    most = std::max(most, ranges.size());
  }
  EXPECT_FALSE(ranges.Contains({end - 1, end}));
  EXPECT_EQ(most, UnwrittenBytes::kMaxRanges);
}

}  // namespace
}  // namespace openaclnn
