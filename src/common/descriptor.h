// SPDX-License-Identifier: Apache-2.0
// Descriptors of files that the libraries open, beside those of the program.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

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

}  // namespace openaclnn
