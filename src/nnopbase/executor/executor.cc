// SPDX-License-Identifier: Apache-2.0
// Executor: the checks of phase 2 and the hand-over to the stream.
#include "nnopbase/executor/executor.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "ascendcl/message.h"
#include "ascendcl/report/trace.h"
#include "client/client.h"
#include "client/unpinned.h"
#include "common/view.h"
#include "nnopbase/executor/turn.h"
#include "nnopbase/handles.h"
#include "nnopbase/operand/access.h"
#include "nnopbase/operand/alignment.h"
#include "nnopbase/operand/description.h"
#include "nnopbase/operand/output_watch.h"

namespace openaclnn {

/// One run on its way through a stream: host addresses, and the pins that keep them valid.
struct Executor::QueuedCall {
  QueuedCall(std::shared_ptr<const PlannedCall> planned, size_t operands)
      : call(std::move(planned)), data(operands), names(operands), pins(operands + 1) {}
  QueuedCall(const QueuedCall&) = delete;
  ~QueuedCall() {
    for (size_t i = 0; i < num_pins; ++i) Runtime().unpin(&pins[i]);
  }

  // With OPENACLNN_CHECK=full, in the order of the stream: by what the last call left in its
  // workspace an operator must not be helped. NaN in every float type, and -1.
  void FillWorkspace() const {
    constexpr int kPattern = 0xFF;
    if (workspace != nullptr) std::memset(workspace, kPattern, pins[num_pins - 1].bytes);
  }

  static OpenaclnnUsed Used(const OpenaclnnPin& pin, bool writes) {
    const auto begin = reinterpret_cast<uintptr_t>(pin.host);
    return {begin, begin + pin.bytes, writes ? 1 : 0};
  }

  int Compute(OpenaclnnMessage* message) const {
    const int code = call->Run(data.data(), workspace, message);
    if (code == ACL_ERROR_RT_VECTOR_CORE_EXCEPTION) [[unlikely]]
      TellBadValue(code, message->text);
    return code;
  }

  void TellBadValue(int code, const char* words) const {
    const std::string_view text = words;
    Check().bad_value(call->api(), code, words, PinOf(text.substr(0, text.find(' '))));
  }

  /// The pin of the operand that is named, "indices", or of a member of a list, "indices[1]". Null
  /// where the name fits no operand or several: a report must not show another operand's memory.
  const OpenaclnnPin* PinOf(std::string_view subject) const {
    const std::string_view name = subject.substr(0, subject.find('['));
    const bool in_list = name.size() < subject.size();
    const auto* const first = std::find(names.begin(), names.end(), name);
    const auto count = static_cast<size_t>(std::count(first, names.end(), name));
    size_t member = 0;
    if (in_list) {
      const char* const digits = subject.data() + name.size() + 1;
      std::from_chars(digits, subject.data() + subject.size(), member);
    }
    if (member >= count || (count > 1 && !in_list)) return nullptr;
    void* const* const operand = data.begin() + (first - names.begin()) + member;
    if (*operand == nullptr) return nullptr;
    // Only operands with elements are pinned, in their order.
    return &pins[operand - data.begin() - std::count(data.begin(), operand, nullptr)];
  }

  int Run(OpenaclnnMessage* message) const {
    if (RacesAreWatched()) return RunWatched(message);
    if (workspace == nullptr) return Compute(message);
    const OpenaclnnPin& pin = pins[num_pins - 1];
    const OpenaclnnUsed used = Used(pin, true);
    const Turn turn(call->api(), {&used, 1});
    if (turn.met() != nullptr && WorkspacesAreWatched()) [[unlikely]] {
      Check().tell_shared_workspace(call->api(), turn.met(), device_workspace, pin.bytes);
    }
    return Compute(message);
  }

