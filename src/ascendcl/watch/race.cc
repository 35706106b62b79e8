// SPDX-License-Identifier: Apache-2.0
// Race detector: clocks of streams, and a shadow of the last tasks that touched each byte.
#include "ascendcl/watch/race.h"

#include <algorithm>
#include <iterator>

namespace openaclnn {

// Points outlive streams and gates: what has ended does not come back with them.
void RaceDetector::Join(VectorClock* clock, const VectorClock& other) const {
  clock->Join(other, [this](StreamNumber stream) { return streams_.contains(stream); });
}

void RaceDetector::Join(Point* point, const Point& other) const {
  Join(&point->clock, other.clock);
  DropClosed(&point->gates);
  for (const uint64_t gate : other.gates) PassGate(gate, &point->gates);
}

// A stream's functions return one after the other: whoever waits for its last waits for all.
void RaceDetector::PassGate(uint64_t gate, std::vector<uint64_t>* gates) const {
  const auto open = open_gates_.find(gate);
  if (open == open_gates_.end()) return;
  const auto known = std::find_if(gates->begin(), gates->end(), [&](uint64_t other) {
    const auto of_other = open_gates_.find(other);
    return of_other != open_gates_.end() && of_other->second == open->second;
  });
  known != gates->end() ? void(*known = std::max(*known, gate)) : gates->push_back(gate);
}

RaceDetector::Point RaceDetector::Joined(const Point& a, const Point& b) const {
  Point joined;
  Join(&joined, a);
  Join(&joined, b);
  return joined;
}

bool RaceDetector::AnyOpen(const std::vector<uint64_t>& gates) const {
  return std::any_of(gates.begin(), gates.end(),
                     [this](uint64_t gate) { return open_gates_.contains(gate); });
}

void RaceDetector::DropClosed(std::vector<uint64_t>* gates) const {
  std::erase_if(*gates, [this](uint64_t gate) { return !open_gates_.contains(gate); });
}

// All that a stream did comes before its end, and the host waits for that.
bool RaceDetector::Before(const Touch& touch, const VectorClock& clock) const {
  return clock.At(touch.caller.stream) >= touch.tick || !streams_.contains(touch.caller.stream);
}

std::vector<Race> RaceDetector::Launch(const Caller& caller,
                                       std::span<const MemoryAccess> accesses) {
  Point& point = streams_[caller.stream];
  const uint64_t tick = point.clock.At(caller.stream) + 1;
  Join(&point.clock, host_);
  point.clock.Raise(caller.stream, tick);
  DropClosed(&point.gates);
  std::vector<Race> races;
  for (const MemoryAccess& access : accesses) {
    const auto touch = std::make_shared<const Touch>(
        Touch{caller, tick, access.operand, access.writes, point.gates});
    for (const ByteRange& run : access.runs) Apply(run, touch, point, &races);
  }
  if (cells_.size() > prune_at_) Prune();
  return races;
}

// The host's accesses end before any later call, so that they need not be kept.
std::vector<Race> RaceDetector::TouchByHost(const Caller& caller,
                                            std::span<const MemoryAccess> accesses) {
  const Point point = {host_, {}};
  std::vector<Race> races;
  for (const MemoryAccess& access : accesses) {
    const Touch touch = {caller, 0, access.operand, access.writes, {}};
    for (const ByteRange& run : access.runs) {
      auto cell = cells_.upper_bound(run.begin);
      if (cell != cells_.begin() && std::prev(cell)->second.end > run.begin) --cell;
      for (; cell != cells_.end() && cell->first < run.end; ++cell) {
        const ByteRange shared = {std::max(run.begin, cell->first),
                                  std::min(run.end, cell->second.end)};
        Compare(shared, cell->second, touch, point, &races);
      }
      if (access.writes) Forget(run);
    }
  }
  return races;
}

RaceDetector::Point RaceDetector::Mark(StreamNumber stream) {
  Point& point = streams_[stream];
  Join(&point.clock, host_);
  DropClosed(&point.gates);
  return point;
}

void RaceDetector::Await(StreamNumber stream, const Point& point) {
  Join(&streams_[stream], point);
}

void RaceDetector::PassHost(const Point& point) { Join(&host_, point.clock); }

uint64_t RaceDetector::OpenGate(StreamNumber stream) {
  std::vector<uint64_t>& gates = streams_[stream].gates;
  DropClosed(&gates);
  open_gates_.emplace(++last_gate_, stream);
  PassGate(last_gate_, &gates);
  return last_gate_;
}

void RaceDetector::End(StreamNumber stream) {
  const auto ended = streams_.find(stream);
  if (ended == streams_.end()) return;
  Join(&host_, ended->second.clock);
  streams_.erase(ended);
  host_.Forget(stream);
  for (auto& [number, point] : streams_) point.clock.Forget(stream);
}

void RaceDetector::Forget(const ByteRange& bytes) {
  if (cells_.empty()) return;
  Split(bytes.begin);
  Split(bytes.end);
  cells_.erase(cells_.lower_bound(bytes.begin), cells_.lower_bound(bytes.end));
}

// Makes the address a border between cells, if it lies inside one.
void RaceDetector::Split(uint64_t address) {
  const auto next = cells_.lower_bound(address);
  if (next == cells_.begin()) return;
  Cell& cell = std::prev(next)->second;
  if (cell.end <= address) return;
  cells_.emplace_hint(next, address, cell);
  cell.end = address;
}

void RaceDetector::Apply(const ByteRange& run, const TouchPointer& touch, const Point& point,
                         std::vector<Race>* races) {
  Split(run.begin);
  Split(run.end);
  auto cell = cells_.lower_bound(run.begin);
  for (uint64_t at = run.begin; at < run.end; at = cell->second.end, ++cell) {
    if (cell == cells_.end() || cell->first > at) {  // nobody has touched what comes next
      const uint64_t end = cell == cells_.end() ? run.end : std::min(run.end, cell->first);
      cell = cells_.emplace_hint(cell, at, Cell{end, nullptr, {}, {}});
    } else {
      Compare({at, cell->second.end}, cell->second, *touch, point, races);
    }
    Enter(touch, point.clock, &cell->second);
  }
  Merge(run);
}

void RaceDetector::Compare(const ByteRange& bytes, const Cell& cell, const Touch& touch,
                           const Point& point, std::vector<Race>* races) const {
  if (!touch.gates.empty()) return;
  const auto compare = [&](const Touch& earlier) {
    if (Before(earlier, point.clock) || AnyOpen(earlier.gates)) return;
    const auto known = std::find_if(races->begin(), races->end(), [&](const Race& race) {
      return race.first.caller.stream == earlier.caller.stream && race.tick == earlier.tick;
    });
    if (known == races->end()) {
      races->push_back({{earlier.caller, earlier.operand, earlier.writes},
                        {touch.caller, touch.operand, touch.writes},
                        bytes,
                        earlier.tick});
    } else if (known->first.operand == earlier.operand && known->second.operand == touch.operand) {
      known->bytes.begin = std::min(known->bytes.begin, bytes.begin);
      known->bytes.end = std::max(known->bytes.end, bytes.end);
    }
  };
  if (cell.write != nullptr) compare(*cell.write);
  for (const TouchPointer& write : cell.gated) compare(*write);
  if (!touch.writes) return;
  for (const TouchPointer& read : cell.reads) compare(*read);
}

// A settled touch replaces earlier ones that come before it: a task that is ordered after the new
// touch is ordered after these too.
void RaceDetector::Enter(const TouchPointer& touch, const VectorClock& clock, Cell* cell) const {
  if (!touch->gates.empty()) return EnterGated(touch, touch->writes ? &cell->gated : &cell->reads);
  if (touch->writes) {
    const auto settled = [this](const TouchPointer& other) { return !AnyOpen(other->gates); };
    cell->write = touch;
    std::erase_if(cell->reads, settled);
    std::erase_if(cell->gated, settled);
    return;
  }
  std::erase_if(cell->reads, [&](const TouchPointer& read) { return Before(*read, clock); });
  cell->reads.push_back(touch);
}

// A gated touch is not reported, so it cannot replace an older one. Per stream we keep two: the
// newest settled touch and the newest touch.
void RaceDetector::EnterGated(const TouchPointer& touch, std::vector<TouchPointer>* touches) const {
  bool has_settled = false;
  for (auto each = touches->end(); each != touches->begin();) {
    --each;
    if ((*each)->caller.stream != touch->caller.stream) continue;
    if (has_settled || AnyOpen((*each)->gates)) {
      each = touches->erase(each);
    } else {
      has_settled = true;
    }
  }
  touches->push_back(touch);
}

// Joins neighbouring cells, in the run and at its borders, that have become equal.
void RaceDetector::Merge(const ByteRange& run) {
  auto cell = cells_.lower_bound(run.begin);
  if (cell != cells_.begin()) --cell;
  while (cell != cells_.end() && cell->first < run.end) {
    const auto next = std::next(cell);
    if (next == cells_.end()) return;
    Cell& left = cell->second;
    const Cell& right = next->second;
    if (left.end == next->first && left.write == right.write && left.reads == right.reads &&
        left.gated == right.gated) {
      left.end = right.end;
      cells_.erase(next);
    } else {
      cell = next;
    }
  }
}

// Removes touches that the host has waited for. Every launch comes after these, so they race with
// no later task.
void RaceDetector::Prune() {
  const auto settled = [this](const TouchPointer& touch) { return Before(*touch, host_); };
  for (auto next = cells_.begin(); next != cells_.end();) {
    const auto entry = next++;
    Cell& cell = entry->second;
    if (cell.write != nullptr && settled(cell.write)) cell.write = nullptr;
    std::erase_if(cell.reads, settled);
    std::erase_if(cell.gated, settled);
    const bool touched = cell.write != nullptr || !cell.reads.empty() || !cell.gated.empty();
    if (!touched) cells_.erase(entry);
  }
  // A program that never waits is not followed any further back than memory allows.
  if (cells_.size() > kMaxCells / 2) cells_.clear();
  prune_at_ = std::max(kFewCells, 2 * cells_.size());
}

}  // namespace openaclnn
