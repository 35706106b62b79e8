// SPDX-License-Identifier: Apache-2.0
// Unknown variables: the table of those that are known, and which of them a name is like.
#include "ascendcl/report/unknown_variable.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "ascendcl/report/error.h"
#include "ascendcl/report/log.h"
#include "ascendcl/report/standard_error.h"

namespace openaclnn {
namespace {

constexpr std::string_view kPrefix = "OPENACLNN_";
constexpr std::string_view kOfTests = "OPENACLNN_TEST_";

// Whatever reads them: the libraries, the tool, `make`.
constexpr std::string_view kKnown[] = {
    "OPENACLNN_BENCH_PYTHON",
    "OPENACLNN_CAPTURE",
    "OPENACLNN_CAPTURE_CALL",
    "OPENACLNN_CAPTURE_OPERATOR",
    "OPENACLNN_CHECK",
    "OPENACLNN_CHECK_JSON",
    "OPENACLNN_DEVICE_COUNT",
    "OPENACLNN_DEVICE_MEMORY",
    "OPENACLNN_GUARD_PAGES",
    "OPENACLNN_HOME",
    "OPENACLNN_HOST_ACCESS",
    "OPENACLNN_NUM_THREADS",
    "OPENACLNN_PRODUCTS",
    "OPENACLNN_PYTHON",
    "OPENACLNN_REPORT_API_ERRORS",
    "OPENACLNN_SIMD",
    "OPENACLNN_SKIP_PACKAGES",
    "OPENACLNN_SOC",
    "OPENACLNN_TRACE",
};

/// Letters to insert, drop or replace in one to have the other.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

std::string_view NearestTo(std::string_view name) {
  constexpr size_t kLongest = 64;  // of a longer name the beginning is enough
  const std::string_view part = name.substr(0, kLongest);
  return *std::min_element(std::begin(kKnown), std::end(kKnown),
                           [&](auto a, auto b) { return Distance(part, a) < Distance(part, b); });
}

}  // namespace

std::vector<UnknownVariable> UnknownVariables() {
  std::vector<UnknownVariable> unknown;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with(kPrefix) || name.starts_with(kOfTests)) continue;
    if (std::find(std::begin(kKnown), std::end(kKnown), name) != std::end(kKnown)) continue;
    unknown.push_back({std::string(name), NearestTo(name)});
  }
  return unknown;
}

std::string TextOf(const UnknownVariable& variable) {
  return Concat("environment variable ", Escaped{variable.name},
                " is none that openaclnn reads; the nearest that it reads is ", variable.nearest);
}

void TellUnknownVariables(bool mistakes_are_told) {
  static std::atomic<bool> told{false};
  for (const UnknownVariable& variable : UnknownVariables()) {
    const std::string text = TextOf(variable);
    Log(LogModule::kAscendcl, LogLevel::kWarning, text);
    if (mistakes_are_told && !told) WriteToStandardError(Concat("openaclnn: ", text, "\n"));
  }
  if (mistakes_are_told) told = true;
}

}  // namespace openaclnn

/// Sentences about them as a list of JSON, for the command-line tool; null when memory is short.
/// The text lives until the thread's next call. No call of a trace: the tool asks before the
/// program begins that a trace is of.
extern "C" __attribute__((visibility("default"))) const char* openaclnn_unknown_variables_json() {
  static thread_local std::string text;
  text.clear();
  (void)openaclnn::Guard([] {
    auto list = nlohmann::json::array();
    for (const auto& each : openaclnn::UnknownVariables()) list.push_back(openaclnn::TextOf(each));
    text = list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return openaclnn::Status();
  });
  return text.empty() ? nullptr : text.c_str();
}