  // Two launches that nothing orders were told of; their tasks are kept apart, whatever they share.
  int RunWatched(OpenaclnnMessage* message) const {
    const Turn turn(call->api(), used);
    FillWorkspace();
    if (watch == nullptr) return Compute(message);
    watch->Begin();
    const int code = Compute(message);
    watch->End(call->api(), code);
    return code;
  }

  std::shared_ptr<const PlannedCall> call;
  ShortVector<void*, 6> data;         // null: without elements
  ShortVector<const char*, 6> names;  // the members of a list follow each other
  void* workspace = nullptr;
  const void* device_workspace = nullptr;  // as clients know it
  bool misaligned = false;                 // an operand or the workspace
  std::unique_ptr<OutputWatch> watch;      // with OPENACLNN_CHECK=full
  std::vector<OpenaclnnUsed> used;         // likewise: by operands and workspace
  ShortVector<OpenaclnnPin, 7> pins;
  size_t num_pins = 0;
  std::string arguments;  // for a trace
};

Executor::Executor(const OpenaclnnCall& call, std::shared_ptr<const PlannedCall> planned)
    : call_(std::move(planned)), workspace_size_(call.workspace_size) {
  size_t numbers = 0;
  for (uint32_t i = 0; i < call.operand_count; ++i) {
    if (call.operands[i].present != 0) numbers += 2 * size_t{call.operands[i].tensor.rank};
  }
  operands_.reserve(call.operand_count);
  numbers_.resize(numbers);
  int64_t* next = numbers_.data();
  for (uint32_t i = 0; i < call.operand_count; ++i) {
    operands_.push_back(BoundOperand(call.operands[i], &next));
  }
}

const char* Executor::LeftBy() {
  std::lock_guard lock(mutex_);
  return state_ == State::kSpent ? nullptr : call_->api();
}

Status Executor::MakeRepeatable() {
  std::lock_guard lock(mutex_);
  if (state_ == State::kSpent) {
    return Status(ACLNN_ERR_INNER_NULLPTR,
                  "executor state is spent, expected one that has not run");
  }
  repeatable_ = true;
  return {};
}

namespace {

/// How a tensor compares with the one that phase 1 got for an operand: another view, the same view
/// at another address, or the same view at its address. In ascending likeness.
enum class Likeness { kOther, kView, kSame };

Likeness LikenessOf(const BoundOperand& operand, const OpenaclnnTensor& tensor) {
  const OpenaclnnTensor& own = operand.tensor;
  if (!operand.present || own.dtype != tensor.dtype || own.rank != tensor.rank ||
      !std::equal(own.dims, own.dims + own.rank, tensor.dims) ||
      !std::equal(own.strides, own.strides + own.rank, tensor.strides)) {
    return Likeness::kOther;
  }
  return operand.planned_data == tensor.data ? Likeness::kSame : Likeness::kView;
}

}  // namespace

template <class See>
void Executor::EachArgument(const OpenaclnnRole* role, See&& see) {
  size_t arguments = 0;
  const BoundOperand* last = nullptr;
  for (BoundOperand& operand : operands_) {
    if (role != nullptr && operand.role != *role) continue;
    const bool goes_on = last != nullptr && operand.in_list && last->in_list &&
                         std::strcmp(operand.name, last->name) == 0;
    last = &operand;
    if (!goes_on) ++arguments;
    see(Argument{&operand, arguments - 1});
  }
}

Status Executor::SetAddress(const OpenaclnnRole* role, size_t index, const OpenaclnnTensor& tensor,
                            void* address) {
  std::lock_guard lock(mutex_);
  size_t count = 0;
  BoundOperand* by_operands = nullptr;   // `index` counts the members of lists
  BoundOperand* by_arguments = nullptr;  // `index` counts a list as one
  EachArgument(role, [&](const Argument& each) {
    if (count++ == index) by_operands = each.operand;
    if (each.place == index && !each.operand->in_list) by_arguments = each.operand;
  });
  if (by_operands == nullptr) {
    return Status(ACLNN_ERR_PARAM_INVALID,
                  Concat("index value is ", index, ", expected 0 <= index < ", count));
  }
  const bool lists_are_one = by_arguments != nullptr &&
                             LikenessOf(*by_arguments, tensor) > LikenessOf(*by_operands, tensor);
  BoundOperand& found = lists_are_one ? *by_arguments : *by_operands;
  if (!found.present) {
    return Status(ACLNN_ERR_PARAM_INVALID,
                  Concat("index value is ", index, ", which is ", found.name,
                         ", null in phase 1; expected a tensor that was given"));
  }
  found.tensor.data = address;
  return {};
}

Status Executor::SetMemberAddress(const OpenaclnnRole* role, size_t list, size_t member,
                                  void* address) {
  std::lock_guard lock(mutex_);
  size_t members = 0;
  BoundOperand* found = nullptr;
  EachArgument(role, [&](const Argument& each) {
    if (each.place != list || !each.operand->in_list) return;
    if (members++ == member) found = each.operand;
  });
  if (found != nullptr) {
    found->tensor.data = address;
    return {};
  }
  if (members > 0) {
    return Status(ACLNN_ERR_PARAM_INVALID, Concat("relativeIndex value is ", member,
                                                  ", expected 0 <= relativeIndex < ", members));
  }
  return Status(ACLNN_ERR_PARAM_INVALID,
                Concat("irIndex value is ", list, ", expected the place of a list of tensors"));
}

Status Executor::CheckWorkspace(void* workspace, uint64_t workspace_size) const {
  const uint64_t promised = std::max(workspace_size, workspace_size_);
  if (workspace == nullptr && promised > 0) {
    return Status(ACLNN_ERR_PARAM_NULLPTR,
                  Concat("workspace value is null, expected the address of ", promised, " bytes"));
  }
  if (workspace_size >= workspace_size_) return {};
  return Status(ACLNN_ERR_PARAM_INVALID,
                Concat("workspaceSize value is ", workspace_size, ", expected at least ",
                       workspace_size_, " as phase 1 said"));
}

namespace {

Status PinRange(const char* api, const char* operand, const void* address, uint64_t bytes,
                OpenaclnnPin* pin) {
  const OpenaclnnPinResult found = Runtime().pin(address, bytes, pin);
  if (found == OPENACLNN_PINNED) return {};
  Status status(ACLNN_ERR_PARAM_INVALID,
                WhyUnpinned(found, Concat(operand, " data"), address, bytes));
  TellRefused(api, status, address, bytes);
  return status;
}

}  // namespace

// Pins what each operand with elements reaches, and the workspace.
Status Executor::Bind(void* workspace, QueuedCall* queued) const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    const BoundOperand& operand = operands_[i];
    queued->names[i] = operand.name;
    if (operand.bytes == 0) continue;
    if (operand.tensor.data == nullptr) {
      return Status(ACLNN_ERR_PARAM_NULLPTR,
                    Concat(operand.name, " data is null, expected the address of its elements"));
    }
    // By integers: an address that is nonsense may wrap.
    const auto first = reinterpret_cast<uintptr_t>(operand.tensor.data) +
                       static_cast<uintptr_t>(operand.first_byte);
    OpenaclnnPin* pin = &queued->pins[queued->num_pins];
    Status status = PinRange(call_->api(), operand.name, reinterpret_cast<const void*>(first),
                             operand.bytes, pin);
    if (!status.ok()) return status;
    ++queued->num_pins;
    queued->misaligned |= IsMisaligned(operand);
    queued->data[i] =
        static_cast<std::byte*>(pin->host) + (operand.origin_byte - operand.first_byte);
  }
  if (workspace_size_ == 0) return {};
  OpenaclnnPin* pin = &queued->pins[queued->num_pins];
  Status status = PinRange(call_->api(), "workspace", workspace, workspace_size_, pin);
  if (!status.ok()) return status;
  ++queued->num_pins;
  queued->workspace = pin->host;
  queued->device_workspace = workspace;
  queued->misaligned |= IsMisaligned(workspace);
  return {};
}

