// SPDX-License-Identifier: Apache-2.0
// Control groups: how much memory they let this process use.
#pragma once

#include <cstdint>
#include <istream>
#include <string>

namespace openaclnn {

/// The smallest memory limit among the process's own groups and all above them, in bytes;
/// UINT64_MAX without one. `groups` reads as /proc/self/cgroup, `root` is where their file system
/// (version 2, or version 1 with a folder for each controller) is mounted.
uint64_t ControlGroupLimit(std::istream& groups, const std::string& root);

}  // namespace openaclnn
