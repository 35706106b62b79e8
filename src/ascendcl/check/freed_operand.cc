// SPDX-License-Identifier: Apache-2.0
// Freed operands: which task of a graph, which memory, and who freed it.
#include "ascendcl/check/freed_operand.h"

#include "ascendcl/check/race_report.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/report/report.h"

namespace openaclnn {

void FreedByProgram::See(void* self, const Kept& kept) noexcept try {
  const Caller& caller = static_cast<const FreedByProgram*>(self)->caller;
  const Allocation& allocation = kept.allocation;
  if (allocation.range != nullptr || allocation.of_library) return;
  if (Memory::Get().IsLive(allocation)) return;
  if (!CountFinding(Check::kMemcheck, Concat(caller.call, " of a graph"))) return;
  Place place = PlaceIn(allocation);
  place.offset = kept.host - allocation.block.host;
  place.freed_by = allocation.freed_by;
  const void* address = allocation.block.device + place.offset;
  TellFinding({.check = Check::kMemcheck,
               .title = Concat("a graph executes ", caller.call, " on ", StreamText(caller),
                               "\nwith memory that was freed"),
               .what = "its tasks use the addresses that they were captured with",
               .where = TextOf(address, kept.bytes, place),
               .fix = "free what a graph uses behind its last execution"});
} catch (...) {  // without memory for words there is no report
}

}  // namespace openaclnn
