// SPDX-License-Identifier: Apache-2.0
// Reads the memory limits of the process's control groups, versions 2 and 1.
#include "ascendcl/process/control_group.h"

#include <algorithm>
#include <fstream>
#include <string_view>

namespace openaclnn {
namespace {

/// Reads the limit of the file; "max", no file and 0 are no limit.
uint64_t ReadLimit(const std::string& path) {
  std::ifstream file(path);
  uint64_t limit = 0;
  return file >> limit && limit > 0 ? limit : UINT64_MAX;
}

/// The group and its parents, the root with them: in a container the path may be the host's, of
/// which only the root is to be seen.
uint64_t SmallestUpwards(const std::string& root, std::string_view group, const char* file) {
  uint64_t smallest = UINT64_MAX;
  while (true) {
    while (group.ends_with('/')) group.remove_suffix(1);
    smallest = std::min(smallest, ReadLimit(root + std::string(group) + '/' + file));
    if (group.empty()) return smallest;
    group = group.substr(0, std::min(group.rfind('/'), group.size() - 1));
  }
}

bool Lists(std::string_view controllers, std::string_view wanted) {
  while (true) {
    const size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == wanted) return true;
    if (comma == std::string_view::npos) return false;
    controllers.remove_prefix(comma + 1);
  }
}

}  // namespace

uint64_t ControlGroupLimit(std::istream& groups, const std::string& root) {
  constexpr const char* kVersion1 = "memory.limit_in_bytes";
  constexpr const char* kVersion2 = "memory.max";
  uint64_t smallest =
      std::min(ReadLimit(root + '/' + kVersion2), ReadLimit(root + "/memory/" + kVersion1));
  // <number>:<controllers>:<path>; version 2 is number 0 without controllers.
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first != std::string::npos ? line.find(':', first + 1) : first;
    if (second == std::string::npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    const std::string_view path = std::string_view(line).substr(second + 1);
    if (controllers.empty()) {
      smallest = std::min(smallest, SmallestUpwards(root, path, kVersion2));
    } else if (Lists(controllers, "memory")) {
      smallest = std::min(smallest, SmallestUpwards(root + "/memory", path, kVersion1));
    }
  }
  return smallest;
}

}  // namespace openaclnn
