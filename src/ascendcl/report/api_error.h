// SPDX-License-Identifier: Apache-2.0
// API errors: reports of refused calls, where OPENACLNN_REPORT_API_ERRORS is explicit. They are for
// programs that do not look at the codes which they get.
#pragma once

#include <initializer_list>
#include <string_view>

namespace openaclnn {

/// aclFinalize has ended the runtime (true), or it is used anew. While it is ended the calls that
/// destroy what it has ended already are not mistakes: frameworks make them as their process exits.
void NoteRuntimeEnded(bool ended) noexcept;

/// Called when a call returns `code` with the message "<function>: <words>", given in parts.
/// Reports the call if the program made a mistake. These are not mistakes: an answer such as a
/// passed time limit, a lack of memory, a function that does not exist, and a call that
/// ApiErrorIsTold was for.
void NoteApiError(int code, std::initializer_list<std::string_view> words) noexcept;

/// The calling thread's call is about to be refused, and another check has reported why.
void ApiErrorIsTold() noexcept;

}  // namespace openaclnn
