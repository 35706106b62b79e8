// SPDX-License-Identifier: Apache-2.0
// JSON as text: numbers and texts as nlohmann::json writes them.
#include "openaclnn_capture/json_text.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/text.h"

namespace openaclnn::capture {
namespace {

using Json = nlohmann::json;

std::string Enclose(char first, const std::vector<std::string>& parts, char last,
                    std::string_view line) {
  std::string text(1, first);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += line.empty() ? ", " : ",";
    text += line;
    text += parts[i];
  }
  if (!parts.empty() && !line.empty()) text += line.substr(0, line.size() - 1);
  return text + last;
}

}  // namespace

// A text or a number has nothing in it that would be destroyed.
std::string Quote(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Real(double value) {
  if (std::isfinite(value)) return Json(value).dump();
  return Quote(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

std::string JsonObject(std::initializer_list<Member> members, std::string_view line) {
  std::vector<std::string> parts;
  for (const Member& member : members) {
    parts.push_back(Concat(Quote(member.name), ": ", member.value));
  }
  return Enclose('{', parts, '}', line);
}

std::string JsonList(const std::vector<std::string>& values, std::string_view line) {
  return Enclose('[', values, ']', line);
}

}  // namespace openaclnn::capture
