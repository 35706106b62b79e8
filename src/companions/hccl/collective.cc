// SPDX-License-Identifier: Apache-2.0
// libhccl.so, collective communication: every function refuses.
#include "ascendcl/unsupported.h"

namespace {

/// As HCCL spells "not supported".
constexpr int kNotSupported = 5;

}  // namespace

/// As UNSUPPORTED, with the code of this library.
#define REFUSE(name)                          \
  extern "C" ACL_FUNC_VISIBILITY int name() { \
    (void)openaclnn::Unsupported(#name);      \
    return kNotSupported;                     \
  }

REFUSE(HcclAllGather)
REFUSE(HcclAllReduce)
REFUSE(HcclAlltoAll)
REFUSE(HcclAlltoAllV)
REFUSE(HcclBarrier)
REFUSE(HcclBroadcast)
REFUSE(HcclCommDestroy)
REFUSE(HcclCommInitAll)
REFUSE(HcclCommInitClusterInfo)
REFUSE(HcclCommInitRootInfo)
REFUSE(HcclGetCommName)
REFUSE(HcclGetRankId)
REFUSE(HcclGetRankSize)
REFUSE(HcclGetRootInfo)
REFUSE(HcclRecv)
REFUSE(HcclReduce)
REFUSE(HcclReduceScatter)
REFUSE(HcclScatter)
REFUSE(HcclSend)
