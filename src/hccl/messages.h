// SPDX-License-Identifier: Apache-2.0
// Messages: sends and receives of a rank that begin together, as one operation.
#pragma once

#include <memory>
#include <vector>

#include "acl/acl_base.h"
#include "common/status.h"
#include "hccl/communicator.h"
#include "hccl/hccl_types.h"
#include "hccl/operation.h"

namespace openaclnn {

/// The messages of one communicator on one stream.
class Messages {
 public:
  Messages(std::shared_ptr<Communicator> communicator, aclrtStream stream)
      : communicator_(std::move(communicator)), stream_(stream) {}

  const Communicator* communicator() const { return communicator_.get(); }
  aclrtStream stream() const { return stream_; }

  /// Checks an item, and pins its memory.
  Status Add(const HcclSendRecvItem& item);
  void Append(Messages other);
  Status Submit(const char* api) { return SubmitAll(api, {this}); }
  /// The same for those of several communicators on one stream: none waits for another.
  static Status SubmitAll(const char* api, std::vector<Messages*> all);

 private:
  struct Message {
    bool receives;
    uint32_t peer;
    std::byte* data;
    uint64_t bytes;
    HcclDataType type;
  };

  /// Numbers them.
  Status Make(const char* api, std::shared_ptr<Operation>* operation);
  Status AddOwn(Plan* plan) const;
  /// A message that begins once both ranks have told each other the same of it.
  Plan PlanChecked(const Message& message, const Move& move) const;

  std::shared_ptr<Communicator> communicator_;
  aclrtStream stream_;
  std::vector<Message> messages_;
  PinnedRanges pins_;
};

}  // namespace openaclnn
