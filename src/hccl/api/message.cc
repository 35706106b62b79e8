// SPDX-License-Identifier: Apache-2.0
// HcclSend, HcclRecv, HcclBatchSendRecv, and groups of them.
#include <memory>
#include <utility>
#include <vector>

#include "hccl/api/messages.h"
#include "hccl/communicator/result.h"
#include "hccl/engine/progress.h"
#include "hccl/hccl.h"
#include "hccl/interface.h"

namespace openaclnn {
namespace {

/// Messages that the thread has called since its outermost HcclGroupStart.
struct Group {
  int depth = 0;
  std::vector<Messages> calls;
};

/// A group that a thread has left open ends with the thread; in a child of fork it is the parent's.
struct OpenGroup {
  ~OpenGroup() {
    if (Forked() || MessageMover::StayedBehind()) (void)group.release();
  }
  std::unique_ptr<Group> group;
};
thread_local OpenGroup t_open;

Status Send(const char* api, const HcclSendRecvItem* items, uint32_t count, HcclComm comm,
            aclrtStream stream) {
  std::shared_ptr<Communicator> communicator;
  Status status = FindCommunicator(comm, &communicator);
  if (!status.ok()) return status;
  std::shared_ptr<HeldStream> held;
  status = HeldStream::Hold(stream, &held);
  if (!status.ok()) return status;
  std::vector<Messages> calls;
  Messages& messages = calls.emplace_back(std::move(communicator), std::move(held));
  for (uint32_t i = 0; i < count; ++i) {
    status = messages.Add(items[i]);
    if (!status.ok()) return status;
  }
  if (t_open.group == nullptr) return Messages::SubmitAll(api, std::move(calls));
  t_open.group->calls.push_back(std::move(messages));
  return {};
}

Status BeginGroup() {
  if (t_open.group == nullptr) t_open.group = std::make_unique<Group>();
  ++t_open.group->depth;
  return {};
}

Status EndGroup() {
  if (t_open.group == nullptr) {
    return Status(HCCL_E_PARA, "group state is closed, expected an HcclGroupStart before");
  }
  if (--t_open.group->depth > 0) return {};
  const std::unique_ptr<Group> group = std::move(t_open.group);
  return Messages::SubmitAll("HcclGroupEnd", std::move(group->calls));
}

}  // namespace
}  // namespace openaclnn

using openaclnn::HcclApi;

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                    HcclComm comm, aclrtStream stream) {
  return HcclApi("HcclSend", [&] {
    const HcclSendRecvItem item = {HCCL_SEND, sendBuf, count, dataType, destRank};
    return openaclnn::Send("HcclSend", &item, 1, comm, stream);
  });
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                    HcclComm comm, aclrtStream stream) {
  return HcclApi("HcclRecv", [&] {
    const HcclSendRecvItem item = {HCCL_RECV, recvBuf, count, dataType, srcRank};
    return openaclnn::Send("HcclRecv", &item, 1, comm, stream);
  });
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream) {
  return HcclApi("HcclBatchSendRecv", [&] {
    openaclnn::Status status;
    if (itemNum > 0) status = openaclnn::RequirePointer("sendRecvInfo", sendRecvInfo);
    if (!status.ok()) return status;
    return openaclnn::Send("HcclBatchSendRecv", sendRecvInfo, itemNum, comm, stream);
  });
}

int openaclnn_hccl_group(int begin) {
  return begin != 0 ? HcclApi("HcclGroupStart", openaclnn::BeginGroup)
                    : HcclApi("HcclGroupEnd", openaclnn::EndGroup);
}
