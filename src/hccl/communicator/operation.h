// SPDX-License-Identifier: Apache-2.0
// Operation: one rank's part of a collective or of some messages, as a task of a stream.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ascendcl/interface.h"
#include "client/check.h"
#include "common/status.h"
#include "hccl/communicator/communicator.h"
#include "hccl/communicator/held_stream.h"
#include "hccl/engine/engine.h"
#include "hccl/plan/plan.h"

namespace openaclnn {

/// The use that an operation makes of a range of its program's memory.
enum class RangeUse { kSends, kReceives };

/// Device memory that an operation holds until its last message is done.
class PinnedRanges {
 public:
  PinnedRanges() = default;
  PinnedRanges(PinnedRanges&& other) noexcept = default;
  ~PinnedRanges();

  /// Where the process reads and writes `bytes` at a device's address.
  Status Add(RangeUse use, const char* operand, const void* address, uint64_t bytes,
             std::byte** host);
  void Append(PinnedRanges other) {
    ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
    other.ranges_.clear();
  }
  /// Adds what the operation does with each, for the checker of races.
  void Tell(std::vector<OpenaclnnAccess>* accesses) const;

 private:
  struct Range {
    OpenaclnnPin pin;
    RangeUse use;
    const char* operand;
    const void* address;  // the device's
  };
  std::vector<Range> ranges_;
};

/// Runs step by step, chains side by side: begins messages, then lets its stream stand still,
/// without a thread, until they are done and Done wakes it. What it has sent from its own memory
/// may still be on its way when it ends.
class Operation final : public Pending,
                        public TransferOwner,
                        public std::enable_shared_from_this<Operation> {
 public:
  /// `name` is that of the API.
  Operation(std::shared_ptr<Communicator> communicator, const char* name, Plan plan,
            PinnedRanges pins, std::shared_ptr<HeldStream> stream);
  Operation(const Operation&) = delete;
  ~Operation() override;

  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }

  /// Hands it to its stream.
  Status Submit() { return SubmitAll({shared_from_this()}); }
  /// Submits operations of one stream that go on side by side, as one task of it.
  static Status SubmitAll(const std::vector<std::shared_ptr<Operation>>& operations);

  void Done(Transfer& transfer, const Status& status) override;

  void Fail(Status status) override;
  bool failed() const override { return failed_.load(std::memory_order_acquire); }
  bool Needs(uint32_t peer) const override;
  bool quiet() const override { return under_way_.load(std::memory_order_acquire) == 0; }
  std::optional<Clock::time_point> deadline() const override { return deadline_; }
  Status TimeoutError() const override;
  std::shared_ptr<HeldStream> stream() const override { return stream_; }

 private:
  /// A task of a stream.
  struct Together {
    struct Part {
      std::shared_ptr<Operation> operation;
      bool done = false;
    };
    std::vector<Part> parts;
    std::string arguments;
    int code = 0;  // of the first that has failed, and its words
    OpenaclnnMessage failure;

    int Run(OpenaclnnMessage* message);
    /// Those that are not done; whether one has lost a rank.
    bool RunParts();
  };
  struct Progress;
  struct Message : Transfer {
    Progress* progress = nullptr;  // of its step
    bool own = false;
    bool awaited() const { return receives || !own; }
    std::atomic<bool> begun{false};
    std::atomic<bool> done{false};
  };
  /// The progress of one step. Its messages are [first, end) of messages_, those of `ahead` first.
  struct Progress {
    std::atomic<uint32_t> left{0};  // messages that are awaited and not done
    size_t first = 0;
    size_t ahead_end = 0;
    size_t end = 0;
  };
  /// A chain of the plan: its current step, and the end of its steps.
  struct RunningChain {
    const Step *step, *end;
    Progress* progress;  // of the current step; those of the next ones follow it
    bool arrived = false;

    bool has_next() const { return step + 1 != end; }
    bool HasArrived() const { return progress->left.load(std::memory_order_acquire) == 0; }
  };

  /// The accesses of operations to the program's memory.
  static Accesses AccessesOf(const std::vector<std::shared_ptr<Operation>>& operations) noexcept;
  /// Whether a message to or from the peer is under way.
  bool WaitsFor(uint32_t peer) const;
  int Run(OpenaclnnMessage* message);
  int Advance(OpenaclnnMessage* message);
  int End(OpenaclnnMessage* message);
  /// Adds the messages of a chain's step from `place` on. Returns the place after them.
  size_t AddMessages(const std::vector<Move>& moves, uint32_t step, size_t place,
                     Progress* progress);
  void BeginAll();
  void Begin(size_t first, size_t end);
  bool SomeArrive() const;
  bool SomeArriveSoon() const;
  /// Finishes the steps whose messages have arrived. All work comes first, so a difference between
  /// calls is found before more messages start.
  void FinishSteps();
  void Work(const RunningChain& chain);
  void BeginNext(const RunningChain& chain);
  /// Hands the messages over to the progress thread, and takes them back.
  void HandOver();
  void TakeBack();
  void CancelMessages();
  /// Whether ranks that have not failed may wait for this one.
  bool OthersWait(const Status& failure) const;
  /// Whether a message that cannot be cancelled may still reach the program's memory, or come from
  /// it.
  bool Lingers() const;

  const std::shared_ptr<Communicator> communicator_;
  const char* const name_;
  Plan plan_;
  PinnedRanges pins_;
  const std::shared_ptr<HeldStream> stream_;
  std::vector<Message> messages_;
  std::vector<Progress> progress_;  // of each step, chain by chain

  std::vector<RunningChain> chains_;  // that still have steps
  bool begun_ = false;
  bool handed_over_ = false;
  std::optional<Clock::time_point> deadline_;
  std::atomic<uint32_t> under_way_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;  // guards what follows
  Status failure_;
};

}  // namespace openaclnn
