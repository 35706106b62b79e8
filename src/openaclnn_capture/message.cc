// SPDX-License-Identifier: Apache-2.0
// Stands in front of aclGetRecentErrMsg.
#include "openaclnn_capture/message.h"

#include <utility>

#include "acl/acl.h"
#include "openaclnn_capture/next.h"
#include "openaclnn_capture/settings.h"

namespace openaclnn::capture {
namespace {

/// The texts of a thread that had an error. Never destroyed: destructors of the program may still
/// ask.
struct Texts {
  std::string kept;   // was read here, and the program has not asked since
  std::string given;  // what the program was given last
};
thread_local Texts* t_texts = nullptr;

Texts& Mine() {
  if (t_texts == nullptr) t_texts = new Texts;
  return *t_texts;
}

/// Takes the libraries' message, or null.
const char* TakeMessage() {
  const auto next = NEXT(aclGetRecentErrMsg);
  return next == nullptr ? nullptr : next();
}

}  // namespace

std::string PeekMessage() {
  if (const char* const newer = TakeMessage()) Mine().kept = newer;
  return t_texts == nullptr ? std::string() : t_texts->kept;
}

KeepMessage::KeepMessage() {
  Attempt([] { PeekMessage(); });
}

KeepMessage::~KeepMessage() { TakeMessage(); }

}  // namespace openaclnn::capture

const char* aclGetRecentErrMsg() {
  const char* const newer = openaclnn::capture::TakeMessage();
  openaclnn::capture::Texts* const mine = openaclnn::capture::t_texts;
  if (mine == nullptr) return newer;
  mine->given = std::exchange(mine->kept, {});
  if (newer != nullptr || mine->given.empty()) return newer;
  return mine->given.c_str();
}
