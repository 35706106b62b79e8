// SPDX-License-Identifier: Apache-2.0
// libhcomm.so: groups of messages, which libhccl.so keeps.
#include "hccl/hccl.h"
#include "hccl/interface.h"

HcclResult HcclGroupStart() { return static_cast<HcclResult>(openaclnn_hccl_group(1)); }

HcclResult HcclGroupEnd() { return static_cast<HcclResult>(openaclnn_hccl_group(0)); }
