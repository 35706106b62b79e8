// SPDX-License-Identifier: Apache-2.0
// Known wait: the calling thread's wait for operations, as the other waits of the runtime see it.
#pragma once

#include <memory>
#include <vector>

#include "common/status.h"
#include "hccl/communicator/communicator.h"
#include "hccl/communicator/held_stream.h"

namespace openaclnn {

class KnownWait {
 public:
  KnownWait() = default;
  KnownWait(const KnownWait&) = delete;
  ~KnownWait();

  /// Before the communicator is closed. HCCL_E_RUNTIME where one of its operations waits for a
  /// function that the calling thread is in or would have to run; most threads are in none, and
  /// need no memory for this.
  Status Begin(Communicator& communicator);

 private:
  Status BeginAll(Communicator& communicator);

  std::vector<std::shared_ptr<HeldStream>> streams_;
  std::vector<void*> waits_;
};

}  // namespace openaclnn
