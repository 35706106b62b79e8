// SPDX-License-Identifier: Apache-2.0
// Results of HCCL for failures of UCX.
#pragma once

#include <sys/statvfs.h>
#include <ucp/api/ucp.h>

#include <cstdint>

#include "common/status.h"
#include "hccl/hccl_types.h"

namespace openaclnn {

inline Status UcxFailed(const char* function, ucs_status_t status) {
  return Status(HCCL_E_NETWORK, Concat("UCX's ", function, " gives ", static_cast<int>(status),
                                       ", expected 0: see UCX_LOG_LEVEL=info, UCX_TLS, "
                                       "UCX_NET_DEVICES"));
}

/// UCX says nothing of why: where its segments do not fit, a file system says how much does.
inline Status NoWorker(ucs_status_t status) {
  struct statvfs shared {};
  if (statvfs("/dev/shm", &shared) != 0) return UcxFailed("ucp_worker_create", status);
  return Status(
      HCCL_E_NETWORK,
      Concat("UCX's ucp_worker_create gives ", static_cast<int>(status), " and /dev/shm has ",
             uint64_t{shared.f_bavail} * shared.f_frsize, " bytes free, expected 0 and, ",
             "for each communicator of a rank, some 4.2 MB (docker: --shm-size), or ",
             "UCX_TLS=tcp,self: see UCX_LOG_LEVEL=info"));
}

}  // namespace openaclnn
