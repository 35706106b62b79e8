// SPDX-License-Identifier: Apache-2.0
// The handle table of tensors, scalars, arrays, lists and executors, and how its look-ups refuse.
#pragma once

#include <cstdint>
#include <memory>

#include "aclnn/acl_meta.h"
#include "ascendcl/report/error.h"
#include "common/handle_table.h"
#include "openaclnn/status.h"

namespace openaclnn {

HandleTable& MetaHandles();

inline Status NullArgument(const char* operand) {
  return Status(ACLNN_ERR_PARAM_NULLPTR, Concat(operand, " value is null, expected an address"));
}

/// Refuses a count of values that no memory can hold, before anything is computed from it.
inline Status CheckCount(uint64_t size, size_t value_bytes) {
  const uint64_t most = PTRDIFF_MAX / value_bytes;
  if (size <= most) return {};
  return Status(ACLNN_ERR_PARAM_INVALID,
                Concat("size value is ", size, ", expected at most ", most));
}

/// The status for the result of a look-up of a T.
template <class T>
Status LookUp(const char* operand, Found found, const void* handle) {
  if (found == Found::kLive) return {};
  if (found == Found::kNull) return NullArgument(operand);
  return Status(
      ACLNN_ERR_PARAM_INVALID,
      Concat(operand, " value is ",
             found == Found::kStale ? "a handle that was destroyed" : "not a handle of this kind",
             " (", handle, "), expected a live ", T::kNoun));
}

/// 161001 for null, 161002 for what is not a live handle of T's kind.
template <class T>
Status FindMeta(const char* operand, const void* handle, Pinned<T>* object) {
  return LookUp<T>(operand, FindObject(MetaHandles(), handle, object), handle);
}

/// As FindMeta, for a change of the object: nobody else reads it while it is pinned.
template <class T>
Status FindMetaAlone(const char* operand, const void* handle, Pinned<T>* object) {
  return LookUp<T>(operand, FindObjectAlone(MetaHandles(), handle, object), handle);
}

/// The body of the aclCreate functions: null instead of a handle when `make` fails. An object that
/// owns others does so once it has its handle: until then they are the caller's.
template <class Handle, class Make>
Handle* CreateMeta(const char* api, Make&& make) {
  void* handle = nullptr;
  ShortApi(api, [&]() -> Status {
    auto made = make();
    if (!made.first.ok()) return made.first;
    [[maybe_unused]] auto& object = *made.second;
    handle = InsertObject(MetaHandles(), std::move(made.second));
    if constexpr (requires { object.Own(); }) {
      if (handle != nullptr) object.Own();
    }
    if (handle != nullptr) return {};
    return Status(ACLNN_ERR_RUNTIME_ERROR, "no handle is left, expected fewer live objects");
  });
  return static_cast<Handle*>(handle);
}

/// The body of the aclDestroy functions: null is no error. As ReleaseApi, but with ShortApi.
template <class T>
aclnnStatus DestroyMeta(const char* api, const char* operand, const void* handle) {
  if (Forked()) return 0;
  return ShortApi(api, [&]() -> Status {
    if (handle == nullptr) return {};
    Pinned<T> object;
    Status status = FindMeta(operand, handle, &object);
    if (!status.ok()) return status;
    if (MetaHandles().Remove(T::kKind, handle) == Found::kLive) return {};
    return FindMeta(operand, handle, &object);  // another thread was faster
  });
}

}  // namespace openaclnn
