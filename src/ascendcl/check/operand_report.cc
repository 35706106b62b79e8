// SPDX-License-Identifier: Apache-2.0
// Operand reports: in words, once for an operator and an operand.
#include "ascendcl/check/operand_report.h"

#include <string>

#include "acl/acl.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/process/config.h"
#include "ascendcl/report/report.h"

namespace openaclnn {
namespace {

/// Tells what `make` gives, if anything is checked. Without memory for words there is no report.
template <class Make>
void Tell(Check check, const std::string& key, const Make& make) {
  if (MistakesAreTold() && CountFinding(check, key)) TellFinding(make());
}

}  // namespace

void ReportLeft(const OpenaclnnLeft* left) noexcept try {
  const std::string operand = left->operand;
  Tell(Check::kInitcheck, Concat(left->api, " leaves ", operand), [&] {
    return Finding{
        .check = Check::kInitcheck,
        .title = Concat(left->api, " has not written all of ", operand),
        .what = Concat(left->left, " of the ", left->elements, " elements of ", operand,
                       " are as they were before the task"),
        .where = PlaceOf(reinterpret_cast<const void*>(left->address), left->bytes),
        .fix =
            "let the operator write each element of the output; of one that it may leave alone\n"
            "let it say so (OPENACLNN_PART, `part` in its record)"};
  });
} catch (...) {
}

void ReportMisaligned(const char* api, const char* operand, const void* address, uint64_t bytes,
                      uint64_t alignment) noexcept try {
  Tell(Check::kMemcheck, Concat(api, " misaligned ", operand), [&] {
    return Finding{.check = Check::kMemcheck,
                   .title = Concat("the address of ", operand, " of ", api, " is misaligned"),
                   .what = Concat(operand, " is at ", address, ", expected a multiple of ",
                                  alignment, " bytes"),
                   .where = PlaceOf(address, bytes),
                   .fix =
                       "what aclrtMalloc returns is a multiple of 64 bytes: place what lies "
                       "further on in such\nmemory at multiples of the alignment",
                   .code = ACL_ERROR_RT_ADDR_UNALIGNED};
  });
} catch (...) {
}

void ReportSharedWorkspace(const char* api, const char* other, const void* address,
                           uint64_t bytes) noexcept try {
  Tell(Check::kRacecheck, Concat(api, " in the workspace of ", other), [&] {
    return Finding{
        .check = Check::kRacecheck,
        .title = Concat(api, " and ", other, " compute in one workspace at the same time"),
        .what = "two streams run them, and each writes there what only it is to read",
        .where = PlaceOf(address, bytes),
        .fix =
            "give each stream a workspace of its own, or let one wait for the other\n"
            "(aclrtRecordEvent, aclrtStreamWaitEvent)"};
  });
} catch (...) {
}

}  // namespace openaclnn
