// SPDX-License-Identifier: Apache-2.0
// The functions that a library exports for clients.
#pragma once

#include <fstream>
#include <set>
#include <string>

namespace openaclnn {

/// Those that the public headers declare, for libopapi.so; else those that exports.map lists.
inline std::set<std::string> ExportsOf(const std::string& library) {
  std::set<std::string> exports;
  if (library == "opapi") {
    std::ifstream declared(OPENACLNN_DECLARED_EXPORTS);
    for (std::string line; std::getline(declared, line);) exports.insert(line);
    return exports;
  }
  std::ifstream map(OPENACLNN_SOURCE_DIR "/src/" + library + "/exports.map");
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

/// Those of libascendcl.so that refuse every call, as unsupported.inc lists them; those that give
/// `nothing`, which have no code to return, or the others.
inline std::set<std::string> RefusingFunctions(bool nothing) {
  std::set<std::string> functions;
  std::ifstream list(OPENACLNN_SOURCE_DIR "/src/ascendcl/api/unsupported.inc");
  for (std::string line; std::getline(list, line);) {
    const size_t open = line.find('(');
    if (!line.starts_with("UNSUPPORTED") || open == std::string::npos) continue;
    if (line.starts_with("UNSUPPORTED_NOTHING") != nothing) continue;
    functions.insert(line.substr(open + 1, line.find_first_of("),", open) - open - 1));
  }
  return functions;
}

/// All of them.
inline std::set<std::string> RefusingFunctions() {
  std::set<std::string> functions = RefusingFunctions(true);
  functions.merge(RefusingFunctions(false));
  return functions;
}

}  // namespace openaclnn
