// SPDX-License-Identifier: Apache-2.0
// Race detector: which tasks touch the same bytes, one writing, with no order between them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "ascendcl/watch/vector_clock.h"
#include "common/byte_runs.h"

namespace openaclnn {

/// Whether what an operand holds before a call matters to it: perhaps; it does; only as far as what
/// the call writes is to hold the same.
enum class Reading { kMaybe, kSurely, kMoves };

/// A call's access to one of its operands. The names are strings that stay.
struct MemoryAccess {
  const char* operand;
  bool writes;
  std::vector<ByteRange> runs;  // none where they are too many to know
  ByteRange span = {0, 0};      // from the first run to the last, also where there are none
  Reading reading = Reading::kMaybe;
};

/// The author of a call: a task of a stream, or the host itself.
struct Caller {
  const char* call;
  StreamNumber stream = 0;       // 0 is the host
  const void* handle = nullptr;  // the stream's; null is the default stream
  bool frees = false;            // what it writes, so that nobody may touch it any more
};

/// Two calls, in the order in which the program made them.
struct Race {
  struct Party {
    Caller caller;
    const char* operand;
    bool writes;
  };
  Party first, second;
  ByteRange bytes;  // from the first to the last that both touch
  uint64_t tick;    // the first call's place in its stream, from 1
};

/// Decides by the order in which the program makes its calls, never by when tasks run. Every launch
/// comes after what the host has waited for, on whichever of its threads: they may have told each
/// other in ways that nobody sees here. Not safe for concurrent use; its owner locks.
class RaceDetector {
 public:
  /// A point of a stream, by all that comes before it.
  struct Point {
    VectorClock clock;
    std::vector<uint64_t> gates;  // of each stream the last function of the host before it that
                                  // had not returned
  };

  /// A task of the stream is launched. Returns its races with earlier ones, one for each.
  std::vector<Race> Launch(const Caller& caller, std::span<const MemoryAccess> accesses);
  /// The host itself touches memory, in a call that ends before the next one.
  std::vector<Race> TouchByHost(const Caller& caller, std::span<const MemoryAccess> accesses);

  /// Where the stream stands: what a record of an event keeps.
  Point Mark(StreamNumber stream);
  /// Orders later launches on the stream after the point.
  void Await(StreamNumber stream, const Point& point);
  /// The point that comes after both.
  Point Joined(const Point& a, const Point& b) const;
  /// The host has waited for the point, or seen that it was reached.
  void PassHost(const Point& point);

  /// A function of the host is launched for which the stream waits. Before it returns it may wait
  /// for anything; so nothing is said of the tasks behind it until then.
  uint64_t OpenGate(StreamNumber stream);
  void CloseGate(uint64_t gate) { open_gates_.erase(gate); }
  bool AnyGate() const { return !open_gates_.empty(); }

  /// The stream is gone, and its work done.
  void End(StreamNumber stream);
  /// The bytes are other memory from now on.
  void Forget(const ByteRange& bytes);
  void ForgetAll() { cells_.clear(); }

  /// Entries of the shadow.
  size_t size() const { return cells_.size(); }

 private:
  /// A task's access to one operand.
  struct Touch {
    Caller caller;
    uint64_t tick;  // the task's place in its stream, from 1
    const char* operand;
    bool writes;
    std::vector<uint64_t> gates;
  };
  using TouchPointer = std::shared_ptr<const Touch>;

  /// Bytes that have been touched by the same tasks since the last write.
  struct Cell {
    uint64_t end;
    TouchPointer write;
    std::vector<TouchPointer> reads;  // since then, without those that come before another
    std::vector<TouchPointer> gated;  // writes since then, behind functions that had not returned
  };
  using Cells = std::map<uint64_t, Cell>;  // by first address, disjoint

  static constexpr size_t kFewCells = 4096;
  static constexpr size_t kMaxCells = size_t{1} << 18;

  void Join(VectorClock* clock, const VectorClock& other) const;
  void Join(Point* point, const Point& other) const;
  bool Before(const Touch& touch, const VectorClock& clock) const;
  bool AnyOpen(const std::vector<uint64_t>& gates) const;
  void DropClosed(std::vector<uint64_t>* gates) const;
  void PassGate(uint64_t gate, std::vector<uint64_t>* gates) const;
  void Split(uint64_t address);
  void Apply(const ByteRange& run, const TouchPointer& touch, const Point& point,
             std::vector<Race>* races);
  void Compare(const ByteRange& bytes, const Cell& cell, const Touch& touch, const Point& point,
               std::vector<Race>* races) const;
  void Enter(const TouchPointer& touch, const VectorClock& clock, Cell* cell) const;
  void EnterGated(const TouchPointer& touch, std::vector<TouchPointer>* touches) const;
  void Merge(const ByteRange& run);
  void Prune();

  std::map<StreamNumber, Point> streams_;
  VectorClock host_;                             // what the host has waited for
  std::map<uint64_t, StreamNumber> open_gates_;  // whose they are
  uint64_t last_gate_ = 0;
  Cells cells_;
  size_t prune_at_ = kFewCells;
};

}  // namespace openaclnn
