// SPDX-License-Identifier: Apache-2.0
// The table of error codes and the thread's recent error.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace openaclnn {

/// One row of the table.
struct ErrorEntry {
  int code;
  const char* name;     // as the headers spell it
  const char* aliases;  // its further names, separated by spaces
  const char* prefix;   // what the vendor's messages for it begin with; x is any digit
  bool returned;        // by openaclnn; other codes only come from other libraries
  const char* meaning;  // one sentence
  const char* action;   // what to do about it
};

/// All rows, sorted by code.
std::span<const ErrorEntry> ErrorTable();

/// The row of a code; for a code without one, the row of internal errors.
const ErrorEntry& FindError(int code);

/// The table as JSON.
std::string DescribeErrors();

/// Makes `<prefix>: <text>` the thread's recent message and `code` its last error; the text is that
/// of all parts. Where memory is short, it is cut to what the thread has room for.
void RecordError(int code, std::initializer_list<std::string_view> parts) noexcept;

/// Makes `<prefix>: <text>` the thread's recent message, and nothing else.
void RecordMessage(const char* prefix, std::initializer_list<std::string_view> parts) noexcept;

/// A line of the log about a failure: its code, and the parts as one text.
void LogFailure(int code, std::initializer_list<std::string_view> parts) noexcept;

}  // namespace openaclnn
