// SPDX-License-Identifier: Apache-2.0
// The checks of a collective's call, its number, its task.
#include "hccl/api/launch.h"

#include <utility>

#include "hccl/communicator/operation.h"
#include "hccl/plan/data_type.h"

namespace openaclnn {

Status Launch::Find(HcclComm comm) { return FindCommunicator(comm, &communicator_); }

Status Launch::Open(HcclComm comm, HcclDataType type, std::optional<uint32_t> root,
                    const HcclTypeInfo** info) {
  Status status = Find(comm);
  if (status.ok()) status = FindType("dataType", type, info);
  if (status.ok() && root) status = CheckRoot(*root);
  return status;
}

Status Launch::FindType(const char* operand, HcclDataType type, const HcclTypeInfo** info) const {
  *info = FindHcclType(type);
  if (*info != nullptr) return {};
  return Status(HCCL_E_PARA, Concat(operand, " value is ", type, ", expected a type of data"));
}

Status Launch::FindReduction(HcclDataType type, HcclReduceOp op, Reduction* reduction) const {
  const HcclTypeInfo* info = nullptr;
  Status status = FindType("dataType", type, &info);
  if (!status.ok()) return status;
  if (ReduceOpName(op) == nullptr) {
    return Status(HCCL_E_PARA, Concat("op value is ", op, ", expected a reduction"));
  }
  if (!info->reducible) {
    return Status(HCCL_E_NOT_SUPPORT, Concat("dataType value is ", info->name,
                                             ", expected a type that can be reduced"));
  }
  *reduction = {type, info->bytes, op};
  return {};
}

Status Launch::CheckRoot(uint32_t root) const {
  if (root < communicator_->size()) return {};
  return Status(HCCL_E_PARA,
                Concat("root value is ", root, ", expected a rank below ", communicator_->size()));
}

Status CountBytes(const char* operand, uint64_t count, uint64_t size, uint64_t* bytes) {
  if (!__builtin_mul_overflow(count, size, bytes) && *bytes <= uint64_t{INT64_MAX}) return {};
  return Status(HCCL_E_PARA,
                Concat(operand, " count is ", count, ", expected one whose bytes fit in 63 bits"));
}

Status Launch::Pin(RangeUse use, const char* operand, const void* address, uint64_t count,
                   uint64_t times, const HcclTypeInfo& type, std::byte** host) {
  uint64_t elements = 0, bytes = 0;
  Status status = CountBytes(operand, count, times, &elements);
  if (status.ok()) status = CountBytes(operand, elements, type.bytes, &bytes);
  if (!status.ok() || bytes == 0) return status;
  status = RequirePointer(operand, address);
  return status.ok() ? pins_.Add(use, operand, address, bytes, host) : status;
}

Status Launch::Submit(const std::vector<CallHeader>& headers, Plan plan) {
  std::shared_ptr<HeldStream> stream;
  Status status = HeldStream::Hold(stream_, &stream);
  if (status.ok()) status = Enqueue(headers, std::move(plan), stream);
  if (status.ok()) stream->AwaitLaunch();
  return status;
}

Status Launch::Enqueue(const std::vector<CallHeader>& headers, Plan plan,
                       const std::shared_ptr<HeldStream>& stream) {
  const auto order = communicator_->LockOrder();
  const uint64_t number = communicator_->numbers().collectives;
  Status status = Guard([&] {
    plan.tag = communicator_->numbers().NextTag();
    plan.arguments = DescribeOperation(*communicator_, number, headers[communicator_->rank()]);
    std::vector<Agreement> agreements;
    for (uint32_t peer = 0; peer < communicator_->size(); ++peer) {
      if (peer != communicator_->rank()) agreements.push_back({peer, headers[peer]});
    }
    // Checked or not, a barrier is nothing but this.
    if (!alone()) AddAgreements(place(), agreements, communicator_->checked(), &plan);
    BeginWithTheNext(place(), &plan);
    return std::make_shared<Operation>(communicator_, api_, std::move(plan), std::move(pins_),
                                       stream)
        ->Submit();
  });
  if (!status.ok()) communicator_->numbers().collectives = number;
  return status;
}

Status CheckOverlap(const std::byte* send, uint64_t send_bytes, const std::byte* recv,
                    uint64_t recv_bytes, bool in_place) {
  const auto first = reinterpret_cast<uintptr_t>(send), second = reinterpret_cast<uintptr_t>(recv);
  if (in_place || send_bytes == 0 || recv_bytes == 0) return {};
  if (first >= second + recv_bytes || second >= first + send_bytes) return {};
  return Status(HCCL_E_PARA,
                "recvBuf memory is shared in part with sendBuf, expected the same "
                "memory, as the function's description has it, or other memory");
}

std::string DescribeOperation(const Communicator& communicator, std::optional<uint64_t> number,
                              const CallHeader& header) {
  const HcclTypeInfo* type = FindHcclType(static_cast<HcclDataType>(header.type));
  return Concat("\"communicator\":", communicator.quoted_name(), ",\"identifier\":\"",
                communicator.identifier(), "\",\"rank\":", communicator.rank(),
                ",\"ranks\":", communicator.size(), number ? Concat(",\"number\":", *number) : "",
                ",\"type\":\"", type != nullptr ? type->name : "",
                "\",\"bytes\":", header.send_bytes);
}

}  // namespace openaclnn
