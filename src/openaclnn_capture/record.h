// SPDX-License-Identifier: Apache-2.0
// The two phases of an operator, and the capture of what they were given and did.
#pragma once

#include <string_view>

#include "acl/acl.h"
#include "openaclnn_capture/call.h"
#include "openaclnn_capture/executors.h"
#include "openaclnn_capture/next.h"
#include "openaclnn_capture/settings.h"

namespace openaclnn::capture {

using RunFunction = aclnnStatus(void*, uint64_t, aclOpExecutor*, aclrtStream);

/// Whether calls of this operator may be captured.
bool Wanted(std::string_view api);

/// Notes what phase 1 returned for a call that was described.
void Planned(Call call, aclnnStatus code, uint64_t workspace_size, aclOpExecutor* executor);

/// Phase 2 of the operator `api` through `next`: waits for the stream, runs, waits again, and
/// captures the call. Returns the first error of these, as a program that sets
/// ASCEND_LAUNCH_BLOCKING=1 gets it.
aclnnStatus Run(const char* api, RunFunction* next, void* workspace, uint64_t workspace_size,
                aclOpExecutor* executor, aclrtStream stream);

/// The names of an operator: its own, and those that Describe wants.
struct Names {
  const char *api, *parameters, *outputs;
};

/// Phase 1 of an operator.
template <class Function, class... Arguments>
aclnnStatus Plan(const Names& names, Function* next, uint64_t* workspace_size,
                 aclOpExecutor** executor, Arguments... arguments) {
  if (next == nullptr) return kMissing;
  if (!Wanted(names.api)) return next(arguments..., workspace_size, executor);
  // Before the call: nothing of it is lost if another thread destroys what it names.
  std::optional<Call> call;
  Attempt([&] {
    Call described = {names.api, {}, 0, false};
    Describe describe(names.parameters, names.outputs, &described);
    (describe.Add(arguments), ...);
    call = std::move(described);
  });
  const aclnnStatus code = next(arguments..., workspace_size, executor);
  const bool planned = code == 0;
  if (planned) Forget(*executor);  // what was known of the handle was another's
  if (!call) return code;
  Attempt([&] {
    Planned(std::move(*call), code, planned ? *workspace_size : 0, planned ? *executor : nullptr);
  });
  return code;
}

}  // namespace openaclnn::capture
