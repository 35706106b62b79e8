// SPDX-License-Identifier: Apache-2.0
// Race detector: finds tasks that touch the same bytes without an order between them, one writing.
//
// touch   a task's access to one operand
// cell    a range of bytes that the same tasks have touched since the last write
// shadow  all cells, by address
// point   a place in a stream, with a vector clock: all that comes before it
// gate    a host function that a stream waits for; it is open until the function returns
// gated   a touch behind an open gate. The host function may wait for anything, so such a touch may
//         be ordered in a way that nobody sees here. It is not reported while the gate is open.
// settled a touch with no open gate before it
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "ascendcl/watch/vector_clock.h"
#include "common/byte_runs.h"

namespace openaclnn {

/// Whether the call depends on the operand's old contents. kMaybe: unknown. kSurely: yes. kMoves:
/// it only copies them, so unwritten bytes are passed on.
enum class Reading { kMaybe, kSurely, kMoves };

/// A call's access to one of its operands. The names are strings that stay.
struct MemoryAccess {
  const char* operand;
  bool writes;
  std::vector<ByteRange> runs;  // empty if there are too many
  ByteRange span = {0, 0};      // from the first run to the last, even if `runs` is empty
  Reading reading = Reading::kMaybe;
};

/// The author of a call: a task of a stream, or the host itself.
struct Caller {
  const char* call;
  StreamNumber stream = 0;       // 0 is the host
  const void* handle = nullptr;  // the stream's; null is the default stream
  bool frees = false;            // it frees the memory that it writes
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

/// Decides by the order of the program's calls, not by when tasks run. Every launch comes after all
/// that any host thread has waited for, because host threads may signal each other in ways that the
/// libraries cannot see. Not safe for concurrent use; its owner locks.
class RaceDetector {
 public:
  /// A point of a stream, by all that comes before it.
  struct Point {
    VectorClock clock;
    std::vector<uint64_t> gates;  // for each stream, its newest gate that was open at this point
  };

  /// Launches a task. Returns its races, at most one for each earlier task.
  std::vector<Race> Launch(const Caller& caller, std::span<const MemoryAccess> accesses);
  /// Records that the host itself touches memory, in a call that ends before the next one.
  std::vector<Race> TouchByHost(const Caller& caller, std::span<const MemoryAccess> accesses);

  /// The current point of the stream. An event's record keeps it.
  Point Mark(StreamNumber stream);
  /// Orders later launches on the stream after the point.
  void Await(StreamNumber stream, const Point& point);
  /// The point that comes after both.
  Point Joined(const Point& a, const Point& b) const;
  /// Records that the host has waited for the point, or has seen that it was reached.
  void PassHost(const Point& point);

  /// Launches a host function for which the stream waits, and returns its gate.
  uint64_t OpenGate(StreamNumber stream);
  void CloseGate(uint64_t gate) { open_gates_.erase(gate); }
  bool AnyGate() const { return !open_gates_.empty(); }

  /// Removes a stream whose work is done.
  void End(StreamNumber stream);
  /// Forgets all touches of the bytes, which are new memory from now on.
  void Forget(const ByteRange& bytes);
  void ForgetAll() { cells_.clear(); }

  /// The number of cells.
  size_t size() const { return cells_.size(); }

 private:
  struct Touch {
    Caller caller;
    uint64_t tick;  // the task's place in its stream, from 1
    const char* operand;
    bool writes;
    std::vector<uint64_t> gates;
  };
  using TouchPointer = std::shared_ptr<const Touch>;

  struct Cell {
    uint64_t end;
    TouchPointer write;
    std::vector<TouchPointer> reads;  // since `write`; without those that come before another one
    std::vector<TouchPointer> gated;  // gated writes since `write`
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
  VectorClock host_;                             // all that the host has waited for
  std::map<uint64_t, StreamNumber> open_gates_;  // with their streams
  uint64_t last_gate_ = 0;
  Cells cells_;
  size_t prune_at_ = kFewCells;
};

}  // namespace openaclnn
