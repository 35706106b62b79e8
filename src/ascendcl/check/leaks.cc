// SPDX-License-Identifier: Apache-2.0
// Leaks: each with the call that made it.
#include "ascendcl/check/leaks.h"

#include <unistd.h>

#include <string>

#include "ascendcl/check/place.h"
#include "ascendcl/check/report.h"
#include "ascendcl/check/report_file.h"
#include "ascendcl/check/symbol.h"
#include "ascendcl/handles.h"
#include "ascendcl/log.h"

namespace openaclnn {
namespace {

constexpr size_t kMostTold = 100;

/// What was left, all of it.
struct Sum {
  size_t count = 0;
  uint64_t bytes = 0;  // of device memory
};

void Tell(std::string title, std::string where, const char* fix) {
  ReportFinding({.check = Check::kMemcheck,
                 .title = std::move(title),
                 .what = {},
                 .where = std::move(where),
                 .fix = Concat("call ", fix, " before aclFinalize"),
                 .code = 0,
                 .severity = Severity::kLeak});
}

void Add(const Allocation& allocation, Sum* sum) {
  const bool reserved = allocation.range != nullptr;
  const Block& block = allocation.block;
  if (!reserved) sum->bytes += block.bytes;
  if (++sum->count > kMostTold) return;
  Tell(Concat("aclFinalize: ", block.bytes, reserved ? " reserved" : "", " bytes at ",
              static_cast<const void*>(block.device), " were left"),
       TextOf(block.device, block.bytes, PlaceIn(allocation)),
       reserved ? "aclrtReleaseMemAddress" : "aclrtFree");
}

void Add(const void* handle, const PhysicalMemory& memory, Sum* sum) {
  sum->bytes += memory.bytes();
  if (++sum->count > kMostTold) return;
  char room[2048];
  BoundedText where(room);
  where << memory.bytes() << " bytes that were allocated on device " << uint64_t{memory.device_id()}
        << " by aclrtMallocPhysical";
  if (memory.made_from() != nullptr) {
    WhileFilesStay([&] { WriteCallStack(*memory.made_from(), &where); });
  }
  Tell(Concat("aclFinalize: physical memory ", handle, " of ", memory.bytes(), " bytes was left"),
       std::string(where.view()), "aclrtFreePhysical");
}

// Memory that is mapped somewhere, and has no handle any more, goes with the range's addresses.
void AddPhysicalMemory(Sum* sum) {
  RuntimeHandles().ShowAll(
      PhysicalMemory::kKind,
      [](void* context, const void* handle, void* entry) {
        const auto& memory = *static_cast<HandleEntry<PhysicalMemory>*>(entry)->object;
        Add(handle, memory, static_cast<Sum*>(context));
      },
      sum);
}

}  // namespace

void TellLeaks(const Memory::Table& left) {
  constexpr LogLevel kLevel = LogLevel::kWarning;
  if (!LogEnabled(LogModule::kAscendcl, kLevel) && !HasReportFile()) return;
  Sum sum;
  for (const auto& [address, allocation] : left) Add(*allocation, &sum);
  AddPhysicalMemory(&sum);
  if (sum.count == 0) return;
  Log(LogModule::kAscendcl, kLevel,
      Concat("aclFinalize: ", sum.count, " allocations were left, ", sum.bytes,
             " bytes of device memory"));
  AppendToReportFile(
      Concat("{\"pid\":", getpid(), ",\"leaks\":", sum.count, ",\"bytes\":", sum.bytes, "}\n"));
}

}  // namespace openaclnn
