// SPDX-License-Identifier: Apache-2.0
// Race detector against the definition: random programs, every byte and every pair of tasks.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>

#include "ascendcl/watch/race.h"

namespace openaclnn {
namespace {

constexpr uint64_t kStreams = 3;
constexpr uint64_t kBytes = 24;

/// All that was launched, and for each task which of the earlier ones come before it.
class Oracle {
 public:
  struct Point {
    std::vector<bool> past;    // by task
    std::set<uint64_t> gates;  // functions of the host before it
  };

  Point Mark(StreamNumber stream) {
    Point point = streams_[stream];
    Join(host_, &point);
    return point;
  }
  void Await(StreamNumber stream, const Point& point) { Join(point, &streams_[stream]); }
  void PassHost(const Point& point) { Join(point, &host_); }
  void OpenGate(StreamNumber stream, uint64_t gate) {
    streams_[stream].gates.insert(gate);
    open_.insert(gate);
  }
  void CloseGate(uint64_t gate) { open_.erase(gate); }
  /// Behind a function that has not returned.
  bool Waits(const Point& point) const {
    return std::any_of(point.gates.begin(), point.gates.end(),
                       [this](uint64_t gate) { return open_.contains(gate); });
  }

  /// Whether the new task races with any earlier one, and neither waits for the host.
  bool Launch(StreamNumber stream, bool writes, const ByteRange& bytes) {
    Point& point = streams_[stream];
    Join(host_, &point);
    point.past.resize(tasks_.size());
    bool races = false;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const Task& task = tasks_[i];
      const bool shared = task.bytes.begin < bytes.end && bytes.begin < task.bytes.end;
      const bool said = !Waits(point) && !Waits(task.point);
      races |= shared && said && (writes || task.writes) && !point.past[i];
    }
    tasks_.push_back({writes, bytes, point});
    point.past.push_back(true);
    return races;
  }

 private:
  struct Task {
    bool writes;
    ByteRange bytes;
    Point point;
  };

  static void Join(const Point& from, Point* to) {
    if (to->past.size() < from.past.size()) to->past.resize(from.past.size());
    for (size_t i = 0; i < from.past.size(); ++i) {
      if (from.past[i]) to->past[i] = true;
    }
    to->gates.insert(from.gates.begin(), from.gates.end());
  }

  std::vector<Task> tasks_;
  std::set<uint64_t> open_;
  Point streams_[kStreams + 1], host_;
};

// Until the first race: behind it the detector remembers only the later of the two.
TEST(RaceOracleTest, FindsTheFirstRaceAndNoOther) {
  int racy = 0, clean = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](uint64_t count) { return random() % count; };
    RaceDetector detector;
    Oracle oracle;
    std::deque<uint64_t> open[kStreams + 1];  // functions of the host, by stream
    bool race = false;
    for (int step = 0; step < 40 && !race; ++step) {
      const StreamNumber stream = 1 + draw(kStreams), other = 1 + draw(kStreams);
      const uint64_t deed = draw(12);
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
      } else if (deed == 9) {
        if (oracle.Waits(oracle.Mark(stream))) continue;  // so does the host
        detector.PassHost(detector.Mark(stream));
        oracle.PassHost(oracle.Mark(stream));
      } else if (deed == 10 && seed % 2 == 1) {
        open[stream].push_back(detector.OpenGate(stream));
        oracle.OpenGate(stream, open[stream].back());
      } else if (!open[stream].empty()) {
        detector.CloseGate(open[stream].front());
        oracle.CloseGate(open[stream].front());
        open[stream].pop_front();
      }
    }
    ++(race ? racy : clean);
  }
  EXPECT_GT(racy, 200);
  EXPECT_GT(clean, 200);
}

}  // namespace
}  // namespace openaclnn
