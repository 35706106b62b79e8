// SPDX-License-Identifier: Apache-2.0
// HcclAllReduce, HcclReduce, HcclReduceScatter, HcclAllGather, HcclBroadcast, HcclScatter,
// HcclBarrier.
#include "hccl/plan/collective.h"

#include <cstring>
#include <optional>
#include <vector>

#include "hccl/api/launch.h"
#include "hccl/hccl.h"

namespace openaclnn {
namespace {

/// With one rank alone every collective is a copy, or nothing.
Plan PlanCopy(const std::byte* from, std::byte* to, uint64_t bytes) {
  Plan plan;
  plan.steps.emplace_back().work = [=] {
    if (from != to) std::memcpy(to, from, bytes);
    return Status();
  };
  return plan;
}

/// Where there is a root it alone has the result.
Status Reduce(const char* api, const void* send, void* recv, uint64_t count, HcclDataType type,
              HcclReduceOp op, std::optional<uint32_t> root, HcclComm comm, aclrtStream stream) {
  Launch launch(api, stream);
  Reduction reduction{};
  Status status = launch.Find(comm);
  if (status.ok()) status = launch.FindReduction(type, op, &reduction);
  if (status.ok() && root) status = launch.CheckRoot(*root);
  if (!status.ok()) return status;
  const HcclTypeInfo& info = *FindHcclType(type);
  const uint64_t bytes = count * info.bytes;
  const CallKind kind = root ? CallKind::kReduce : CallKind::kAllReduce;
  const CallHeader header = {kind, uint32_t(type), uint32_t(op), root.value_or(0), bytes, bytes};
  const Place place = launch.place();
  const bool receives = !root || place.rank == *root;
  std::byte *from = nullptr, *to = nullptr;
  status = launch.PinSent("sendBuf", send, count, 1, info, &from);
  if (status.ok() && receives) status = launch.PinReceived("recvBuf", recv, count, 1, info, &to);
  if (status.ok() && receives) status = CheckOverlap(from, bytes, to, bytes, from == to);
  if (!status.ok()) return status;
  return launch.Submit(header, [&] {
    if (launch.alone()) return PlanCopy(from, to, bytes);
    return root ? PlanReduce(place, reduction, count, *root, from, to)
                : PlanAllReduce(place, reduction, count, from, to);
  });
}

Status ReduceScatter(const void* send, void* recv, uint64_t count, HcclDataType type,
                     HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  Launch launch("HcclReduceScatter", stream);
  Reduction reduction{};
  Status status = launch.Find(comm);
  if (status.ok()) status = launch.FindReduction(type, op, &reduction);
  if (!status.ok()) return status;
  const HcclTypeInfo& info = *FindHcclType(type);
  const uint64_t bytes = count * info.bytes;
  const CallHeader header = {
      CallKind::kReduceScatter, uint32_t(type), uint32_t(op), 0, bytes, bytes};
  const Place place = launch.place();
  std::byte *from = nullptr, *to = nullptr;
  status = launch.PinSent("sendBuf", send, count, place.size, info, &from);
  if (status.ok()) status = launch.PinReceived("recvBuf", recv, count, 1, info, &to);
  if (status.ok()) {
    const bool in_place = to == from + place.rank * bytes || to == from;
    status = CheckOverlap(from, bytes * place.size, to, bytes, in_place);
  }
  if (!status.ok()) return status;
  return launch.Submit(header, [&] {
    return launch.alone() ? PlanCopy(from, to, bytes)
                          : PlanReduceScatter(place, reduction, count, from, to);
  });
}

Status AllGather(const void* send, void* recv, uint64_t count, HcclDataType type, HcclComm comm,
                 aclrtStream stream) {
  Launch launch("HcclAllGather", stream);
  const HcclTypeInfo* info = nullptr;
  Status status = launch.Open(comm, type, std::nullopt, &info);
  if (!status.ok()) return status;
  const uint64_t bytes = count * info->bytes;
  const CallHeader header = {CallKind::kAllGather, uint32_t(type), 0, 0, bytes, bytes};
  const Place place = launch.place();
  std::byte *from = nullptr, *to = nullptr;
  status = launch.PinSent("sendBuf", send, count, 1, *info, &from);
  if (status.ok()) status = launch.PinReceived("recvBuf", recv, count, place.size, *info, &to);
  if (status.ok()) {
    status = CheckOverlap(from, bytes, to, bytes * place.size, from == to + place.rank * bytes);
  }
  if (!status.ok()) return status;
  return launch.Submit(header, [&] { return PlanAllGather(place, bytes, from, to); });
}

Status Broadcast(void* buffer, uint64_t count, HcclDataType type, uint32_t root, HcclComm comm,
                 aclrtStream stream) {
  Launch launch("HcclBroadcast", stream);
  const HcclTypeInfo* info = nullptr;
  Status status = launch.Open(comm, type, root, &info);
  if (!status.ok()) return status;
  const uint64_t bytes = count * info->bytes;
  const CallHeader header = {CallKind::kBroadcast, uint32_t(type), 0, root, bytes, bytes};
  std::byte* data = nullptr;
  status = launch.place().rank == root ? launch.PinSent("buf", buffer, count, 1, *info, &data)
                                       : launch.PinReceived("buf", buffer, count, 1, *info, &data);
  if (!status.ok()) return status;
  return launch.Submit(header, [&] { return PlanBroadcast(launch.place(), bytes, root, data); });
}

Status Scatter(const void* send, void* recv, uint64_t count, HcclDataType type, uint32_t root,
               HcclComm comm, aclrtStream stream) {
  Launch launch("HcclScatter", stream);
  const HcclTypeInfo* info = nullptr;
  Status status = launch.Open(comm, type, root, &info);
  if (!status.ok()) return status;
  const uint64_t bytes = count * info->bytes;
  const CallHeader header = {CallKind::kScatter, uint32_t(type), 0, root, bytes, bytes};
  const Place place = launch.place();
  std::byte *from = nullptr, *to = nullptr;
  if (place.rank == root) status = launch.PinSent("sendBuf", send, count, place.size, *info, &from);
  if (status.ok()) status = launch.PinReceived("recvBuf", recv, count, 1, *info, &to);
  if (status.ok() && from != nullptr) {
    status = CheckOverlap(from, bytes * place.size, to, bytes, to == from + root * bytes);
  }
  if (!status.ok()) return status;
  return launch.Submit(header, [&] { return PlanScatter(place, bytes, root, from, to); });
}

Status Barrier(HcclComm comm, aclrtStream stream) {
  Launch launch("HcclBarrier", stream);
  Status status = launch.Find(comm);
  if (!status.ok()) return status;
  const CallHeader header = {CallKind::kBarrier, 0, 0, 0, 0, 0};
  return launch.Submit(std::vector<CallHeader>(launch.place().size, header), Plan());
}

}  // namespace
}  // namespace openaclnn

