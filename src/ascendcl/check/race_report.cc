// SPDX-License-Identifier: Apache-2.0
// Reports of races: which calls, which bytes of which allocation, and how to order them.
#include "ascendcl/check/race_report.h"

#include <string>

#include "ascendcl/check/write_report.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/report/report.h"
#include "ascendcl/watch/race_watch.h"

namespace openaclnn {

std::string StreamText(const Caller& caller) {
  if (caller.stream == 0) return "the host";
  return caller.handle == nullptr ? "the default stream" : Concat("stream ", caller.handle);
}

namespace {

std::string Deed(const Race::Party& party) {
  const char* deed = party.caller.frees ? "frees " : party.writes ? "writes " : "reads ";
  return Concat(deed, party.operand);
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

/// The key under which a race is reported once: its two calls, operands and streams.
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

void WatchFree(const char* api, const char* operand, const void* address, uint64_t bytes) noexcept
    try {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const ByteRange all = {begin, begin + bytes};
  ReportRaces(TellAccesses({.call = api, .frees = true}, {{operand, true, {all}, all}}));
} catch (...) {  // a check must not fail what it checks
}

void ReportRaces(const std::vector<Race>& races) noexcept try {
  for (const Race& race : races) Report(race);
} catch (...) {  // without memory for words there is no report; it was counted
}

}  // namespace openaclnn
