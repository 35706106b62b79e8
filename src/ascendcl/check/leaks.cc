// SPDX-License-Identifier: Apache-2.0
// Leaks: each with the call that made it.
#include "ascendcl/check/leaks.h"

#include <unistd.h>

#include <atomic>
#include <string>
#include <string_view>

#include "ascendcl/memory/place.h"
#include "ascendcl/process/handles.h"
#include "ascendcl/process/symbol.h"
#include "ascendcl/report/error.h"
#include "ascendcl/report/log.h"
#include "ascendcl/report/report.h"
#include "ascendcl/report/report_file.h"

namespace openaclnn {
namespace {

constexpr size_t kMostTold = 100;
constexpr LogLevel kLevel = LogLevel::kWarning;

/// Sums of everything that was left.
struct Sum {
  size_t allocations = 0;
  size_t handles = 0;
  uint64_t bytes = 0;  // of device memory

  size_t count() const { return allocations + handles; }
};
Sum g_sum;  // of the aclFinalize that runs

std::atomic<void (*)(void (*see)(const void*, const char*))> g_show_executors{nullptr};

void Tell(std::string title, std::string where, const char* fix) {
  ReportFinding({.check = Check::kMemcheck,
                 .title = std::move(title),
                 .what = {},
                 .where = std::move(where),
                 .fix = Concat("call ", fix, " before aclFinalize"),
                 .code = 0,
                 .severity = Severity::kLeak});
}

void Add(const Allocation& allocation) {
  const bool reserved = allocation.range != nullptr;
  const bool pinned = allocation.location == Location::kPinnedHost;
  const Block& block = allocation.block;
  if (!reserved && !pinned) g_sum.bytes += block.bytes;
  ++g_sum.allocations;
  if (g_sum.count() > kMostTold) return;
  const char* kind = reserved ? " reserved bytes" : pinned ? " bytes of pinned memory" : " bytes";
  Tell(Concat("aclFinalize: ", block.bytes, kind, " at ", static_cast<const void*>(block.device),
              " were left"),
       TextOf(block.device, block.bytes, PlaceIn(allocation)),
       reserved ? "aclrtReleaseMemAddress"
       : pinned ? "aclrtFreeHost"
                : "aclrtFree");
}

void Add(const void* handle, const PhysicalMemory& memory) {
  g_sum.bytes += memory.bytes();
  ++g_sum.allocations;
  if (g_sum.count() > kMostTold) return;
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
void AddPhysicalMemory() {
  RuntimeHandles().ShowAll(
      PhysicalMemory::kKind,
      [](void*, const void* handle, void* entry) {
        Add(handle, *static_cast<HandleEntry<PhysicalMemory>*>(entry)->object);
      },
      nullptr);
}

void AddHandle(const char* noun, const void* handle, std::string_view of, const char* fix) {
  ++g_sum.handles;
  if (g_sum.count() > kMostTold) return;
  Tell(Concat("aclFinalize: ", noun, " ", handle, of, " was left"), {}, fix);
}

bool LeaksAreTold() { return LogEnabled(LogModule::kAscendcl, kLevel) || HasReportFile(); }

}  // namespace

void ShowExecutorsBy(void (*show)(void (*see)(const void* executor, const char* maker))) {
  g_show_executors = show;
}

void TellLeftHandles() {
  g_sum = {};
  if (!LeaksAreTold()) return;
  HandleTable& handles = RuntimeHandles();
  handles.ShowAll(
      Kind::kStream,
      [](void*, const void* handle, void*) {
        AddHandle("stream", handle, "", "aclrtDestroyStream");
      },
      nullptr);
  handles.ShowAll(
      Kind::kEvent,
      [](void*, const void* handle, void*) { AddHandle("event", handle, "", "aclrtDestroyEvent"); },
      nullptr);
  const auto show = g_show_executors.load();
  if (show == nullptr) return;
  show([](const void* executor, const char* maker) {
    (void)Guard([&] {
      AddHandle("executor", executor, Concat(" of ", maker, "GetWorkspaceSize"),
                "its second phase, or aclDestroyAclOpExecutor,");
      return Status();
    });
  });
}

void TellLeaks(const Memory::Table& left) {
  if (!LeaksAreTold()) return;
  for (const auto& [address, allocation] : left) Add(*allocation);
}

void EndLeaks() {
  if (!LeaksAreTold()) return;
  AddPhysicalMemory();
  if (g_sum.count() == 0) return;
  if (g_sum.allocations > 0) {
    Log(LogModule::kAscendcl, kLevel,
        Concat("aclFinalize: ", g_sum.allocations, " allocations were left, ", g_sum.bytes,
               " bytes of device memory"));
  }
  if (g_sum.handles > 0) {
    Log(LogModule::kAscendcl, kLevel,
        Concat("aclFinalize: ", g_sum.handles, " streams, events and executors were left"));
  }
  AppendToReportFile(Concat("{\"pid\":", getpid(), ",\"leaks\":", g_sum.count(),
                            ",\"bytes\":", g_sum.bytes, "}\n"));
}

}  // namespace openaclnn