using openaclnn::HcclApi;

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                         HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  return HcclApi("HcclAllReduce", [&] {
    return openaclnn::Reduce("HcclAllReduce", sendBuf, recvBuf, count, dataType, op, std::nullopt,
                             comm, stream);
  });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                      HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream) {
  return HcclApi("HcclReduce", [&] {
    return openaclnn::Reduce("HcclReduce", sendBuf, recvBuf, count, dataType, op, root, comm,
                             stream);
  });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                             HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                             aclrtStream stream) {
  return HcclApi("HcclReduceScatter", [&] {
    return openaclnn::ReduceScatter(sendBuf, recvBuf, recvCount, dataType, op, comm, stream);
  });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream) {
  return HcclApi("HcclAllGather", [&] {
    return openaclnn::AllGather(sendBuf, recvBuf, sendCount, dataType, comm, stream);
  });
}

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root,
                         HcclComm comm, aclrtStream stream) {
  return HcclApi("HcclBroadcast",
                 [&] { return openaclnn::Broadcast(buf, count, dataType, root, comm, stream); });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                       uint32_t root, HcclComm comm, aclrtStream stream) {
  return HcclApi("HcclScatter", [&] {
    return openaclnn::Scatter(sendBuf, recvBuf, recvCount, dataType, root, comm, stream);
  });
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  return HcclApi("HcclBarrier", [&] { return openaclnn::Barrier(comm, stream); });
}
