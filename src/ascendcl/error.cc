// SPDX-License-Identifier: Apache-2.0
// Thread-local error text and last error: aclGetRecentErrMsg, aclrtGetLastError, and their kin.
#include "ascendcl/error.h"

#include <pthread.h>

#include <atomic>
#include <string>

#include "acl/acl.h"
#include "ascendcl/error_table.h"
#include "ascendcl/fork.h"
#include "ascendcl/log.h"

namespace openaclnn {
namespace {

// `returned` keeps the text that aclGetRecentErrMsg handed out alive until the thread's next call.
struct ThreadErrors {
  std::string recent;
  std::string returned;
  int last = 0;
};

// A plain pointer, freed by a thread-specific key: a thread_local object would be gone when static
// destructors of the program call in at exit.
thread_local ThreadErrors* t_errors = nullptr;

pthread_key_t MakeKey() {
  pthread_key_t key{};
  pthread_key_create(&key, [](void* errors) {
    delete static_cast<ThreadErrors*>(errors);
    t_errors = nullptr;
  });
  return key;
}

ThreadErrors& Errors() {
  static const pthread_key_t key = MakeKey();
  if (t_errors == nullptr) {
    t_errors = new ThreadErrors;
    pthread_setspecific(key, t_errors);
  }
  return *t_errors;
}

std::atomic<bool> g_used{false};
std::atomic<bool> g_forked{false};

[[maybe_unused]] const int kForkWatch =
    pthread_atfork(nullptr, nullptr, [] { g_forked.store(g_used, std::memory_order_relaxed); });

int LastError(const char* api, aclrtLastErrLevel level, bool clear) {
  if (level != ACL_RT_THREAD_LEVEL) {
    return Report(
        api, Status(ACL_ERROR_RT_PARAM_INVALID, Concat("level value is ", static_cast<int>(level),
                                                       ", expected ACL_RT_THREAD_LEVEL (0)")));
  }
  int& last = Errors().last;
  return clear ? std::exchange(last, 0) : last;
}

}  // namespace

void MarkUsed() { g_used.store(true, std::memory_order_relaxed); }

bool Forked() { return g_forked.load(std::memory_order_relaxed); }

void RecordError(int code, std::string_view text) {
  ThreadErrors& errors = Errors();
  errors.recent = Concat(FindError(code).prefix, ": ", text);
  errors.last = code;
  const bool op = errors.recent.starts_with("EZ");
  Log(op ? LogModule::kOp : LogModule::kAscendcl, LogLevel::kError,
      Concat("error code ", code, ": ", errors.recent));
}

int Report(const char* api, const Status& status) {
  RecordError(status.code(), Concat(status.api_or(api), ": ", status.text()));
  return status.code();
}

}  // namespace openaclnn

const char* aclGetRecentErrMsg() {
  openaclnn::ThreadErrors& errors = openaclnn::Errors();
  if (errors.recent.empty()) return nullptr;
  errors.returned = std::exchange(errors.recent, std::string());
  return errors.returned.c_str();
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  return openaclnn::LastError("aclrtGetLastError", level, true);
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  return openaclnn::LastError("aclrtPeekAtLastError", level, false);
}
