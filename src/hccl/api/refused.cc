// SPDX-License-Identifier: Apache-2.0
// Functions that clients look for and that only refuse: zero copy, memory of windows, changes of
// network interfaces. HcclAllGatherV and HcclReduceScatterV are not here: where torch-npu finds
// them it calls them, and where it does not it broadcasts or reduces each part.
#include "ascendcl/unsupported.h"
#include "hccl/hccl_types.h"

/// As UNSUPPORTED, with the code of this library.
#define REFUSE(name)                          \
  extern "C" ACL_FUNC_VISIBILITY int name() { \
    (void)openaclnn::Unsupported(#name);      \
    return HCCL_E_NOT_SUPPORT;                \
  }

REFUSE(HcclAlltoAllVC)
REFUSE(HcclCommActivateCommMemory)
REFUSE(HcclCommDeactivateCommMemory)
REFUSE(HcclCommDeregister)
REFUSE(HcclCommExchangeMem)
REFUSE(HcclCommRegister)
REFUSE(HcclCommResume)
REFUSE(HcclCommSetMemoryRange)
REFUSE(HcclCommSuspend)
REFUSE(HcclCommUnsetMemoryRange)
REFUSE(HcclCommWorkingDevNicSet)
