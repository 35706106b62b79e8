// SPDX-License-Identifier: Apache-2.0
// Executor: what phase 1 of an operator decided, for phase 2 to run.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ascendcl/check/interface.h"
#include "common/handle_table.h"
#include "common/short_vector.h"
#include "common/status.h"
#include "common/view.h"
#include "nnopbase/interface.h"
#include "nnopbase/operand/operand.h"

namespace openaclnn {

/// The operator's frozen decision, shared by the executor and the tasks that run it.
class PlannedCall {
 public:
  explicit PlannedCall(const OpenaclnnCall& call)
      : api_(call.api), plan_(call.plan), destroy_(call.destroy), run_(call.run) {}
  PlannedCall(const PlannedCall&) = delete;
  ~PlannedCall() { destroy_(plan_); }

  const char* api() const { return api_; }
  int Run(void* const* data, void* workspace, OpenaclnnMessage* message) const {
    return run_(plan_, data, workspace, message);
  }

 private:
  const char* api_;
  void* plan_;
  void (*destroy_)(void*);
  int (*run_)(const void*, void* const*, void*, OpenaclnnMessage*);
};

class Executor {
 public:
  static constexpr Kind kKind = Kind::kExecutor;
  static constexpr const char* kNoun = "executor";
  static constexpr size_t kMaxOperands = OPENACLNN_MAX_OPERANDS;

  Executor(const OpenaclnnCall& call, std::shared_ptr<const PlannedCall> planned);
  Executor(const Executor&) = delete;

  /// Describes the call for a trace, as members of a JSON object.
  std::string Describe() const;

  Status MakeRepeatable();

  /// Sets the address of the operand at `index` among those of the role, or of all. The vendor's
  /// example counts the members of a list; shipped clients count a list as one argument. The
  /// operand is the one that is more like `tensor`, which phase 1 got.
  Status SetAddress(const OpenaclnnRole* role, size_t index, const OpenaclnnTensor& tensor,
                    void* address);

  /// Sets the address of a member of a list. `list` is the list's place among the arguments of the
  /// role, or of all arguments; a list counts as one.
  Status SetMemberAddress(const OpenaclnnRole* role, size_t list, size_t member, void* address);

  /// Phase 2. *spent: the executor has run and is not repeatable.
  Status Execute(const char* api, void* workspace, uint64_t workspace_size, void* stream,
                 bool* spent);

  /// The function that made the executor; null once it is spent.
  const char* LeftBy();

 private:
  enum class State { kPlanned, kQueued, kSpent };
  /// An operand, and the place of its argument: a list is one.
  struct Argument {
    BoundOperand* operand;
    size_t place;
  };
  struct QueuedCall;

  /// Calls see(Argument) for the operands of the role, or for all.
  template <class See>
  void EachArgument(const OpenaclnnRole* role, See&& see);
  Status CheckWorkspace(void* workspace, uint64_t workspace_size) const;
  Status Bind(void* workspace, QueuedCall* queued) const;
  std::vector<OpenaclnnUsed> UsedBytes(const QueuedCall& queued) const;
  Placement Place(const QueuedCall& queued, size_t index) const;
  Status CheckOverlap(const QueuedCall& queued) const;
  Status CheckWorkspaceOverlap(const QueuedCall& queued) const;

  std::mutex mutex_;  // guards what follows
  State state_ = State::kPlanned;
  bool repeatable_ = false;
  std::shared_ptr<const PlannedCall> call_;
  uint64_t workspace_size_;
  // An executor of a few operands is one piece of memory.
  ShortVector<BoundOperand, 4> operands_;
  ShortVector<int64_t, 24> numbers_;  // dimensions and strides of the operands
};

/// Finds the executor of a handle: null is `null_code`, a destroyed or spent one 561103, anything
/// else 561000.
Status FindExecutor(const aclOpExecutor* handle, int null_code, Pinned<Executor>* executor);

}  // namespace openaclnn
