// SPDX-License-Identifier: Apache-2.0
// HcclAlltoAll and HcclAlltoAllV.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "hccl/api/launch.h"
#include "hccl/hccl.h"
#include "hccl/plan/collective.h"

namespace openaclnn {
namespace {

/// One buffer with a part for each rank.
struct Parts {
  std::vector<Part> parts;
  uint64_t end = 0;  // of the last byte
};

/// `counts` and `places`, in elements, are the caller's and may be gone soon.
Status ReadParts(const char* operand, const uint64_t* counts, const uint64_t* places,
                 uint32_t ranks, uint32_t size, Parts* out) {
  for (uint32_t i = 0; i < ranks; ++i) {
    Part part{};
    Status status = CountBytes(operand, counts[i], size, &part.bytes);
    if (status.ok()) status = CountBytes(operand, places[i], size, &part.offset);
    if (!status.ok()) return status;
    out->parts.push_back(part);
    if (part.bytes > 0) out->end = std::max(out->end, part.offset + part.bytes);  // 63 bits each
  }
  return {};
}

/// Sent and received parts may lie between each other, in any order.
Status CheckApart(const std::byte* send, const Parts& sends, const std::byte* recv,
                  const Parts& receives) {
  struct Span {
    uintptr_t begin, end;
    bool receives;
    size_t rank;
  };
  std::vector<Span> spans;
  const auto add = [&](const std::byte* base, const Parts& parts, bool received) {
    for (size_t rank = 0; rank < parts.parts.size(); ++rank) {
      const Part& part = parts.parts[rank];
      const uintptr_t begin = reinterpret_cast<uintptr_t>(base) + part.offset;
      if (part.bytes > 0) spans.push_back({begin, begin + part.bytes, received, rank});
    }
  };
  add(send, sends, false);
  add(recv, receives, true);
  std::ranges::sort(spans, {}, &Span::begin);
  const Span* last[2] = {};  // of either kind, the one that ends last
  for (const Span& span : spans) {
    const Span* const other = last[span.receives ? 0 : 1];
    if (other != nullptr && span.begin < other->end) {
      const size_t from = (span.receives ? *other : span).rank;
      const size_t to = (span.receives ? span : *other).rank;
      return Status(HCCL_E_PARA, Concat("recvBuf memory for rank ", to, " is shared with what ",
                                        "sendBuf has for rank ", from, ", expected other memory"));
    }
    const Span*& own = last[span.receives ? 1 : 0];
    if (own == nullptr || span.end > own->end) own = &span;
  }
  return {};
}

/// Where both buffers are, if all is well with them.
Status PinParts(Launch& launch, const void* send, const Parts& sends, const void* recv,
                const Parts& receives, std::byte** from, std::byte** to) {
  constexpr HcclTypeInfo kByte = {HCCL_DATA_TYPE_UINT8, "UINT8", 1, true};
  const uint32_t rank = launch.place().rank;
  if (sends.parts[rank].bytes != receives.parts[rank].bytes) {
    return Status(HCCL_E_PARA,
                  Concat("recvCounts value of the rank itself is ", receives.parts[rank].bytes,
                         " bytes, expected ", sends.parts[rank].bytes, " as sendCounts has it"));
  }
  Status status = launch.PinSent("sendBuf", send, sends.end, 1, kByte, from);
  if (status.ok()) status = launch.PinReceived("recvBuf", recv, receives.end, 1, kByte, to);
  return status.ok() ? CheckApart(*from, sends, *to, receives) : status;
}

Status AllToAllV(const void* send, const void* send_counts, const void* send_places,
                 HcclDataType send_type, const void* recv, const void* recv_counts,
                 const void* recv_places, HcclDataType recv_type, HcclComm comm,
                 aclrtStream stream) {
  Launch launch("HcclAlltoAllV", stream);
  const HcclTypeInfo *from = nullptr, *to = nullptr;
  Status status = launch.Find(comm);
  if (status.ok()) status = launch.FindType("sendType", send_type, &from);
  if (status.ok()) status = launch.FindType("recvType", recv_type, &to);
  if (status.ok()) status = RequirePointer("sendCounts", send_counts);
  if (status.ok()) status = RequirePointer("sdispls", send_places);
  if (status.ok()) status = RequirePointer("recvCounts", recv_counts);
  if (status.ok()) status = RequirePointer("rdispls", recv_places);
  Parts sends, receives;
  if (status.ok()) {
    status = ReadParts("sendCounts", static_cast<const uint64_t*>(send_counts),
                       static_cast<const uint64_t*>(send_places), launch.place().size, from->bytes,
                       &sends);
  }
  if (status.ok()) {
    status = ReadParts("recvCounts", static_cast<const uint64_t*>(recv_counts),
                       static_cast<const uint64_t*>(recv_places), launch.place().size, to->bytes,
                       &receives);
  }
  std::byte *sent = nullptr, *received = nullptr;
  if (status.ok()) status = PinParts(launch, send, sends, recv, receives, &sent, &received);
  if (!status.ok()) return status;
  std::vector<CallHeader> headers;
  for (uint32_t i = 0; i < launch.place().size; ++i) {
    headers.push_back({CallKind::kAllToAll, uint32_t(send_type), uint32_t(recv_type), 0,
                       sends.parts[i].bytes, receives.parts[i].bytes});
  }
  Plan plan = PlanAllToAll(launch.place(), sends.parts, receives.parts, sent, received);
  plan.by_pairs = launch.place().size > 2;
  return launch.Submit(headers, std::move(plan));
}

Status AllToAll(const void* send, uint64_t send_count, HcclDataType send_type, const void* recv,
                uint64_t recv_count, HcclDataType recv_type, HcclComm comm, aclrtStream stream) {
  Launch launch("HcclAlltoAll", stream);
  const HcclTypeInfo *from = nullptr, *to = nullptr;
  Status status = launch.Find(comm);
  if (status.ok()) status = launch.FindType("sendType", send_type, &from);
  if (status.ok()) status = launch.FindType("recvType", recv_type, &to);
  uint64_t bytes = 0, received = 0;
  if (status.ok()) status = CountBytes("sendBuf", send_count, from->bytes, &bytes);
  if (status.ok()) status = CountBytes("recvBuf", recv_count, to->bytes, &received);
  if (!status.ok()) return status;
  if (bytes != received) {
    return Status(HCCL_E_PARA, Concat("recvCount value is ", recv_count,
                                      ", expected as many bytes ", "as sendCount, ", bytes));
  }
  Parts parts;
  for (uint32_t i = 0; i < launch.place().size; ++i) {
    uint64_t offset = 0;
    status = CountBytes("sendBuf", bytes, i + uint64_t{1}, &parts.end);
    if (!status.ok()) return status;
    offset = parts.end - bytes;
    parts.parts.push_back({offset, bytes});
  }
  std::byte *sent = nullptr, *got = nullptr;
  status = PinParts(launch, send, parts, recv, parts, &sent, &got);
  if (!status.ok()) return status;
  const CallHeader header = {
      CallKind::kAllToAll, uint32_t(send_type), uint32_t(recv_type), 0, bytes, bytes};
  return launch.Submit(
      header, [&] { return PlanAllToAll(launch.place(), parts.parts, parts.parts, sent, got); });
}

}  // namespace
}  // namespace openaclnn

using openaclnn::HcclApi;

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType,
                        const void* recvBuf, uint64_t recvCount, HcclDataType recvType,
                        HcclComm comm, aclrtStream stream) {
  return HcclApi("HcclAlltoAll", [&] {
    return openaclnn::AllToAll(sendBuf, sendCount, sendType, recvBuf, recvCount, recvType, comm,
                               stream);
  });
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                         HcclDataType sendType, const void* recvBuf, const void* recvCounts,
                         const void* rdispls, HcclDataType recvType, HcclComm comm,
                         aclrtStream stream) {
  return HcclApi("HcclAlltoAllV", [&] {
    return openaclnn::AllToAllV(sendBuf, sendCounts, sdispls, sendType, recvBuf, recvCounts,
                                rdispls, recvType, comm, stream);
  });
}
