// SPDX-License-Identifier: Apache-2.0
// The functions that public headers declare, with those of their arguments that are addresses.
#pragma once

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace openaclnn {

/// By the function's name, the names of its arguments that are pointers or handles. Of operators
/// text is left out: it names a method or a layout, or may be null.
using DeclaredPointers = std::map<std::string, std::vector<std::string>>;

namespace declared_detail {

inline bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

inline bool IsPointer(const std::string& argument) {
  if (argument.find_first_of("*[") != std::string::npos) return true;
  for (const char* type : {"aclrtStream", "aclrtEvent", "aclrtContext", "aclrtDrvMemHandle",
                           "aclrtCallback", "aclrtHostFunc"}) {
    const std::string begin = std::string(type) + ' ';
    if (argument.find(begin) != std::string::npos) return true;
  }
  return false;
}

/// The last word, brackets aside.
inline std::string NameOf(std::string argument) {
  argument.resize(std::min(argument.find('['), argument.size()));
  while (!argument.empty() && !IsNameCharacter(argument.back())) argument.pop_back();
  size_t begin = argument.size();
  while (begin > 0 && IsNameCharacter(argument[begin - 1])) --begin;
  return argument.substr(begin);
}

/// Of "type name(arguments)", whose arguments have no parentheses of their own.
inline void AddDeclaration(const std::string& text, DeclaredPointers* declared) {
  const size_t open = text.find('('), close = text.find(')', open);
  if (close == std::string::npos) return;
  const std::string name = NameOf(text.substr(0, open));
  // GetWorkspaceSize, and GetMaxWorkspaceSize of those that have it.
  const bool is_operator = name.starts_with("aclnn") && name.ends_with("WorkspaceSize");
  std::vector<std::string>& pointers = (*declared)[name];
  for (size_t at = open + 1; at < close;) {
    const size_t end = std::min(text.find(',', at), close);
    const std::string argument = text.substr(at, end - at);
    const bool is_text = is_operator && argument.find("char*") != std::string::npos;
    if (IsPointer(argument) && !is_text) pointers.push_back(NameOf(argument));
    at = end + 1;
  }
}

}  // namespace declared_detail

/// Of all headers in the folders.
inline DeclaredPointers ReadDeclarations(std::initializer_list<const char*> folders) {
  constexpr char kMark[] = "\nACL_FUNC_VISIBILITY ";
  DeclaredPointers declared;
  for (const char* folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".h") continue;
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at)) {
        at += sizeof(kMark) - 1;
        declared_detail::AddDeclaration(text.substr(at, text.find(';', at) - at), &declared);
      }
    }
  }
  return declared;
}

}  // namespace openaclnn