std::vector<OpenaclnnUsed> Executor::UsedBytes(const QueuedCall& queued) const {
  std::vector<OpenaclnnUsed> used;
  const OpenaclnnPin* pin = queued.pins.data();
  for (const BoundOperand& operand : operands_) {
    if (operand.bytes == 0) continue;
    used.push_back(QueuedCall::Used(*pin++, operand.role == OPENACLNN_OUTPUT));
  }
  if (queued.workspace != nullptr) used.push_back(QueuedCall::Used(*pin, true));
  return used;
}

Placement Executor::Place(const QueuedCall& queued, size_t index) const {
  const BoundOperand& operand = operands_[index];
  const auto origin = reinterpret_cast<int64_t>(queued.data[index]);
  const int64_t first = origin - (operand.origin_byte - operand.first_byte);
  return {&operand.tensor, operand.element_bytes, first,
          first + static_cast<int64_t>(operand.bytes) - 1};
}

namespace {

/// The real or the imaginary parts of complex numbers.
bool ArePartsOf(const Placement& parts, const Placement& whole) {
  const int32_t part = parts.tensor->dtype, of = whole.tensor->dtype;
  return ((of == ACL_COMPLEX32 && part == ACL_FLOAT16) ||
          (of == ACL_COMPLEX64 && part == ACL_FLOAT) ||
          (of == ACL_COMPLEX128 && part == ACL_DOUBLE)) &&
         IsHalfOf(parts, whole);
}

}  // namespace

