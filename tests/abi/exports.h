// SPDX-License-Identifier: Apache-2.0
// The functions that a library's exports.map lists for clients.
#pragma once

#include <fstream>
#include <set>
#include <string>

namespace openaclnn {

inline std::set<std::string> ExportsOf(const std::string& library) {
  std::ifstream map(OPENACLNN_SOURCE_DIR "/src/" + library + "/exports.map");
  std::set<std::string> exports;
  for (std::string line; std::getline(map, line);) {
    const size_t first = line.find_first_not_of(' '), last = line.find(';');
    if (line[0] == '#' || last == std::string::npos) continue;
    const std::string symbol = line.substr(first, last - first);
    // What begins like this is for the libraries and their own tools.
    if (symbol.starts_with("openaclnn_")) continue;
    if (symbol != "*" && symbol != "}") exports.insert(symbol);
  }
  return exports;
}

}  // namespace openaclnn
