// SPDX-License-Identifier: Apache-2.0
// Counts what is open below the limit of the process.
#include "hccl/descriptors.h"

#include <dirent.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "hccl/hccl_types.h"
#include "hccl/socket.h"

namespace openaclnn {
namespace {

// As they were counted with UCX 1.13 over shared memory and TCP, on a machine of one interface and
// one of two: once for the process, three of UCX and that of the thread of messages; for a worker;
// for each interface of a worker, its socket and what it waits by; for each other rank one socket
// of the meeting and, over TCP, two while both sides connect.
constexpr uint64_t kOfProcess = 4;
constexpr uint64_t kOfWorker = 6;
constexpr uint64_t kOfInterface = 2;
constexpr uint64_t kOfPeer = 3;

/// False where that cannot be known.
bool CountOpen(uint64_t limit, uint64_t* open) {
  const auto close = [](DIR* folder) { closedir(folder); };
  const std::unique_ptr<DIR, decltype(close)> folder(opendir("/proc/self/fd"), close);
  *open = limit;
  if (folder == nullptr) return errno == EMFILE;
  *open = 0;
  while (const dirent* entry = readdir(folder.get())) {
    char* end = nullptr;
    const uint64_t number = std::strtoull(entry->d_name, &end, 10);
    if (end == entry->d_name || number >= limit) continue;
    if (number != static_cast<uint64_t>(dirfd(folder.get()))) ++*open;
  }
  return true;
}

}  // namespace

Status RequireDescriptors(uint32_t ranks) {
  rlimit limit{};
  uint64_t open = 0;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || !CountOpen(limit.rlim_cur, &open)) return {};
  const uint64_t free = limit.rlim_cur - open;
  const uint64_t needed =
      kOfProcess + kOfWorker + kOfInterface * CountInterfaces() + kOfPeer * (uint64_t{ranks} - 1);
  if (free >= needed) return {};
  return Status(HCCL_E_UNAVAIL,
                Concat("limit of descriptors (ulimit -n) is ", limit.rlim_cur, ", of which ", free,
                       " are free, expected ", needed, " free ones for UCX and a communicator of ",
                       ranks, " ranks"));
}

}  // namespace openaclnn
