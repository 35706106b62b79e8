// SPDX-License-Identifier: Apache-2.0
// What the processes of processes_test.cc do whose machine has no room for UCX.
#include <sched.h>
#include <sys/mount.h>

#include "hccl/processes/role.h"

namespace openaclnn::ranks {
namespace {

/// The root's rank has a megabyte of /dev/shm; 77 where it may not.
int Cramped(uint32_t ranks, uint32_t rank) {
  const HcclRootInfo info = MeetBy(0, rank == 0);
  const bool may =
      rank != 0 || (unshare(CLONE_NEWNS) == 0 && mount("", "/", "", MS_REC | MS_PRIVATE, "") == 0 &&
                    mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=1m") == 0);
  if (!may) return 77;
  Start();
  HcclComm comm = nullptr;
  const HcclResult result = HcclCommInitRootInfo(ranks, &info, rank, &comm);
  std::fprintf(stderr, "%s\n", aclGetRecentErrMsg());
  return result;
}

const bool kEntered = [] {
  Roles().merge(std::map<std::string, Role>{{"cramped", Run<Cramped>}});
  return true;
}();

}  // namespace
}  // namespace openaclnn::ranks
