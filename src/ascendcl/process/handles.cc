// SPDX-License-Identifier: Apache-2.0
// The runtime's handle table and the refusal of handles that are not in it.
#include "ascendcl/process/handles.h"

#include "common/hold_during_fork.h"
#include "common/lasting.h"

namespace openaclnn {

HandleTable& RuntimeHandles() { return Lasting<HandleTable>(); }

namespace {

std::mutex& Mutex() { return RuntimeHandles().mutex(); }
[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();

}  // namespace

Status InvalidHandle(const char* operand, const char* noun, Found found, const void* handle) {
  const char* what = found == Found::kNull    ? "null"
                     : found == Found::kStale ? "a handle that was destroyed"
                                              : "not a handle of this kind";
  return Status(ACL_ERROR_RT_INVALID_HANDLE,
                Concat(operand, " value is ", what, " (", handle, "), expected a live ", noun));
}

}  // namespace openaclnn
