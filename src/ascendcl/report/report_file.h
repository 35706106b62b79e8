// SPDX-License-Identifier: Apache-2.0
// Report file: what OPENACLNN_CHECK_JSON asks for, a line of JSON for each finding.
#pragma once

#include <string_view>

namespace openaclnn {

/// Reads the variable anew, for aclInit, one thread at a time. A name is meant as seen from the
/// folder that is current now.
void ReloadReportFile() noexcept;

/// Whether anything is asked for.
bool HasReportFile() noexcept;

/// Appends the line, at once: several processes may have one file, parents and children of fork as
/// well. May be called by a handler of a signal.
void AppendToReportFile(std::string_view line) noexcept;

}  // namespace openaclnn
