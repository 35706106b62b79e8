// SPDX-License-Identifier: Apache-2.0
// Look-up in the table of error codes, and the table as JSON for the tool and the documentation.
#include "ascendcl/report/error_table.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace openaclnn {
namespace {

// The meaning of a message's prefix, whichever code comes with it.
struct PrefixEntry {
  const char* prefix;  // x is any digit
  const char* meaning;
  const char* action;
};

constexpr bool kReturned = true;
constexpr bool kNeverReturned = false;

#include "ascendcl/report/error_table.inc"

constexpr int kInternalError = 500000;

constexpr const ErrorEntry* NotBefore(int code) {
  return std::ranges::lower_bound(kErrors, code, {}, &ErrorEntry::code);
}

constexpr const ErrorEntry& Row(int code) {
  const ErrorEntry* found = NotBefore(code);
  return found != std::end(kErrors) && found->code == code ? *found : *NotBefore(kInternalError);
}

constexpr bool RowsAscend() {
  return std::ranges::adjacent_find(kErrors, std::ranges::greater_equal(), &ErrorEntry::code) ==
         std::end(kErrors);
}

constexpr bool PrefixesAscend() {
  const auto text = [](const PrefixEntry& entry) { return std::string_view(entry.prefix); };
  return std::ranges::adjacent_find(kPrefixes, std::ranges::greater_equal(), text) ==
         std::end(kPrefixes);
}

// A message that is written must begin with a prefix that has no place-holder.
constexpr bool ReturnedRowsHavePrefix() {
  return std::ranges::all_of(kErrors, [](const ErrorEntry& entry) {
    const std::string_view prefix = entry.prefix;
    return !entry.returned || entry.code == 0 || (prefix.size() == 6 && !prefix.ends_with('x'));
  });
}

static_assert(RowsAscend());
static_assert(PrefixesAscend());
static_assert(ReturnedRowsHavePrefix());
static_assert(Row(561103).code == 561103 && Row(-1).code == kInternalError);

std::vector<std::string> Words(const char* text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

std::span<const ErrorEntry> ErrorTable() { return kErrors; }

const ErrorEntry& FindError(int code) { return Row(code); }

std::string DescribeErrors() {
  nlohmann::ordered_json codes, prefixes;
  for (const ErrorEntry& entry : ErrorTable()) {
    codes.push_back({{"code", entry.code},
                     {"name", entry.name},
                     {"aliases", Words(entry.aliases)},
                     {"prefix", entry.prefix},
                     {"returned", entry.returned},
                     {"meaning", entry.meaning},
                     {"action", entry.action}});
  }
  for (const PrefixEntry& entry : kPrefixes) {
    prefixes.push_back(
        {{"prefix", entry.prefix}, {"meaning", entry.meaning}, {"action", entry.action}});
  }
  return nlohmann::ordered_json({{"codes", codes}, {"prefixes", prefixes}}).dump();
}

}  // namespace openaclnn
