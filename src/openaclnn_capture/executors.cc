// SPDX-License-Identifier: Apache-2.0
// Follows executors: repeatable ones, new addresses of their tensors, their end.
#include "openaclnn_capture/executors.h"

#include <mutex>
#include <unordered_map>

#include "common/hold_during_fork.h"
#include "common/lasting.h"
#include "openaclnn_capture/next.h"
#include "openaclnn_capture/settings.h"

namespace openaclnn::capture {
namespace {

struct Executors {
  std::mutex mutex;
  std::unordered_map<const aclOpExecutor*, Call> planned;
};

Executors& Known() { return Lasting<Executors>(); }

std::mutex& Mutex() { return Known().mutex; }
[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();

/// Changes what is known of an executor after the libraries did.
template <class Change>
aclnnStatus Follow(const aclOpExecutor* executor, aclnnStatus code, const Change& change) noexcept {
  if (code != 0) return code;
  std::lock_guard lock(Known().mutex);
  const auto found = Known().planned.find(executor);
  if (found != Known().planned.end()) change(found->second);
  return code;
}

enum Role { kInput, kOutput, kEither };

/// Which tensors an index counts is as the API says: the operands of a role in their order.
void SetAddress(Call& call, Role role, size_t index, void* address) {
  for (Argument& argument : call.arguments) {
    if (role != kEither && argument.output != (role == kOutput)) continue;
    for (auto& tensor : argument.tensors) {
      if (index-- != 0) continue;
      if (tensor) tensor->data = address;
      return;
    }
  }
}

/// Sets the address of a member of the list that is argument `list`, all arguments counted.
void SetMemberAddress(Call& call, Role role, size_t list, size_t index, void* address) {
  for (Argument& argument : call.arguments) {
    if (argument.tensors.empty() && !argument.is_null) continue;
    if (role != kEither && argument.output != (role == kOutput)) continue;
    if (list-- != 0) continue;
    if (index < argument.tensors.size() && argument.tensors[index]) {
      argument.tensors[index]->data = address;
    }
    return;
  }
}

}  // namespace

void Keep(const aclOpExecutor* executor, Call call) {
  std::lock_guard lock(Known().mutex);
  Known().planned[executor] = std::move(call);
}

std::optional<Call> Find(const aclOpExecutor* executor) {
  std::lock_guard lock(Known().mutex);
  const auto found = Known().planned.find(executor);
  if (found == Known().planned.end()) return {};
  return found->second;
}

void Spend(const aclOpExecutor* executor) noexcept {
  std::lock_guard lock(Known().mutex);
  const auto found = Known().planned.find(executor);
  if (found != Known().planned.end() && !found->second.repeatable) Known().planned.erase(found);
}

void Forget(const aclOpExecutor* executor) noexcept {
  std::lock_guard lock(Known().mutex);
  Known().planned.erase(executor);
}

}  // namespace openaclnn::capture

using openaclnn::capture::Call;
using openaclnn::capture::Follow;
using openaclnn::capture::kMissing;

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  const auto next = NEXT(aclSetAclOpExecutorRepeatable);
  return Follow(executor, next == nullptr ? kMissing : next(executor),
                [](Call& call) { call.repeatable = true; });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  const auto next = NEXT(aclDestroyAclOpExecutor);
  // First: once it is destroyed, another thread may be given the same handle.
  openaclnn::capture::Forget(executor);
  return next == nullptr ? kMissing : next(executor);
}

#define SET_ADDRESS(function, role)                                                              \
  aclnnStatus function(aclOpExecutor* executor, const size_t index, aclTensor* tensor,           \
                       void* addr) {                                                             \
    const auto next = NEXT(function);                                                            \
    return Follow(executor, next == nullptr ? kMissing : next(executor, index, tensor, addr),    \
                  [&](Call& call) { SetAddress(call, openaclnn::capture::role, index, addr); }); \
  }
#define SET_MEMBER_ADDRESS(function, role)                                                  \
  aclnnStatus function(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex, \
                       aclTensorList* tensors, void* addr) {                                \
    const auto next = NEXT(function);                                                       \
    const auto code =                                                                       \
        next == nullptr ? kMissing : next(executor, irIndex, relativeIndex, tensors, addr); \
    return Follow(executor, code, [&](Call& call) {                                         \
      SetMemberAddress(call, openaclnn::capture::role, irIndex, relativeIndex, addr);       \
    });                                                                                     \
  }
SET_ADDRESS(aclSetInputTensorAddr, kInput)
SET_ADDRESS(AclSetInputTensorAddr, kInput)
SET_ADDRESS(aclSetOutputTensorAddr, kOutput)
SET_ADDRESS(AclSetOutputTensorAddr, kOutput)
SET_ADDRESS(aclSetTensorAddr, kEither)
SET_ADDRESS(AclSetTensorAddr, kEither)
SET_MEMBER_ADDRESS(aclSetDynamicInputTensorAddr, kInput)
SET_MEMBER_ADDRESS(AclSetDynamicInputTensorAddr, kInput)
SET_MEMBER_ADDRESS(aclSetDynamicOutputTensorAddr, kOutput)
SET_MEMBER_ADDRESS(AclSetDynamicOutputTensorAddr, kOutput)
SET_MEMBER_ADDRESS(aclSetDynamicTensorAddr, kEither)
SET_MEMBER_ADDRESS(AclSetDynamicTensorAddr, kEither)
