// SPDX-License-Identifier: Apache-2.0
// Reports of races: which calls, which bytes of which allocation, and how to order them.
#include "ascendcl/check/race_report.h"

#include <string>
#include <string_view>

#include "ascendcl/check/race_watch.h"
#include "ascendcl/check/standard_error.h"
#include "ascendcl/log.h"
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

/// "bytes 0 to 4095 of the 8192 that were allocated at 0x… on device 0".
std::string Place(const ByteRange& bytes) {
  const auto* address = reinterpret_cast<const void*>(bytes.begin);
  MemoryPin pin;
  if (Memory::Get().Pin(address, 0, &pin) != Memory::Lookup::kPinned) {
    return Concat(bytes.end - bytes.begin, " bytes at ", address);
  }
  const Allocation& allocation = *pin.allocation();
  const uint64_t first = bytes.begin - reinterpret_cast<uintptr_t>(allocation.block.device);
  const std::string where = allocation.location == Location::kDevice
                                ? Concat(" on device ", allocation.device_id)
                                : " in pinned host memory";
  return Concat(
      "bytes ", first, " to ", first + (bytes.end - bytes.begin) - 1, " of the ",
      allocation.block.bytes,
      allocation.range != nullptr ? " that were reserved at " : " that were allocated at ",
      static_cast<const void*>(allocation.block.device), where);
}

std::string Advice(const Race& race) {
  const std::string first = StreamText(race.first.caller);
  if (race.second.caller.stream == 0) {
    return Concat("synchronise ", first, " before ", race.second.caller.call,
                  " (aclrtSynchronizeStream)");
  }
  return Concat("record an event on ", first, " after ", race.first.caller.call, " and let ",
                StreamText(race.second.caller), "\n         wait for it before ",
                race.second.caller.call, " (aclrtRecordEvent, aclrtStreamWaitEvent)");
}

std::string Describe(const Race& race) {
  const Race::Party &first = race.first, &second = race.second;
  return Concat("openaclnn: race: nothing orders ", second.caller.call, " on ",
                StreamText(second.caller), "\n         after ", first.caller.call, " on ",
                StreamText(first.caller), "\n  what:  ", second.caller.call, " ", Deed(second),
                "; ", first.caller.call, ", called before, ", Deed(first),
                "\n  where: ", Place(race.bytes), "\n  fix:   ", Advice(race), "\n");
}

/// The lines of a text with one space between.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space) line += c;
    if (space && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line;
}

void Report(const Race& race) {
  const std::string text = Describe(race);
  WriteToStandardError(text);
  if (LogEnabled(LogModule::kAscendcl, LogLevel::kError)) {
    Log(LogModule::kAscendcl, LogLevel::kError, OneLine(text));
  }
}

}  // namespace

void WatchAccesses(const Caller& caller, const std::vector<MemoryAccess>& accesses) noexcept {
  const std::vector<Race> races = TellAccesses(caller, accesses);
  try {
    for (const Race& race : races) Report(race);
  } catch (...) {  // without memory for words there is no report; it was counted
  }
}

void SummariseRaces() noexcept {
  const RaceCounts counts = EndRaceWatch();
  if (counts.found == 0) return;
  try {
    WriteToStandardError(Concat("openaclnn: ", counts.found, counts.found == 1 ? " race" : " races",
                                ", ", counts.reported, " reported (each pair of calls once)\n"));
  } catch (...) {  // as above
  }
}

}  // namespace openaclnn
