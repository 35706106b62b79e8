// SPDX-License-Identifier: Apache-2.0
// The private C interface of libhccl.so that libhcomm.so stands on.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// HcclGroupStart (begin nonzero) and HcclGroupEnd of the calling thread, under those names.
__attribute__((visibility("default"))) int openaclnn_hccl_group(int begin);

#ifdef __cplusplus
}
#endif
