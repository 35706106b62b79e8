// SPDX-License-Identifier: Apache-2.0
// Thread-local error text and last error: aclGetRecentErrMsg, aclrtGetLastError, and their kin.
#include "ascendcl/error.h"

#include <pthread.h>

#include <string>

#include "acl/acl.h"
#include "ascendcl/error_table.h"
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

/// The table for the command-line tool and the documentation; null when memory is short. The text
/// lives as long as the process.
extern "C" __attribute__((visibility("default"))) const char* openaclnn_errors_json() {
  const char* text = nullptr;
  openaclnn::Api("openaclnn_errors_json", [&]() -> openaclnn::Status {
    static const auto* const json = new std::string(openaclnn::DescribeErrors());
    text = json->c_str();
    return {};
  });
  return text;
}
