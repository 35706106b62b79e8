// SPDX-License-Identifier: Apache-2.0
// Thread-local error text and last error: aclGetRecentErrMsg, aclrtGetLastError, and their kin.
#include "ascendcl/report/error.h"

#include <algorithm>
#include <string>

#include "acl/acl.h"
#include "ascendcl/message.h"
#include "ascendcl/process/thread_end.h"
#include "ascendcl/report/api_error.h"
#include "ascendcl/report/error_table.h"
#include "ascendcl/report/log.h"

namespace openaclnn {
namespace {

// A text that aclGetRecentErrMsg handed out lives until the thread's next call of it.
struct ThreadErrors {
  std::string recent;
  std::string returned;
};

// A plain pointer: a thread_local object would be gone when static destructors of the program call
// in at exit.
thread_local ThreadErrors* t_errors = nullptr;

constinit ThreadEnd g_thread_end([](void* errors) {
  delete static_cast<ThreadErrors*>(errors);
  t_errors = nullptr;
});

// The texts of a thread that has no memory for ThreadErrors, cut short; trivially destroyed too.
struct ShortErrors {
  OpenaclnnMessage recent;
  OpenaclnnMessage returned;
};
thread_local ShortErrors t_short = {};

thread_local int t_last = 0;

ThreadErrors& Errors() {
  if (t_errors == nullptr) {
    t_errors = new ThreadErrors;
    (void)g_thread_end.Watch(t_errors);  // better kept for ever than no message
  }
  return *t_errors;
}

using Parts = std::initializer_list<std::string_view>;

/// The parts as one text, cut to what the message holds.
void Join(const Parts& parts, OpenaclnnMessage* message) {
  size_t end = 0;
  for (const std::string_view part : parts) {
    const size_t length = std::min(part.size(), sizeof(message->text) - 1 - end);
    std::copy_n(part.data(), length, message->text + end);
    end += length;
  }
  message->text[end] = '\0';
}

void KeepText(const char* prefix, const Parts& parts) {
  t_short.recent.text[0] = '\0';
  try {
    std::string whole = Concat(prefix, ": ");
    for (const std::string_view part : parts) whole += part;
    Errors().recent = std::move(whole);
  } catch (const std::bad_alloc&) {
    Message text;
    Join(parts, &text);
    Join({prefix, ": ", text.text}, &t_short.recent);
    if (t_errors != nullptr) t_errors->recent.clear();
  }
}

int LastError(const char* api, aclrtLastErrLevel level, bool clear) {
  if (level == ACL_RT_THREAD_LEVEL) return clear ? std::exchange(t_last, 0) : t_last;
  return Api(api, [&] {
    return Status(ACL_ERROR_RT_PARAM_INVALID, Concat("level value is ", static_cast<int>(level),
                                                     ", expected ACL_RT_THREAD_LEVEL (0)"));
  });
}

const char* RecentText() {
  if (t_short.recent.text[0] != '\0') return t_short.recent.text;
  return t_errors != nullptr ? t_errors->recent.c_str() : "";
}

}  // namespace

void RecordError(int code, std::initializer_list<std::string_view> parts) noexcept {
  NoteApiError(code, parts);  // first: what it tells is not the call's message
  const char* prefix = FindError(code).prefix;
  t_last = code;
  KeepText(prefix, parts);
  LogFailure(code, {RecentText()});
}

void RecordMessage(const char* prefix, std::initializer_list<std::string_view> parts) noexcept {
  KeepText(prefix, parts);
}

void LogFailure(int code, std::initializer_list<std::string_view> parts) noexcept {
  (void)Guard([&] {
    std::string line = Concat("error code ", code, ": ");
    for (const std::string_view part : parts) line += part;
    const bool op = std::string_view(FindError(code).prefix).starts_with("EZ");
    Log(op ? LogModule::kOp : LogModule::kAscendcl, LogLevel::kError, line);
    return Status();
  });
}

int Report(const char* api, const Status& status) {
  RecordError(status.code(), {status.api_or(api), ": ", status.text()});
  return status.code();
}

}  // namespace openaclnn

const char* aclGetRecentErrMsg() {
  using openaclnn::t_errors;
  using openaclnn::t_short;
  if (t_short.recent.text[0] != '\0') {
    t_short.returned = std::exchange(t_short.recent, {});
    return t_short.returned.text;
  }
  if (t_errors == nullptr || t_errors->recent.empty()) return nullptr;
  t_errors->returned = std::exchange(t_errors->recent, std::string());
  return t_errors->returned.c_str();
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
  openaclnn::Api("error table", [&]() -> openaclnn::Status {
    static const auto* const json = new std::string(openaclnn::DescribeErrors());
    text = json->c_str();
    return {};
  });
  return text;
}
