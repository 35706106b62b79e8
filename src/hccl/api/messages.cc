// SPDX-License-Identifier: Apache-2.0
// The plan of messages between pairs of ranks, and of a rank's messages to itself.
#include "hccl/api/messages.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "hccl/api/launch.h"

namespace openaclnn {

Status Messages::Add(const HcclSendRecvItem& item) {
  const HcclTypeInfo* type = FindHcclType(item.dataType);
  if (type == nullptr) {
    return Status(HCCL_E_PARA,
                  Concat("dataType value is ", item.dataType, ", expected a type of data"));
  }
  if (item.sendRecvType != HCCL_SEND && item.sendRecvType != HCCL_RECV) {
    return Status(HCCL_E_PARA, Concat("sendRecvType value is ", item.sendRecvType,
                                      ", expected HCCL_SEND (0) or HCCL_RECV (1)"));
  }
  const bool receives = item.sendRecvType == HCCL_RECV;
  if (item.remoteRank >= communicator_->size()) {
    return Status(HCCL_E_PARA,
                  Concat(receives ? "srcRank" : "destRank", " value is ", item.remoteRank,
                         ", expected a rank below ", communicator_->size()));
  }
  if (item.count == 0) return {};  // the other rank, which has nothing to do, need not call
  Message message = {receives, item.remoteRank, nullptr, 0, item.dataType};
  const char* const operand = receives ? "recvBuf" : "sendBuf";
  const RangeUse use = receives ? RangeUse::kReceives : RangeUse::kSends;
  Status status = CountBytes(operand, item.count, type->bytes, &message.bytes);
  if (status.ok()) status = RequirePointer(operand, item.buf);
  if (status.ok()) status = pins_.Add(use, operand, item.buf, message.bytes, &message.data);
  if (status.ok()) messages_.push_back(message);
  return status;
}

void Messages::Append(Messages other) {
  messages_.insert(messages_.end(), other.messages_.begin(), other.messages_.end());
  pins_.Append(std::move(other.pins_));
}

// The first send to oneself meets the first receive.
Status Messages::AddOwn(Plan* plan) const {
  std::vector<Message> sends, receives;
  for (const Message& message : messages_) {
    if (message.peer != communicator_->rank()) continue;
    (message.receives ? receives : sends).push_back(message);
  }
  for (size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
    if (i >= sends.size() || i >= receives.size() || sends[i].bytes != receives[i].bytes) {
      return Status(HCCL_E_PARA,
                    Concat("remoteRank value is ", communicator_->rank(), ", the rank itself, ",
                           sends.size(), " times to send and ", receives.size(),
                           " times to receive, expected pairs of one size in one batch"));
    }
  }
  if (sends.empty()) return {};
  plan->steps[0].work = [sends, receives] {
    for (size_t i = 0; i < sends.size(); ++i) {
      std::memmove(receives[i].data, sends[i].data, sends[i].bytes);
    }
    return Status();
  };
  return {};
}

// Each by itself: the peer may wait for one of a batch before it calls the next.
Plan Messages::PlanChecked(const Message& message, const Move& move) const {
  Plan plan;
  plan.steps.emplace_back().moves = {move};
  const uint64_t sent = message.receives ? 0 : message.bytes;
  const CallHeader header = {CallKind::kMessage,  uint32_t(message.type), 0, 0, sent,
                             message.bytes - sent};
  const uint64_t answer = move.tag | kReplyTag;
  const Agreement agreement = {message.peer, header, message.receives ? answer : move.tag,
                               message.receives ? move.tag : answer};
  AddAgreements({communicator_->size(), communicator_->rank()}, {agreement}, true, &plan);
  return plan;
}

// A capture refuses a task that cannot be run again, and is invalid then.
Status Messages::CheckStream(const char* api) {
  if (messages_.empty()) return {};
  if (stream_->number() == 0) {
    const OpenaclnnTask nothing = {.name = api,
                                   .run = [](void*, OpenaclnnMessage*) { return 0; },
                                   .release = nullptr,
                                   .state = nullptr,
                                   .arguments = nullptr,
                                   .each_pin = nullptr};
    Status status = stream_->Submit(nothing);
    if (!status.ok() && status.code() != HCCL_E_PARA) return status;
  }
  stream_number_ = stream_->number();
  if (stream_number_ != 0) return {};
  return Status(HCCL_E_PARA,
                "stream value is one that was destroyed, expected one that lives until the group "
                "has ended");
}

// As the other ranks count them: in the order of calls, whatever streams they are on.
void Messages::Number() {
  for (Message& message : messages_) {
    if (message.peer == communicator_->rank()) continue;
    message.tag = communicator_->numbers().NextMessageTag(message.peer, message.receives);
  }
}

Status Messages::Make(const char* api, const std::shared_ptr<HeldStream>& stream,
                      std::shared_ptr<Operation>* operation) {
  Plan plan;
  plan.steps.emplace_back();
  Status own = AddOwn(&plan);
  if (!own.ok()) return own;
  uint64_t bytes = 0;
  std::optional<uint32_t> other;
  for (const Message& message : messages_) {
    bytes += message.bytes;
    if (message.peer == communicator_->rank()) continue;
    if (!other) other = message.peer;
    plan.by_pairs |= message.peer != *other;
    const Move move = {message.receives, message.peer, message.data, message.bytes, message.tag};
    // Unchecked, a message that is too long or too short tells enough.
    if (communicator_->checked()) {
      plan.Append(PlanChecked(message, move));
    } else {
      plan.steps[0].moves.push_back(move);
    }
  }
  const CallHeader all = {CallKind::kMessage, uint32_t(messages_[0].type), 0, 0, bytes, 0};
  plan.arguments = DescribeOperation(*communicator_, std::nullopt, all);
  *operation =
      std::make_shared<Operation>(communicator_, api, std::move(plan), std::move(pins_), stream);
  return {};
}

Status Messages::Enqueue(const char* api, std::vector<Messages> calls,
                         std::vector<Batch>* batches) {
  Status refused;  // the first: a capture is invalid on each stream that has one
  for (Messages& call : calls) {
    Status status = call.CheckStream(api);
    if (refused.ok()) refused = std::move(status);
  }
  if (!refused.ok()) return refused;
  std::vector<Messages> all;
  for (Messages& call : calls) {
    if (call.messages_.empty()) continue;
    call.Number();
    const auto known =
        std::ranges::find_if(all, [&](const Messages& other) { return other.SameAs(call); });
    known != all.end() ? known->Append(std::move(call)) : all.push_back(std::move(call));
  }
  for (Messages& messages : all) {
    auto batch = std::ranges::find_if(
        *batches, [&](const Batch& other) { return other.number == messages.stream_number_; });
    if (batch == batches->end()) {
      batch = batches->insert(batch, {messages.stream_, messages.stream_number_, {}});
    }
    Status status = messages.Make(api, batch->stream, &batch->operations.emplace_back());
    if (!status.ok()) return status;
  }
  return SubmitBatches(*batches);
}

// Every refusal has happened before this point. If memory is short for one batch, the batches
// before it have to end, and their communicators with them. Otherwise their messages would be taken
// for later ones.
Status Messages::SubmitBatches(std::vector<Batch>& batches) {
  for (Batch& batch : batches) {
    const Status status = Guard([&] { return Operation::SubmitAll(batch.operations); });
    batch.begun = status.ok();
    if (status.ok()) continue;
    for (const Batch& other : batches) {
      if (!other.begun) continue;
      for (const auto& operation : other.operations) operation->Fail(status);
      for (const auto& operation : other.operations) {
        (void)Guard([&] {
          operation->communicator()->GiveUp(status);
          return Status();
        });
      }
    }
    return status;
  }
  return {};
}

Status Messages::SubmitAll(const char* api, std::vector<Messages> calls) {
  // Whoever locks several does it in this order. They may have been destroyed since they were
  // found.
  std::map<std::shared_ptr<Communicator>, Communicator::Numbers> before;
  for (const Messages& call : calls) before.try_emplace(call.communicator_);
  std::vector<std::unique_lock<std::mutex>> orders;
  for (auto& [communicator, numbers] : before) {
    orders.push_back(communicator->LockOrder());
    numbers = communicator->numbers();
  }
  std::vector<Batch> batches;
  Status status = Guard([&] { return Enqueue(api, std::move(calls), &batches); });
  if (!status.ok()) {
    for (auto& entry : before) {
      const bool begun = std::ranges::any_of(batches, [&](const Batch& batch) {
        return batch.begun &&
               std::ranges::count(batch.operations, entry.first, &Operation::communicator) > 0;
      });
      if (!begun) entry.first->numbers() = std::move(entry.second);
    }
    return status;
  }
  orders.clear();
  for (const Batch& batch : batches) batch.stream->AwaitLaunch();
  return {};
}

}  // namespace openaclnn
