// SPDX-License-Identifier: Apache-2.0
// The folder that a test program captures to.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace openaclnn {

/// Names one of this process's own for capturing, which reads the environment at the first call.
inline std::filesystem::path CaptureTo(const std::string& name) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / (name + "_" + std::to_string(getpid()));
  setenv("OPENACLNN_CAPTURE", folder.c_str(), 1);
  return folder;
}

}  // namespace openaclnn
