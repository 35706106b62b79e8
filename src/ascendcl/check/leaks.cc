// SPDX-License-Identifier: Apache-2.0
// Leaks: each with the call that made it.
#include "ascendcl/check/leaks.h"

#include "ascendcl/check/place.h"
#include "ascendcl/check/report.h"
#include "ascendcl/check/report_file.h"
#include "ascendcl/log.h"

namespace openaclnn {
namespace {

constexpr size_t kMostTold = 100;

void Tell(const Allocation& allocation) {
  const bool reserved = allocation.range != nullptr;
  const Block& block = allocation.block;
  ReportFinding(
      {.check = Check::kMemcheck,
       .title = Concat("aclFinalize: ", block.bytes, reserved ? " reserved" : "", " bytes at ",
                       static_cast<const void*>(block.device), " were left"),
       .what = {},
       .where = TextOf(block.device, block.bytes, PlaceIn(allocation)),
       .fix = Concat("call ", reserved ? "aclrtReleaseMemAddress" : "aclrtFree",
                     " before aclFinalize"),
       .code = 0,
       .severity = Severity::kWarning});
}

}  // namespace

void TellLeaks(const Memory::Table& left) {
  constexpr LogLevel kLevel = LogLevel::kWarning;
  if (left.empty() || (!LogEnabled(LogModule::kAscendcl, kLevel) && !HasReportFile())) return;
  size_t told = 0;
  uint64_t bytes = 0;
  for (const auto& [address, allocation] : left) {
    if (allocation->range == nullptr) bytes += allocation->block.bytes;
    if (++told <= kMostTold) Tell(*allocation);
  }
  Log(LogModule::kAscendcl, kLevel,
      Concat("aclFinalize: ", left.size(), " allocations were left, ", bytes,
             " bytes of device memory"));
}

}  // namespace openaclnn
