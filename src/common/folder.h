// SPDX-License-Identifier: Apache-2.0
// Folders of files that the libraries write: where names lead.
#pragma once

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

}  // namespace openaclnn
