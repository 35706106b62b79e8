// SPDX-License-Identifier: Apache-2.0
// Reports of programs that read or write device memory as if it were the host's.
#pragma once

namespace openaclnn {

/// From now on such a program gets a report on standard error that names the allocation. Then the
/// handler that it had for SIGSEGV runs, or the process ends by that signal, as without.
void WatchFaults();

/// The program's own handler is back, unless it has set another one meanwhile.
void UnwatchFaults();

}  // namespace openaclnn
