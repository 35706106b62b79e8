// SPDX-License-Identifier: Apache-2.0
// Counts what is open below the limit of the process, and occupies numbers of standard streams.
#include "hccl/engine/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "common/hold_during_fork.h"
#include "hccl/hccl_types.h"
#include "hccl/rendezvous/socket.h"

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

std::mutex g_mutex;  // guards what follows
int g_occupants = 0;
bool g_occupied[STDERR_FILENO + 1] = {};

std::mutex& Mutex() { return g_mutex; }
[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();

}  // namespace

ClosedStreams::ClosedStreams() {
  std::lock_guard lock(g_mutex);
  ++g_occupants;
  while (true) {
    const int lowest = open("/", O_PATH | O_CLOEXEC);
    if (lowest < 0) return;
    if (lowest > STDERR_FILENO) {
      close(lowest);
      return;
    }
    g_occupied[lowest] = true;
  }
}

// A descriptor that the program itself has put there meanwhile stays.
ClosedStreams::~ClosedStreams() {
  std::lock_guard lock(g_mutex);
  if (--g_occupants > 0) return;
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (!std::exchange(g_occupied[standard], false)) continue;
    const int flags = fcntl(standard, F_GETFL);
    if (flags >= 0 && (flags & O_PATH) != 0) close(standard);
  }
}

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
