// SPDX-License-Identifier: Apache-2.0
// Asks the kernel how much memory there is: sysconf would not say that it was refused an answer.
#include "ascendcl/process/usable_memory.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "acl/acl.h"
#include "ascendcl/process/control_group.h"
#include "common/text.h"

namespace openaclnn {

uint64_t TotalOf(std::istream& meminfo) {
  std::string name;
  while (meminfo >> name) {
    uint64_t kilobytes = 0;
    if (name == "MemTotal:" && meminfo >> kilobytes) return kilobytes << 10;
    meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

Status UsableMemory(uint64_t* bytes) {
  struct sysinfo found = {};
  const int refused = sysinfo(&found) == 0 ? 0 : errno;
  *bytes = uint64_t{found.totalram} * found.mem_unit;
  if (refused != 0) {
    std::ifstream meminfo("/proc/meminfo");
    *bytes = TotalOf(meminfo);
  }
  std::ifstream groups("/proc/self/cgroup");
  const uint64_t limit = ControlGroupLimit(groups, "/sys/fs/cgroup");
  *bytes = *bytes > 0 ? std::min(*bytes, limit) : limit;
  constexpr uint64_t kNoLimit = uint64_t{1} << 62;  // groups of version 1 have one of nearly 2^63
  if (*bytes < kNoLimit) return {};
  return Status(ACL_ERROR_RT_SOC_VERSION,
                Concat("memory of this machine is unknown: sysinfo fails (", std::strerror(refused),
                       ") and /proc/meminfo has no MemTotal, expected one of them, or "
                       "OPENACLNN_DEVICE_MEMORY to say how much a device has"));
}

}  // namespace openaclnn