// Each output against every other operand.
Status Executor::CheckOverlap(const QueuedCall& queued) const {
  for (size_t out = 0; out < operands_.size(); ++out) {
    if (operands_[out].role != OPENACLNN_OUTPUT || operands_[out].bytes == 0) continue;
    const Placement output = Place(queued, out);
    for (size_t i = 0; i < operands_.size(); ++i) {
      // Two outputs are compared once.
      if (operands_[i].bytes == 0 || i == out) continue;
      if (operands_[i].role == OPENACLNN_OUTPUT && i < out) continue;
      const Placement other = Place(queued, i);
      // From another byte on: in one place nothing would stay of the first.
      if (operands_[out].shared && operands_[i].shared && output.first_byte != other.first_byte)
        continue;
      const bool may_alias = (operands_[out].may_alias >> std::min<size_t>(i, 63) & 1) != 0;
      if (may_alias && (SameView(output, other) || ArePartsOf(other, output))) continue;
      if (!Overlap(output, other)) continue;
      return Status(ACLNN_ERR_PARAM_INVALID,
                    Concat(operands_[out].name, " memory is shared with ", operands_[i].name,
                           ", expected memory of its own"));
    }
  }
  return {};
}

// The workspace is written, so it may touch no operand, inputs included.
Status Executor::CheckWorkspaceOverlap(const QueuedCall& queued) const {
  const auto workspace = reinterpret_cast<int64_t>(queued.workspace);
  const auto end = workspace + static_cast<int64_t>(workspace_size_);
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].bytes == 0) continue;
    const Placement operand = Place(queued, i);
    if (operand.first_byte >= end || workspace > operand.last_byte) continue;
    return Status(ACLNN_ERR_PARAM_INVALID,
                  Concat("workspace memory is shared with ", operands_[i].name,
                         ", expected memory of its own"));
  }
  return {};
}

std::string Executor::Describe() const {
  return Concat(DescribeOperands(operands_), ",\"workspace_size\":", workspace_size_);
}

