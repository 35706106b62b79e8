// SPDX-License-Identifier: Apache-2.0
// Writing without signals: they are blocked meanwhile, and those that came of it are taken.
#include "common/write_quietly.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "common/uncancelled.h"

namespace openaclnn {
namespace {

/// Blocks the signal for the calling thread, in a scope.
class Blocked {
 public:
  Blocked() {
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &ours, &before_);
    // None of the program's waits but where it was blocked before: mostly there is no need to ask.
    sigemptyset(&pending_);
    if (WasBlocked(SIGPIPE) || WasBlocked(SIGXFSZ)) sigpending(&pending_);
  }
  Blocked(const Blocked&) = delete;
  ~Blocked() {
    if (WasBlocked(SIGPIPE) && WasBlocked(SIGXFSZ)) return;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  /// Takes the signal of a call that failed so, and leaves the error in errno.
  void Take(int error) const {
    if (error == EPIPE) TakeSignal(SIGPIPE);
    if (error == EFBIG) TakeSignal(SIGXFSZ);
    errno = error;
  }

 private:
  bool WasBlocked(int signal) const { return sigismember(&before_, signal) == 1; }

  /// Unless the program had one that waited.
  void TakeSignal(int signal) const {
    if (sigismember(&pending_, signal) == 1) return;
    constexpr timespec kNow = {0, 0};
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    sigtimedwait(&one, nullptr, &kNow);
  }

  const Uncancelled whole_;  // a report comes from where nothing may be thrown
  sigset_t pending_, before_;
};

/// `write` takes what is left, and returns what of it was written, as the system's call.
template <class Write>
bool WriteAll(std::string_view text, const Write& write) {
  const Blocked blocked;
  while (!text.empty()) {
    const ssize_t written = write(text);
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
    if (written > 0 || (written < 0 && errno == EINTR)) continue;
    blocked.Take(written == 0 ? EIO : errno);  // what takes nothing might do so for ever
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
