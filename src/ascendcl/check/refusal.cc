// SPDX-License-Identifier: Apache-2.0
// Reports of refusals: the words of the failure, the place in memory, what would mend it.
#include "ascendcl/check/refusal.h"

#include <string>

#include "ascendcl/memory/memory.h"
#include "ascendcl/process/config.h"
#include "ascendcl/report/api_error.h"
#include "ascendcl/report/report.h"

namespace openaclnn {
namespace {

// More can be asked for, and would not be numbered: then the place is where they begin.
constexpr uint64_t kMostBytes = uint64_t{1} << 62;

/// `known`: whether the memory is, or was, the runtime's.
const char* Fix(Misuse misuse, bool known, const Place& place) {
  switch (misuse) {
    case Misuse::kFree:
      return "free memory once, by the address that the call which allocated it gave: aclrtFree\n"
             "takes device memory, aclrtFreeHost pinned memory";
    case Misuse::kValue:
      return "look where the value comes from: a device would compute on, or use other memory";
    case Misuse::kOperand:
    case Misuse::kCopy:
      break;
  }
  if (known && (place.begin == nullptr || place.freed_by != nullptr)) {
    return "free memory when nothing uses it any more";
  }
  if (misuse == Misuse::kOperand && (!known || place.location != Location::kDevice)) {
    return "allocate it with aclrtMalloc, and copy to it what the host has with aclrtMemcpy";
  }
  return known ? "look for memory that is too small, or a size, a stride or an offset that is too "
                 "large"
               : "give an address of memory that lives";
}

}  // namespace

void ReportRefusal(Misuse misuse, const char* api, const Status& failure, const void* address,
                   uint64_t bytes) noexcept try {
  if (!MistakesAreTold()) return;
  if (misuse != Misuse::kValue) ApiErrorIsTold();  // a task's failure is no refusal
  Finding finding;
  finding.title = Concat(api, ": ", failure.text());
  Place place;
  // Kernels' addresses are no program's: that one is memory's is by chance.
  const bool known = address != nullptr && Memory::Get().Find(address, &place) && !place.kernel;
  // Whoever frees what is no allocation has no use for its neighbours.
  const bool beside = place.offset < 0 || static_cast<uint64_t>(place.offset) >= place.bytes;
  if (misuse == Misuse::kFree && beside) place.begin = nullptr;
  const char* state = !known ? "" : place.freed_by != nullptr ? " freed" : " live";
  if (!CountFinding(Check::kMemcheck, WithoutNumbers(finding.title) + state)) return;
  if (known) finding.where = TextOf(address, bytes <= kMostBytes ? bytes : 1, place);
  finding.fix = Fix(misuse, known, place);
  finding.code = failure.code();
  TellFinding(finding);
} catch (...) {  // without memory for words there is no report
}

}  // namespace openaclnn
