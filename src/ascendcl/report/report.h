// SPDX-License-Identifier: Apache-2.0
// Reports of mistakes: what every check tells, in one format, and how much it found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ascendcl/process/bounded_text.h"
#include "ascendcl/report/running_task.h"

namespace openaclnn {

/// The check that has found it. The words are those of compute-sanitizer's tools; for the last one
/// it has no word.
enum class Check { kMemcheck, kRacecheck, kInitcheck, kSynccheck, kApicheck };

/// An error is told on standard error and counted; a warning, and a leak, go to the log and the
/// file alone.
enum class Severity { kWarning, kLeak, kError };

/// A mistake of the program. Texts may have several lines; of empty ones nothing is said.
struct Finding {
  Check check = Check::kMemcheck;
  std::string title;  // what is wrong
  std::string what;   // the calls and their operands
  std::string where;  // the bytes and their allocation (place.h)
  std::string fix;    // what would mend it
  int code = 0;       // the documented aclError of such a mistake, if there is one
  Severity severity = Severity::kError;
};

/// Counts an error. Whether it is to be told: the first that has this key, and not too many before.
/// Asked apart where the texts cost more than the key.
bool CountFinding(Check check, std::string_view key) noexcept;

/// A key of words: the same mistake in a loop differs in addresses and counts.
std::string WithoutNumbers(std::string_view words);

/// Tells it: a report on standard error, a line of the log, one of OPENACLNN_CHECK_JSON's file, and
/// what aclGetRecentErrMsg returns to the calling thread; in a task, to the thread that
/// synchronises next. It makes no call fail; one that fails for it has words of its own there. Call
/// it without a lock of the runtime's held.
void TellFinding(const Finding& finding) noexcept;

/// Makes a task's finding, if there is any, the calling thread's message.
void TellAgain(const TaskFinding& found) noexcept;

/// CountFinding, by the texts, and TellFinding.
void ReportFinding(const Finding& finding) noexcept;

/// A finding of a handler of signals.
struct FindingView {
  Check check;
  std::string_view title, what, where, fix;
  int code;
  Severity severity;
};
/// As ReportFinding, but without what takes memory or locks: the log, the message, and the rule
/// that the same is told once.
void ReportFromHandler(const FindingView& finding) noexcept;

/// Says on standard error and in the file how many errors there were, if any, and counts anew.
void SummariseFindings() noexcept;

}  // namespace openaclnn
