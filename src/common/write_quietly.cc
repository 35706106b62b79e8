// SPDX-License-Identifier: Apache-2.0
// Writes that raise no signal: SIGPIPE and SIGXFSZ are blocked meanwhile, and a raised one is
// removed.
#include "common/write_quietly.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "common/uncancelled.h"

namespace openaclnn {
namespace {

/// Blocks both signals for the calling thread, in a scope.
class Blocked {
 public:
  Blocked() {
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &ours, &before_);
    // A signal can be pending already only if the program has blocked it. Otherwise the system call
    // is saved.
    sigemptyset(&pending_);
    if (WasBlocked(SIGPIPE) || WasBlocked(SIGXFSZ)) sigpending(&pending_);
  }
  Blocked(const Blocked&) = delete;
  ~Blocked() {
    if (WasBlocked(SIGPIPE) && WasBlocked(SIGXFSZ)) return;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  /// Removes the signal that a call with this error has raised. Leaves the error in errno.
  void Take(int error) const {
    if (error == EPIPE) TakeSignal(SIGPIPE);
    if (error == EFBIG) TakeSignal(SIGXFSZ);
    errno = error;
  }

 private:
  bool WasBlocked(int signal) const { return sigismember(&before_, signal) == 1; }

  /// Removes a pending signal, unless it was pending before: then it is the program's.
  void TakeSignal(int signal) const {
    if (sigismember(&pending_, signal) == 1) return;
    constexpr timespec kNow = {0, 0};
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    sigtimedwait(&one, nullptr, &kNow);
  }

  const Uncancelled whole_;  // cancellation would throw, and reports come from noexcept code
  sigset_t pending_, before_;
};

/// Writes all of the text. `write` gets the rest of it and returns the bytes written, as write(2).
template <class Write>
bool WriteAll(std::string_view text, const Write& write) {
  const Blocked blocked;
  while (!text.empty()) {
    const ssize_t written = write(text);
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
    if (written > 0 || (written < 0 && errno == EINTR)) continue;
    blocked.Take(written == 0 ? EIO : errno);  // a file that takes 0 bytes may do so for ever
    return false;
  }
  return true;
}

}  // namespace

bool WriteQuietly(int descriptor, std::string_view text) noexcept {
  return WriteAll(text, [descriptor](std::string_view left) {
    return write(descriptor, left.data(), left.size());
  });
}

bool WriteQuietly(int descriptor, std::string_view text, off_t place) noexcept {
  return WriteAll(text, [&](std::string_view left) {
    const auto done = static_cast<off_t>(text.size() - left.size());
    return pwrite(descriptor, left.data(), left.size(), place + done);
  });
}

bool ResizeQuietly(int descriptor, off_t bytes) noexcept {
  const Blocked blocked;
  if (ftruncate(descriptor, bytes) == 0) return true;
  blocked.Take(errno);
  return false;
}

}  // namespace openaclnn
