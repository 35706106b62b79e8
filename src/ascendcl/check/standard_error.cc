// SPDX-License-Identifier: Apache-2.0
// Standard error: whole texts, and no signal where nobody reads them.
#include "ascendcl/check/standard_error.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace openaclnn {

void WriteToStandardError(std::string_view text) noexcept {
  const int error = errno;
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigemptyset(&pending);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
    if (written >= 0 || errno == EINTR) continue;
    constexpr timespec kNow = {0, 0};
    if (errno == EPIPE && !was_pending) sigtimedwait(&pipe, nullptr, &kNow);
    break;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
}

}  // namespace openaclnn
