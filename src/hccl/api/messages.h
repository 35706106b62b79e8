// SPDX-License-Identifier: Apache-2.0
// Messages: sends and receives of a rank that begin together, as one operation.
#pragma once

#include <memory>
#include <vector>

#include "acl/acl_base.h"
#include "common/status.h"
#include "hccl/communicator/communicator.h"
#include "hccl/communicator/held_stream.h"
#include "hccl/communicator/operation.h"
#include "hccl/hccl_types.h"

namespace openaclnn {

/// The messages of one communicator on one stream.
class Messages {
 public:
  Messages(std::shared_ptr<Communicator> communicator, std::shared_ptr<HeldStream> stream)
      : communicator_(std::move(communicator)), stream_(std::move(stream)) {}

  /// Checks an item, and pins its memory.
  Status Add(const HcclSendRecvItem& item);
  /// Those of some calls, in their order: none waits for another. All are enqueued or none is.
  static Status SubmitAll(const char* api, std::vector<Messages> calls);

 private:
  struct Message {
    bool receives;
    uint32_t peer;
    std::byte* data;
    uint64_t bytes;
    HcclDataType type;
    uint64_t tag = 0;
  };
  /// Messages that go to one stream as one task.
  struct Batch {
    std::shared_ptr<HeldStream> stream;
    uint64_t number;  // the stream's
    std::vector<std::shared_ptr<Operation>> operations;
    bool begun = false;
  };

  static Status Enqueue(const char* api, std::vector<Messages> calls, std::vector<Batch>* batches);
  static Status SubmitBatches(std::vector<Batch>& batches);
  /// Refuses where the stream takes no operations.
  Status CheckStream(const char* api);
  void Number();
  bool SameAs(const Messages& other) const {
    return communicator_ == other.communicator_ && stream_number_ == other.stream_number_;
  }
  void Append(Messages other);
  Status Make(const char* api, const std::shared_ptr<HeldStream>& stream,
              std::shared_ptr<Operation>* operation);
  Status AddOwn(Plan* plan) const;
  /// A message that begins once both ranks have told each other the same of it.
  Plan PlanChecked(const Message& message, const Move& move) const;

  std::shared_ptr<Communicator> communicator_;
  std::shared_ptr<HeldStream> stream_;
  uint64_t stream_number_ = 0;  // once it is checked
  std::vector<Message> messages_;
  PinnedRanges pins_;
};

}  // namespace openaclnn
