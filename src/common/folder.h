// SPDX-License-Identifier: Apache-2.0
// Folders of files that the libraries write: where names lead, and who may look into new ones.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace openaclnn {

/// The folder that is current now; empty where that cannot be told.
inline std::string CurrentFolder() {
  std::error_code error;
  const auto folder = std::filesystem::current_path(error);
  return error ? "" : folder.string();
}

/// The name from the root, as it is meant in that folder: the program may change its directory
/// before there is something to write.
inline std::string FromRoot(const std::string& name, const std::string& folder = CurrentFolder()) {
  return name.empty() || name[0] == '/' || folder.empty() ? name : folder + "/" + name;
}

/// Makes the folder and those above it, where they are not there. Their mode is this one also where
/// the program's umask would let everybody in. Who cannot make them sees it when he opens a file.
inline void MakeFolders(const std::string& path, mode_t mode) {
  for (size_t end = path.find('/', 1); end != path.npos; end = path.find('/', end + 1)) {
    mkdir(path.substr(0, end).c_str(), mode);
  }
  mkdir(path.c_str(), mode);
}

}  // namespace openaclnn
