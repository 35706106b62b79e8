// SPDX-License-Identifier: Apache-2.0
// Descriptors: whether the process may open as many as are about to be, and above which numbers.
#pragma once

#include <cstdint>

#include "common/status.h"

namespace openaclnn {

/// Counts descriptors for a communicator between processes. HCCL_E_UNAVAIL, with the limit, where
/// they are too few: UCX 1.13 ends processes that have none left.
Status RequireDescriptors(uint32_t ranks);

/// While it lives nothing is opened under the number of a standard stream that the program has
/// closed, by whatever library: what it prints would go into a socket. To the program they look
/// closed still: reading and writing give EBADF.
class ClosedStreams {
 public:
  ClosedStreams();
  ClosedStreams(const ClosedStreams&) = delete;
  ~ClosedStreams();
};

}  // namespace openaclnn
