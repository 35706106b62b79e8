// SPDX-License-Identifier: Apache-2.0
// Standard error, where reports of checks go.
#pragma once

#include <string_view>

namespace openaclnn {

/// Writes all of the text, or what can be. May be called by a handler of a signal; where nobody
/// reads any more the program gets no SIGPIPE for it.
void WriteToStandardError(std::string_view text) noexcept;

}  // namespace openaclnn