Status Executor::Execute(const char* api, void* workspace, uint64_t workspace_size, void* stream,
                         bool* spent) {
  std::lock_guard lock(mutex_);
  if (call_->api() != api) {
    return Status(ACLNN_ERR_INNER,
                  Concat("executor operator is ", call_->api(), ", expected ", api));
  }
  if (state_ == State::kSpent) {
    return Status(ACLNN_ERR_INNER_NULLPTR,
                  "executor state is spent, expected one that has not run or is repeatable");
  }
  auto queued = std::make_unique<QueuedCall>(call_, operands_.size());
  Status status = CheckWorkspace(workspace, workspace_size);
  if (status.ok()) status = Bind(workspace, queued.get());
  if (status.ok()) status = CheckOverlap(*queued);
  if (status.ok() && workspace_size_ > 0) status = CheckWorkspaceOverlap(*queued);
  if (!status.ok()) return status;
  if (queued->misaligned) [[unlikely]]
    TellMisaligned(call_->api(), operands_, workspace, workspace_size_);
  if (RacesAreWatched()) {
    queued->watch = OutputWatch::Of(operands_, queued->data.data(), queued->pins.data());
    queued->used = UsedBytes(*queued);
  }
  if (Tracing()) {
    queued->arguments = DescribeBytes(operands_) + "," + DescribeOperands(operands_);
  }
  const OpenaclnnTask task = {
      .name = call_->api(),
      .run =
          [](void* state, OpenaclnnMessage* message) {
            return static_cast<const QueuedCall*>(state)->Run(message);
          },
      .release = [](void* state) { delete static_cast<QueuedCall*>(state); },
      .state = queued.get(),
      .arguments = queued->arguments.empty() ? nullptr : queued->arguments.c_str(),
      .each_pin =
          [](const void* state, void (*each)(void*, const OpenaclnnPin*), void* to) {
            const auto& call = *static_cast<const QueuedCall*>(state);
            for (size_t i = 0; i < call.num_pins; ++i) each(to, &call.pins[i]);
          },
  };
  const DeclaredAccesses declared(RacesAreWatched()
                                      ? AccessesOf(operands_, workspace, workspace_size_)
                                      : std::vector<OpenaclnnAccess>{});
  Message message;
  const int code = Runtime().submit(stream, &task, &message);
  if (code != 0) return Status(code, message.text);
  (void)queued.release();  // the task's now
  state_ = repeatable_ ? State::kQueued : State::kSpent;
  *spent = !repeatable_;
  return {};
}

Status FindExecutor(const aclOpExecutor* handle, int null_code, Pinned<Executor>* executor) {
  switch (FindObject(MetaHandles(), handle, executor)) {
    case Found::kLive:
      return {};
    case Found::kNull:
      return Status(null_code, "executor value is null, expected the executor of phase 1");
    case Found::kStale:
      return Status(ACLNN_ERR_INNER_NULLPTR,
                    "executor state is spent or destroyed, expected one that has not run or is "
                    "repeatable");
    case Found::kForeign:
      break;
  }
  return Status(ACLNN_ERR_INNER, Concat("executor value is ", static_cast<const void*>(handle),
                                        ", not an executor, expected that of phase 1"));
}

}  // namespace openaclnn

using openaclnn::Executor;
using openaclnn::FindExecutor;
using openaclnn::MetaHandles;
using openaclnn::Pinned;
using openaclnn::ShortApi;
using openaclnn::Status;

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return ShortApi("aclSetAclOpExecutorRepeatable", [&] {
    Pinned<Executor> object;
    Status status = FindExecutor(executor, ACLNN_ERR_INNER_NULLPTR, &object);
    return status.ok() ? object->MakeRepeatable() : status;
  });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  return openaclnn::ReleaseApi("aclDestroyAclOpExecutor", [&] {
    Pinned<Executor> object;
    Status status = FindExecutor(executor, ACLNN_ERR_INNER_NULLPTR, &object);
    if (status.ok()) MetaHandles().Remove(Executor::kKind, executor);
    return status;
  });
}
