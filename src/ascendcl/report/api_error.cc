// SPDX-License-Identifier: Apache-2.0
// API errors: decides which refusals are mistakes of the program, and reports those.
#include "ascendcl/report/api_error.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <utility>

#include "acl/acl.h"
#include "ascendcl/process/config.h"
#include "ascendcl/report/api_error_counts.h"
#include "ascendcl/report/error_table.h"
#include "ascendcl/report/report.h"
#include "common/text.h"
#include "openaclnn/status.h"

namespace openaclnn {
namespace {

/// Codes that a correct program may get: answers to what it asks, a lack of resources, and
/// functions or operators that do not exist.
constexpr int kNoMistakes[] = {
    ACL_ERROR_REPEAT_INITIALIZE,  // the runtime is initialised, which is what the caller wants
    ACL_ERROR_OP_NOT_FOUND,           ACL_ERROR_REPEAT_FINALIZE,
    ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, ACL_ERROR_BAD_ALLOC,
    ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
    ACL_ERROR_RT_MEMORY_ALLOCATION,  // clients free their caches and ask again
    ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, ACL_ERROR_RT_NO_EVENT_RESOURCE,
    ACL_ERROR_RT_NO_STREAM_RESOURCE,  ACL_ERROR_RT_NO_MODEL_RESOURCE,
    ACL_ERROR_INTERNAL_ERROR,         ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND,
};

/// Whether the code comes from a task, from another rank or from a time limit. All codes of the two
/// ranges do, except one in each.
constexpr bool ComesFromElsewhere(int code) {
  const bool ranks = code >= 3 && code <= 22 && code != 15;  // HCCL_E_RUNTIME is a refused launch
  return ranks || (code / 1000 == 507 && code != ACL_ERROR_RT_SOC_VERSION);
}

/// A code that has a meaning of its own in one function.
struct Exception {
  std::string_view api;
  int code;
  bool mistake;
};
constexpr Exception kExceptions[] = {
    // These two are asked whether the thread has a context.
    {"aclrtGetDevice", ACL_ERROR_RT_CONTEXT_NULL, false},
    {"aclrtGetCurrentContext", ACL_ERROR_RT_CONTEXT_NULL, false},
    // A loop may begin before its thread is subscribed and end after; the code says "call again".
    {"aclrtProcessReport", ACL_ERROR_RT_THREAD_SUBSCRIBE, false},
    // The function is asked whether this release knows the capability.
    {"aclGetDeviceCapability", ACL_ERROR_INVALID_PARAM, false},
    // Both sides of the copy are memory of the host; the function itself exists.
    {"aclrtMemcpyAsync", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, true},
    {"aclrtMemcpy2dAsync", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, true},
    // A child of fork runs the exit handlers that its parent has registered.
    {"aclFinalize", ACL_ERROR_UNINITIALIZE, false},
};

/// Functions that destroy what aclFinalize has ended, and how each refuses that.
constexpr std::pair<std::string_view, int> kRepeatedEnds[] = {
    {"aclrtDestroyStream", ACL_ERROR_RT_INVALID_HANDLE},
    {"aclrtDestroyStreamForce", ACL_ERROR_RT_INVALID_HANDLE},
    {"aclrtDestroyContext", ACL_ERROR_RT_INVALID_HANDLE},
    {"aclmdlRIDestroy", ACL_ERROR_RT_INVALID_HANDLE},
    {"aclrtResetDevice", ACL_ERROR_RT_CONTEXT_NULL},
};

std::atomic<bool> g_ended{false};

bool RepeatsEnd(std::string_view api, int code) {
  if (!g_ended.load(std::memory_order_relaxed)) return false;
  const std::pair call(api, code);
  return std::find(std::begin(kRepeatedEnds), std::end(kRepeatedEnds), call) !=
         std::end(kRepeatedEnds);
}

bool IsMistake(std::string_view api, int code) {
  for (const Exception& each : kExceptions) {
    if (each.api == api && each.code == code) return each.mistake;
  }
  if (RepeatsEnd(api, code)) return false;
  const auto found = std::find(std::begin(kNoMistakes), std::end(kNoMistakes), code);
  return found == std::end(kNoMistakes) && !ComesFromElsewhere(code);
}

thread_local bool t_told = false;

void Tell(int code, std::string_view words, std::string_view api) {
  const ErrorEntry& entry = FindError(code);
  CountApiError(entry);
  Finding finding;
  finding.check = Check::kApicheck;
  finding.title = Concat(api, " returned ", code, words.substr(api.size()));
  if (!CountFinding(finding.check, WithoutNumbers(finding.title))) return;
  finding.what = Concat(entry.name, ": ", entry.meaning);
  finding.fix = entry.action;
  finding.code = code;
  TellFinding(finding);
}

}  // namespace

void NoteRuntimeEnded(bool ended) noexcept { g_ended.store(ended, std::memory_order_relaxed); }

void NoteApiError(int code, std::initializer_list<std::string_view> words) noexcept try {
  const bool told = std::exchange(t_told, false);
  if (told || !ReportsApiErrors()) return;
  std::string all;
  for (const std::string_view part : words) all += part;
  const std::string_view api = std::string_view(all).substr(0, all.find(':'));
  if (IsMistake(api, code)) Tell(code, all, api);
} catch (...) {  // without memory for words there is no report
}

void ApiErrorIsTold() noexcept { t_told = true; }

}  // namespace openaclnn
