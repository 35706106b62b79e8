// SPDX-License-Identifier: Apache-2.0
// Walks an operator's documented checks: each alone, and every pair, of which the earlier wins.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/call.h"

namespace openaclnn::test {

/// One check: how to break it in a call that is right, and what the refusal says.
template <class Spec>
struct CheckRow {
  std::string got;       // "<operand> <property> is <got>"
  std::string expected;  // how the part after ", expected " begins
  int code;
  std::function<void(Spec*)> breaks;
};

/// Prefix of a code in aclGetRecentErrMsg.
inline std::string_view CodePrefix(int code) {
  switch (code) {
    case 107017:
      return "EE1003: ";
    case 161001:
    case 161002:
      return "EZ1001: ";
    case 507035:
      return "EZ2001: ";
    default:
      return "EZ9999: ";
  }
}

/// "<prefix>: <api>: <got>…, expected <expected>…", with the code; outputs of phase 1 untouched.
inline void ExpectRefused(const Planned& planned, std::string_view api, int code,
                          std::string_view got, std::string_view expected = "") {
  const std::string& message = planned.outcome().message;
  const std::string begin = std::string(CodePrefix(code)).append(api).append(": ").append(got);
  EXPECT_EQ(planned.outcome().code, code) << message;
  EXPECT_EQ(message.substr(0, begin.size()), begin) << message;
  const std::string wanted = std::string(", expected ").append(expected);
  EXPECT_NE(message.find(wanted), std::string::npos) << message << " lacks " << wanted;
  EXPECT_TRUE(planned.untouched()) << message;
}

/// What synchronise says of a task that failed: "<prefix>: … <api>: <text>".
inline void ExpectTaskError(const Outcome& outcome, std::string_view api, std::string_view text) {
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_EQ(outcome.message.substr(0, 8), CodePrefix(507035)) << outcome.message;
  const std::string end = std::string(" ").append(api).append(": ").append(text);
  EXPECT_TRUE(outcome.message.ends_with(end)) << outcome.message << " lacks" << end;
}

/// "grad dtype is" of "grad dtype is INT8".
inline std::string_view OperandAndProperty(std::string_view got) {
  return got.substr(0, got.find(" is ") + 4);
}

template <class Spec>
void ExpectEachRow(std::string_view api, const Spec& good,
                   const std::vector<CheckRow<Spec>>& rows) {
  EXPECT_EQ(Plan(good).outcome().message, "");
  for (const CheckRow<Spec>& row : rows) {
    SCOPED_TRACE(row.got);
    Spec spec = good;
    row.breaks(&spec);
    ExpectRefused(Plan(spec), api, row.code, row.got, row.expected);
  }
}

/// The earlier row is broken last, so that what it says holds whatever the later one did.
template <class Spec>
void ExpectEarlierWins(std::string_view api, const Spec& good,
                       const std::vector<CheckRow<Spec>>& rows) {
  for (size_t later = 1; later < rows.size(); ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier) {
      SCOPED_TRACE(rows[earlier].got + " before " + rows[later].got);
      Spec spec = good;
      rows[later].breaks(&spec);
      rows[earlier].breaks(&spec);
      ExpectRefused(Plan(spec), api, rows[earlier].code, OperandAndProperty(rows[earlier].got));
    }
  }
}

}  // namespace openaclnn::test
