// SPDX-License-Identifier: Apache-2.0
// The tables of handle_rows.h for libopapi.so.
#include <dlfcn.h>

#include <memory>
#include <utility>

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

void AddArguments(const char* api, std::initializer_list<std::pair<Argument, HandleKind>> arguments,
                  Names names, std::function<int(size_t, void*)> call,
                  std::vector<HandleRow>* rows) {
  const auto shared = std::make_shared<const decltype(call)>(std::move(call));
  const auto* next = names.begin();
  for (size_t place = 0; place < arguments.size(); ++place) {
    const auto& [argument, kind] = arguments.begin()[place];
    const auto with = [shared, place](void* open) { return (*shared)(place, open); };
    if (argument == Argument::kHandle) {
      std::string name = *next++;
      const bool optional = name.ends_with('?');
      if (optional) name.pop_back();
      const int code = ACLNN_ERR_PARAM_INVALID;
      const bool may_be_null = optional || name.ends_with("Optional");
      rows->push_back({api, kind, with, code, code,
                       may_be_null ? kAnyResult : int{ACLNN_ERR_PARAM_NULLPTR},
                       // Arrays are looked at after the tensors, which are not what any operator
                       // wants.
                       kind == HandleKind::kIntArray ? "" : name + " value is", name});
    } else if (argument != Argument::kOther) {
      const std::string name = argument == Argument::kExecutor ? "executor" : "workspaceSize";
      const int code = ACLNN_ERR_PARAM_NULLPTR;  // of which phase 1 asks first
      rows->push_back({api, HandleKind::kMemory, with, code, code, code, name + " value is"});
    }
  }
}

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
