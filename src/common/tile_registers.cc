// SPDX-License-Identifier: Apache-2.0
// The tile registers: the one request of a process. Children of fork inherit what it was told.
#include "common/tile_registers.h"

#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace openaclnn {
namespace {

bool Ask() {
#if defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // the state component XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace

bool HasTileRegisters() {
  static const bool has = Ask();
  return has;
}

}  // namespace openaclnn
