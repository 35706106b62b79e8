// SPDX-License-Identifier: Apache-2.0
// JSON as text, made from the inside out. A document of nlohmann::json needs memory to be destroyed
// and cannot say that there is none: it would end the program.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace openaclnn::capture {

/// A text in quotes; what is not UTF-8 is replaced.
std::string Quote(std::string_view text);

/// A number. JSON has no infinities and no NaN: those are texts.
std::string Real(double value);

struct Member {
  std::string_view name;
  std::string value;  // JSON
};

/// Members, or values, are on one line, unless `line` begins one for each: "\n" and what indents
/// it.
std::string JsonObject(std::initializer_list<Member> members, std::string_view line = {});
std::string JsonList(const std::vector<std::string>& values, std::string_view line = {});

/// A list of what `make` makes of each value.
template <class Values, class Make>
std::string JsonListOf(const Values& values, const Make& make, std::string_view line = {}) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const auto& value : values) texts.push_back(make(value));
  return JsonList(texts, line);
}

}  // namespace openaclnn::capture
