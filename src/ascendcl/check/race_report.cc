// SPDX-License-Identifier: Apache-2.0
// Reports of races: which calls, which bytes of which allocation, and how to order them.
#include "ascendcl/check/race_report.h"

#include <string>

#include "ascendcl/check/race_watch.h"
#include "ascendcl/check/report.h"
#include "ascendcl/check/write_report.h"
#include "ascendcl/memory.h"

namespace openaclnn {
namespace {

std::string StreamText(const Caller& caller) {
  if (caller.stream == 0) return "the host";
  return caller.handle == nullptr ? "the default stream" : Concat("stream ", caller.handle);
}

std::string Deed(const Race::Party& party) {
  return Concat(party.writes ? "writes " : "reads ", party.operand);
}

std::string Advice(const Race& race) {
  const std::string first = StreamText(race.first.caller);
  if (race.second.caller.stream == 0) {
    return Concat("synchronise ", first, " before ", race.second.caller.call,
                  " (aclrtSynchronizeStream)");
  }
  return Concat("record an event on ", first, " after ", race.first.caller.call, " and let ",
                StreamText(race.second.caller), "\nwait for it before ", race.second.caller.call,
                " (aclrtRecordEvent, aclrtStreamWaitEvent)");
}

/// The same two calls, operands and streams are one mistake, however often they are made.
std::string KeyOf(const Race& race) {
  std::string key;
  for (const Race::Party& party : {race.first, race.second}) {
    key += Concat(party.caller.call, " ", party.operand, " ", party.caller.stream, "\n");
  }
  return key;
}

void Report(const Race& race) {
  const Race::Party &first = race.first, &second = race.second;
  if (!CountFinding(Check::kRacecheck, KeyOf(race))) return;
  TellFinding(
      {.check = Check::kRacecheck,
       .title = Concat("nothing orders ", second.caller.call, " on ", StreamText(second.caller),
                       "\nafter ", first.caller.call, " on ", StreamText(first.caller)),
       .what = Concat(second.caller.call, " ", Deed(second), "; ", first.caller.call,
                      ", called before, ", Deed(first)),
       .where = PlaceOf(reinterpret_cast<const void*>(race.bytes.begin),
                        race.bytes.end - race.bytes.begin),
       .fix = Advice(race)});
}

}  // namespace

void WatchAccesses(const Caller& caller, const std::vector<MemoryAccess>& accesses) noexcept {
  WatchReads(caller, accesses);
  ReportRaces(TellAccesses(caller, accesses));
}

void ReportRaces(const std::vector<Race>& races) noexcept try {
  for (const Race& race : races) Report(race);
} catch (...) {  // without memory for words there is no report; it was counted
}

}  // namespace openaclnn
