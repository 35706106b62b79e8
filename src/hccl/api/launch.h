// SPDX-License-Identifier: Apache-2.0
// Launch: the checks and the submission that every operation's function of the API has.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "hccl/communicator/agreement.h"
#include "hccl/communicator/communicator.h"
#include "hccl/communicator/operation.h"
#include "hccl/communicator/result.h"
#include "hccl/plan/data_type.h"

namespace openaclnn {

/// One call of a collective.
class Launch {
 public:
  Launch(const char* api, aclrtStream stream) : api_(api), stream_(stream) {}

  /// Finds the communicator.
  Status Find(HcclComm comm);
  /// Finds the communicator and the type of `dataType`, and checks the root if there is one.
  Status Open(HcclComm comm, HcclDataType type, std::optional<uint32_t> root,
              const HcclTypeInfo** info);
  Status FindType(const char* operand, HcclDataType type, const HcclTypeInfo** info) const;
  /// Checks that the type can be reduced and that there is such an operation.
  Status FindReduction(HcclDataType type, HcclReduceOp op, Reduction* reduction) const;
  Status CheckRoot(uint32_t root) const;

  Place place() const { return {communicator_->size(), communicator_->rank()}; }
  bool alone() const { return communicator_->alone(); }

  /// Pins `count` times `times` elements. Without elements it pins nothing.
  Status PinSent(const char* operand, const void* address, uint64_t count, uint64_t times,
                 const HcclTypeInfo& type, std::byte** host) {
    return Pin(RangeUse::kSends, operand, address, count, times, type, host);
  }
  Status PinReceived(const char* operand, const void* address, uint64_t count, uint64_t times,
                     const HcclTypeInfo& type, std::byte** host) {
    return Pin(RangeUse::kReceives, operand, address, count, times, type, host);
  }

  /// Submits an operation with one header for all ranks. Without elements it has no plan: it only
  /// compares the ranks' calls, or returns if these are not checked.
  template <class MakePlan>
  Status Submit(const CallHeader& header, MakePlan make_plan) {
    const bool nothing = header.send_bytes == 0;
    if (nothing && (alone() || !communicator_->checked())) return {};
    return Submit(std::vector<CallHeader>(communicator_->size(), header),
                  nothing ? Plan() : make_plan());
  }
  /// Submits with a header for each rank.
  Status Submit(const std::vector<CallHeader>& headers, Plan plan);

 private:
  Status Pin(RangeUse use, const char* operand, const void* address, uint64_t count, uint64_t times,
             const HcclTypeInfo& type, std::byte** host);
  Status Enqueue(const std::vector<CallHeader>& headers, Plan plan,
                 const std::shared_ptr<HeldStream>& stream);

  const char* const api_;
  const aclrtStream stream_;
  std::shared_ptr<Communicator> communicator_;
  PinnedRanges pins_;
};

/// Checks that send and receive do not overlap. `in_place`: they overlap as the operation allows.
Status CheckOverlap(const std::byte* send, uint64_t send_bytes, const std::byte* recv,
                    uint64_t recv_bytes, bool in_place);

/// Product of a count and a size; HCCL_E_PARA where it overflows.
Status CountBytes(const char* operand, uint64_t count, uint64_t size, uint64_t* bytes);

/// Describes an operation for a trace, as members of a JSON object. Messages have no `number`.
std::string DescribeOperation(const Communicator& communicator, std::optional<uint64_t> number,
                              const CallHeader& header);

}  // namespace openaclnn
