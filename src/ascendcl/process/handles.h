// SPDX-License-Identifier: Apache-2.0
// The runtime's handle table and the words with which it refuses a handle.
#pragma once

#include <memory>

#include "acl/acl.h"
#include "common/handle_table.h"
#include "common/status.h"

namespace openaclnn {

/// Contexts, streams and events of the process.
HandleTable& RuntimeHandles();

/// Refusal of a handle that was not found.
Status InvalidHandle(const char* operand, const char* noun, Found found, const void* handle);

/// The table's own reference of a handle, which tasks and waiters may share.
template <class T>
struct HandleEntry {
  static constexpr Kind kKind = T::kKind;
  std::shared_ptr<T> object;
};

/// Null when no handle is left.
template <class T>
void* InsertHandle(std::shared_ptr<T> object) {
  return InsertObject(RuntimeHandles(),
                      std::make_unique<HandleEntry<T>>(HandleEntry<T>{std::move(object)}));
}

/// 107017 unless the handle is a live one of T's kind.
template <class T>
Status FindHandle(const char* operand, const void* handle, std::shared_ptr<T>* object) {
  Pinned<HandleEntry<T>> entry;
  const Found found = FindObject(RuntimeHandles(), handle, &entry);
  if (found != Found::kLive) return InvalidHandle(operand, T::kNoun, found, handle);
  *object = entry->object;
  return {};
}

template <class T>
Status RemoveHandle(const char* operand, const void* handle) {
  const Found found = RuntimeHandles().Remove(T::kKind, handle);
  return found == Found::kLive ? Status() : InvalidHandle(operand, T::kNoun, found, handle);
}

/// As FindHandle, for functions whose rule is that null is 100000.
template <class T>
Status FindGiven(const char* operand, const void* handle, std::shared_ptr<T>* object) {
  if (handle != nullptr) return FindHandle(operand, handle, object);
  return Status(ACL_ERROR_INVALID_PARAM,
                Concat(operand, " value is null, expected a live ", T::kNoun));
}

template <class T>
Status RemoveGiven(const char* operand, const void* handle) {
  std::shared_ptr<T> object;
  Status status = FindGiven(operand, handle, &object);
  return status.ok() ? RemoveHandle<T>(operand, handle) : status;
}

/// The rule for out-parameters: null is 100000.
inline Status RequireOut(const char* operand, const void* pointer) {
  if (pointer != nullptr) return {};
  return Status(ACL_ERROR_INVALID_PARAM, Concat(operand, " value is null, expected an address"));
}

}  // namespace openaclnn
