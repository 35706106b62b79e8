// SPDX-License-Identifier: Apache-2.0
// Log: lines in the vendor's format, to files or standard output as the ASCEND_ variables say.
#pragma once

#include <string_view>

namespace openaclnn {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kNone };

/// The module that a line comes from; ASCEND_MODULE_LOG_LEVEL may set the level of each.
enum class LogModule { kAscendcl, kOp, kApp };

/// Whether a line would go anywhere: cheap, to be asked before a text is made.
bool LogEnabled(LogModule module, LogLevel level);

/// Writes one line. Never fails: what cannot be written is dropped.
void Log(LogModule module, LogLevel level, std::string_view text,
         const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// Reads the variables anew, for aclInit.
void ReloadLog();

}  // namespace openaclnn
