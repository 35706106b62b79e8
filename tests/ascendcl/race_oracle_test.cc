// SPDX-License-Identifier: Apache-2.0
// Race detector against the definition: random programs, every byte and every pair of tasks.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ascendcl/check/race.h"

namespace openaclnn {
namespace {

constexpr uint64_t kStreams = 3;
constexpr uint64_t kBytes = 24;

/// All that was launched, and for each task which of the earlier ones come before it.
class Oracle {
 public:
  using Past = std::vector<bool>;  // by task

  struct Task {
    StreamNumber stream;
    bool writes;
    ByteRange bytes;
    Past past;
  };

  Past Mark(StreamNumber stream) {
    Past past = streams_[stream];
    Join(host_, &past);
    return past;
  }
  void Await(StreamNumber stream, const Past& past) { Join(past, &streams_[stream]); }
  void PassHost(const Past& past) { Join(past, &host_); }

  /// Whether the new task races with any earlier one.
  bool Launch(StreamNumber stream, bool writes, const ByteRange& bytes) {
    Past& past = streams_[stream];
    Join(host_, &past);
    past.resize(tasks_.size());
    bool races = false;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const bool shared = tasks_[i].bytes.begin < bytes.end && bytes.begin < tasks_[i].bytes.end;
      races |= shared && (writes || tasks_[i].writes) && !past[i];
    }
    tasks_.push_back({stream, writes, bytes, past});
    past.push_back(true);
    return races;
  }

 private:
  static void Join(const Past& from, Past* to) {
    if (to->size() < from.size()) to->resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) {
      if (from[i]) (*to)[i] = true;
    }
  }

  std::vector<Task> tasks_;
  Past streams_[kStreams + 1], host_;
};

// Until the first race: behind it the detector remembers only the later of the two.
TEST(RaceOracleTest, FindsTheFirstRaceAndNoOther) {
  int racy = 0, clean = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](uint64_t count) { return random() % count; };
    RaceDetector detector;
    Oracle oracle;
    bool race = false;
    for (int step = 0; step < 40 && !race; ++step) {
      const StreamNumber stream = 1 + draw(kStreams), other = 1 + draw(kStreams);
      const uint64_t deed = draw(10);
      if (deed < 3) {
        const bool writes = draw(3) == 0;
        const uint64_t begin = draw(kBytes);
        const ByteRange bytes = {begin, std::min(kBytes, begin + 1 + draw(6))};
        const MemoryAccess access = {"self", writes, {bytes}};
        race = oracle.Launch(stream, writes, bytes);
        ASSERT_EQ(!detector.Launch({"aclnnAdd", stream}, {&access, 1}).empty(), race)
            << "seed " << seed << ", step " << step;
      } else if (deed < 9) {
        detector.Await(stream, detector.Mark(other));
        oracle.Await(stream, oracle.Mark(other));
      } else {
        detector.PassHost(detector.Mark(stream));
        oracle.PassHost(oracle.Mark(stream));
      }
    }
    ++(race ? racy : clean);
  }
  EXPECT_GT(racy, 200);
  EXPECT_GT(clean, 200);
}

}  // namespace
}  // namespace openaclnn
