// SPDX-License-Identifier: Apache-2.0
// Unknown variables: names in the environment that begin as openaclnn's do and mean nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace openaclnn {

struct UnknownVariable {
  std::string name;
  std::string_view nearest;  // of those that are known
};

/// Those of the environment; OPENACLNN_TEST_ is left to tests.
std::vector<UnknownVariable> UnknownVariables();

/// As a sentence.
std::string TextOf(const UnknownVariable& variable);

/// Each is a warning of the log, and once for a process, where mistakes are told, a line on
/// standard error: a variable that does nothing is found by nobody otherwise.
void TellUnknownVariables(bool mistakes_are_told);

}  // namespace openaclnn
