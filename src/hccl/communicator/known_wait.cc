// SPDX-License-Identifier: Apache-2.0
// Known wait: asks the runtime for each stream that operations are on.
#include "hccl/communicator/known_wait.h"

#include <cstdint>
#include <map>
#include <utility>

#include "ascendcl/report/error.h"
#include "client/client.h"
#include "hccl/hccl_types.h"

namespace openaclnn {

KnownWait::~KnownWait() {
  for (void* const wait : waits_) Runtime().end_wait(wait);
}

Status KnownWait::Begin(Communicator& communicator) {
  if (Runtime().may_be_awaited() == 0) return {};
  return Guard([&] { return BeginAll(communicator); });
}

// A wait for a stream's last operation waits for those before it too. One that is being destroyed
// has no number any more, and may wait for its tasks.
Status KnownWait::BeginAll(Communicator& communicator) {
  std::map<uint64_t, std::shared_ptr<HeldStream>> last;
  for (auto& stream : communicator.AwaitedStreams()) {
    const uint64_t number = stream->number();
    auto& known = number != 0 ? last[number] : streams_.emplace_back();
    if (known == nullptr || known->launched() < stream->launched()) known = std::move(stream);
  }
  for (auto& entry : last) streams_.push_back(std::move(entry.second));
  waits_.reserve(streams_.size());
  for (const auto& stream : streams_) {
    OpenaclnnMessage message;
    void* const wait = stream->BeginWait(&message);
    if (wait == nullptr) {
      return Status(HCCL_E_RUNTIME,
                    Concat("comm has operations that are not done: ", message.text));
    }
    waits_.push_back(wait);
  }
  return {};
}

}  // namespace openaclnn
