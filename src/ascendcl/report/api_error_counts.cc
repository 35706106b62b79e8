// SPDX-License-Identifier: Apache-2.0
// Counts of API errors, one for each row of the table of codes.
#include "ascendcl/report/api_error_counts.h"

#include <atomic>
#include <cstdint>
#include <iterator>

#include "common/text.h"

namespace openaclnn {
namespace {

std::atomic<uint64_t> g_counts[512];  // more than the table has rows

}  // namespace

void CountApiError(const ErrorEntry& row) noexcept {
  const auto place = static_cast<size_t>(&row - ErrorTable().data());
  if (place < std::size(g_counts)) ++g_counts[place];
}

std::string TakeApiErrorCounts() {
  std::string json;
  for (size_t i = 0; i < ErrorTable().size() && i < std::size(g_counts); ++i) {
    const uint64_t count = g_counts[i].exchange(0);
    if (count == 0) continue;
    json += Concat(json.empty() ? "{" : ",", "\"", ErrorTable()[i].code, "\":", count);
  }
  return json.empty() ? json : json + "}";
}

}  // namespace openaclnn
