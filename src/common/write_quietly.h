// SPDX-License-Identifier: Apache-2.0
// Writing for reports, the log, traces and captures: whole texts, and no signal where they cannot
// be written; and sizes of files.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace openaclnn {

/// Writes the text; false, with errno, where not all of it could be. The program gets no SIGPIPE
/// where nobody reads, and no SIGXFSZ where a file may not be longer: it has not written. May be
/// called by a handler of a signal.
bool WriteQuietly(int descriptor, std::string_view text) noexcept;
/// Writes from a place in a file on.
bool WriteQuietly(int descriptor, std::string_view text, off_t place) noexcept;

/// Gives a file its size; false, with errno and no SIGXFSZ, where it cannot have it.
bool ResizeQuietly(int descriptor, off_t bytes) noexcept;

}  // namespace openaclnn
