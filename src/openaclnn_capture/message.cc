// SPDX-License-Identifier: Apache-2.0
// Stands in front of aclGetRecentErrMsg.
#include "openaclnn_capture/message.h"

#include <utility>

#include "acl/acl.h"
#include "openaclnn_capture/next.h"
#include "openaclnn_capture/settings.h"

namespace openaclnn::capture {
namespace {

// What was read and the program has not; and what the program was given last.
thread_local std::string kept, given;

/// Takes the libraries' message, or null.
const char* TakeMessage() {
  const auto next = NEXT(aclGetRecentErrMsg);
  return next == nullptr ? nullptr : next();
}

}  // namespace

std::string PeekMessage() {
  if (const char* const newer = TakeMessage()) kept = newer;
  return kept;
}

KeepMessage::KeepMessage() {
  Attempt([] { PeekMessage(); });
}

KeepMessage::~KeepMessage() { TakeMessage(); }

}  // namespace openaclnn::capture

const char* aclGetRecentErrMsg() {
  using openaclnn::capture::given;
  using openaclnn::capture::kept;
  if (const char* const newer = openaclnn::capture::TakeMessage()) {
    kept.clear();
    return newer;
  }
  if (kept.empty()) return nullptr;
  given = std::exchange(kept, {});
  return given.c_str();
}
