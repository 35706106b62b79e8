// SPDX-License-Identifier: Apache-2.0
// Overlap: which bytes a copy both reads and writes.
#include "ascendcl/check/overlap.h"

#include <algorithm>
#include <string>

#include "ascendcl/check/race_report.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/memory/place.h"
#include "ascendcl/report/report.h"

namespace openaclnn {
namespace {

/// From the first byte that both have to the last; empty if there is none. Runs are in order.
ByteRange Shared(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b) {
  ByteRange shared = {0, 0};
  for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end();) {
    const ByteRange both = {std::max(left->begin, right->begin), std::min(left->end, right->end)};
    if (both.begin < both.end) {
      if (shared.end == 0) shared.begin = both.begin;
      shared.end = both.end;
    }
    left->end < right->end ? void(++left) : void(++right);
  }
  return shared;
}

}  // namespace

void WatchOverlap(const Caller& caller, const MemoryAccess& dst, const MemoryAccess& src) noexcept
    try {
  if (dst.runs == src.runs) return;
  const ByteRange shared = Shared(dst.runs, src.runs);
  if (shared.end == 0) return;
  const uint64_t bytes = shared.end - shared.begin;
  if (!CountFinding(Check::kRacecheck, Concat(caller.call, " overlaps ", bytes))) return;
  const bool behind = dst.span.begin >= src.span.begin;
  const uint64_t apart = behind ? dst.span.begin - src.span.begin : src.span.begin - dst.span.begin;
  TellFinding({.check = Check::kRacecheck,
               .title = Concat(caller.call, " on ", StreamText(caller),
                               " copies between places that overlap"),
               .what = Concat("dst begins ", apart, behind ? " bytes behind" : " bytes before",
                              " src; a device reads and writes in no order that is promised"),
               .where = PlaceOf(reinterpret_cast<const void*>(shared.begin), bytes),
               .fix = "copy to other memory first, and from there"});
} catch (...) {  // without memory for words there is no report
}

}  // namespace openaclnn
