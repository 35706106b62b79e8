// SPDX-License-Identifier: Apache-2.0
// Standard error, as a handler of a signal may use it.
#include "ascendcl/report/standard_error.h"

#include <unistd.h>

#include <cerrno>

#include "common/write_quietly.h"

namespace openaclnn {

void WriteToStandardError(std::string_view text) noexcept {
  const int error = errno;
  (void)WriteQuietly(STDERR_FILENO, text);  // there is nobody else to tell
  errno = error;
}

}  // namespace openaclnn
