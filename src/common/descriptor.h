// SPDX-License-Identifier: Apache-2.0
// Descriptors of files that the libraries open, beside those of the program.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace openaclnn {

/// The file under a number that is no standard stream's: where the program has closed one of those,
/// what it prints would go into our file. Negative stays negative.
inline int AboveStandard(int descriptor) {
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int above = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(descriptor);
  errno = error;
  return above;
}

/// open, for files that are written: above the standard streams, not kept over exec, and through no
/// link, which another user may have put into a folder that all share.
inline int OpenToWrite(const char* path, int flags, mode_t mode) {
  return AboveStandard(open(path, flags | O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode));
}

/// OpenToWrite for a plain file alone: negative, with errno, for what else has the name. Not
/// blocking: it might be a pipe that nobody reads.
inline int OpenPlainToWrite(const char* path, int flags, mode_t mode) {
  const int made = OpenToWrite(path, flags | O_NONBLOCK | O_NOCTTY, mode);
  struct stat facts = {};
  if (made < 0 || (fstat(made, &facts) == 0 && S_ISREG(facts.st_mode))) return made;
  close(made);
  errno = EINVAL;
  return -1;
}

/// Which file an open one is. Numbers of files that were removed are given again, with another
/// time of birth.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  int64_t born = 0;  // nanoseconds, where the file system tells

  bool operator==(const FileIdentity&) const = default;
};

/// False, with errno, if the descriptor is none.
inline bool Identify(int descriptor, FileIdentity* identity) {
  // Not fstat: who asks for the time of the last write makes the next write set them anew, which
  // takes as long as a short write (ext4, Linux 6.18: 0.2 us).
  struct statx facts = {};
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &facts) == 0) {
    const int64_t born = facts.stx_btime.tv_sec * 1'000'000'000 + facts.stx_btime.tv_nsec;
    *identity = {makedev(facts.stx_dev_major, facts.stx_dev_minor), facts.stx_ino, born};
    return true;
  }
  struct stat older = {};  // kernels before 4.11 have no statx, some containers forbid it
  if (fstat(descriptor, &older) != 0) return false;
  *identity = {older.st_dev, older.st_ino, 0};
  return true;
}

/// A file that stays open from call to call. A program may close all descriptors that it does not
/// know, as daemons do, and then its own next file gets the number: that one is neither written nor
/// closed.
class KeptFile {
 public:
  KeptFile() = default;
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;
  ~KeptFile() { Close(); }

  /// Takes the descriptor in place of what was kept; negative: none. Leaves errno.
  void Keep(int descriptor) {
    const int error = errno;
    Close();
    if (Identify(descriptor, &identity_)) descriptor_ = descriptor;
    errno = error;
  }

  void Close() {
    if (IsThere()) close(descriptor_);
    descriptor_ = -1;
  }

  /// Whether there is one, the program's doings aside.
  bool kept() const { return descriptor_ >= 0; }

  /// The number, for one use; negative, with errno, if it is none or another file's by now.
  int Descriptor() const {
    if (IsThere()) return descriptor_;
    errno = EBADF;
    return -1;
  }

 private:
  bool IsThere() const {
    FileIdentity now;
    return kept() && Identify(descriptor_, &now) && now == identity_;
  }

  int descriptor_ = -1;
  FileIdentity identity_;
};

}  // namespace openaclnn
