// SPDX-License-Identifier: Apache-2.0
// The tables of handle_rows.h for libopapi.so.
#include <dlfcn.h>

#include "abi/exports.h"
#include "abi/handle_rows.h"
#include "abi/phase1_rows.h"
#include "acl/acl.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "declarations/headers.inc"
#include "openaclnn/status.h"

namespace openaclnn {
namespace {

using Phase2 = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

/// Every operator's phase 2, as the library exports them: they are all of one type.
void AddPhases2(std::vector<HandleRow>* rows) {
  static const std::set<std::string> exports = ExportsOf("opapi");
  for (const std::string& api : exports) {
    if (exports.count(api + "GetWorkspaceSize") == 0) continue;
    const auto run = reinterpret_cast<Phase2>(dlsym(RTLD_DEFAULT, api.c_str()));
    rows->push_back({api.c_str(), HandleKind::kExecutor,
                     [run](void* handle) {
                       return run(nullptr, 0, static_cast<aclOpExecutor*>(handle), nullptr);
                     },
                     ACLNN_ERR_INNER, ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_NULLPTR,
                     "executor"});
  }
}

}  // namespace

std::vector<HandleRow> OperatorRows(const Live& live) {
  std::vector<HandleRow> rows;
#define PHASE1(name, ...) \
  AddPhase1(live, #name "GetWorkspaceSize", name##GetWorkspaceSize, {__VA_ARGS__}, &rows);
#include "declarations/handles.inc"
#undef PHASE1
  AddPhases2(&rows);
  auto* executor = static_cast<aclOpExecutor*>(live[HandleKind::kExecutor]);
  rows.push_back(
      {"aclnnEmbeddingDenseBackward", HandleKind::kStream,
       [executor, live](void* handle) {
         return aclnnEmbeddingDenseBackward(live.workspace, live.workspace_size, executor, handle);
       },
       ACL_ERROR_RT_INVALID_HANDLE, ACL_ERROR_RT_INVALID_HANDLE, kAnyResult, "stream value is"});
  return rows;
}

}  // namespace openaclnn
