// SPDX-License-Identifier: Apache-2.0
// Reports of reads of unwritten memory: which call, which operand, which bytes.
#include "ascendcl/check/write_report.h"

#include <string>

#include "ascendcl/memory/memory.h"
#include "ascendcl/report/report.h"
#include "ascendcl/watch/write_watch.h"

namespace openaclnn {
namespace {

std::string StreamText(const Caller& caller) {
  if (caller.stream == 0) return "";
  return caller.handle == nullptr ? " on the default stream" : Concat(" on stream ", caller.handle);
}

void Report(const Caller& caller, const MemoryAccess& access) {
  const uint64_t bytes = access.span.end - access.span.begin;
  // Once for a call's operand of that size, though the memory may be new in each step of a loop.
  if (!CountFinding(Check::kInitcheck, Concat(caller.call, " ", access.operand, " ", bytes)))
    return;
  TellFinding({.check = Check::kInitcheck,
               .title = Concat(caller.call, StreamText(caller),
                               " reads device memory that nothing has written"),
               .what = Concat(caller.call, " reads ", access.operand,
                              "; no call before has written any byte of it"),
               .where = PlaceOf(reinterpret_cast<const void*>(access.span.begin), bytes),
               .fix = "write it before: aclrtMemcpy, aclrtMemset, aclnnInplaceZero or as the "
                      "output of an operator"});
}

}  // namespace

void WatchReads(const Caller& caller, const std::vector<MemoryAccess>& accesses) noexcept {
  const std::vector<const MemoryAccess*> found = TellReads(accesses);
  try {
    for (const MemoryAccess* access : found) Report(caller, *access);
  } catch (...) {  // without memory for words there is no report
  }
}

}  // namespace openaclnn
