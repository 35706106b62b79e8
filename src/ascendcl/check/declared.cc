// SPDX-License-Identifier: Apache-2.0
// Declared accesses: the table of functions by which the libraries above say what a task touches,
// and what it may not.
#include "ascendcl/check/declared.h"

#include <span>
#include <utility>

#include "ascendcl/check/interface.h"
#include "ascendcl/check/leaks.h"
#include "ascendcl/check/operand_report.h"
#include "ascendcl/check/refusal.h"
#include "ascendcl/check/turn.h"
#include "ascendcl/memory/allocation.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/report/error.h"
#include "ascendcl/watch/race_watch.h"
#include "ascendcl/watch/workspace_watch.h"
#include "ascendcl/watch/write_watch.h"

namespace openaclnn {
namespace {

struct Declared {
  const OpenaclnnAccess* accesses = nullptr;
  uint32_t count = 0;
};
thread_local Declared t_declared;

/// The address by which clients know pinned memory.
const void* DeviceAddress(const OpenaclnnPin& pin) {
  const Block& block = static_cast<const Allocation*>(pin.allocation)->block;
  return block.device + (static_cast<const std::byte*>(pin.host) - block.host);
}

constexpr OpenaclnnCheck kCheck = {
    .watching_races = &g_watching_races,
    .watching_workspaces = &g_watching_workspaces,
    .declare =
        [](const OpenaclnnAccess* accesses, uint32_t count) {
          t_declared = {accesses, count};
        },
    .has_other_addresses =
        [](const OpenaclnnPin* pin) {
          const auto& allocation = *static_cast<const Allocation*>(pin->allocation);
          return Memory::Get().HasOtherAddresses(allocation, pin->host, pin->bytes) ? 1 : 0;
        },
    .tell_left = ReportLeft,
    .tell_misaligned = ReportMisaligned,
    .tell_shared_workspace = ReportSharedWorkspace,
    .refused =
        [](const char* api, int code, const char* words, const void* address, uint64_t bytes) {
          (void)Guard([&] {
            ReportRefusal(Misuse::kOperand, api, Status(code, words), address, bytes);
            return Status();
          });
        },
    .bad_value =
        [](const char* api, int code, const char* words, const OpenaclnnPin* pin) {
          (void)Guard([&] {
            const void* address = pin != nullptr ? DeviceAddress(*pin) : nullptr;
            ReportRefusal(Misuse::kValue, api, Status(code, words), address,
                          pin != nullptr ? pin->bytes : 0);
            return Status();
          });
        },
    .begin_turn = BeginTurn,
    .end_turn = EndTurn,
    .forget_touches =
        [](const void* device, uint64_t bytes) {
          if (!WatchingRaces()) return;
          ForgetTouches(device, bytes);
          Memory::Get().NoteOfLibrary(device);
        },
    .show_executors = ShowExecutorsBy,
};

Reading ReadingOf(OpenaclnnReading reading) {
  switch (reading) {
    case OPENACLNN_READS:
      return Reading::kSurely;
    case OPENACLNN_MOVES:
      return Reading::kMoves;
    case OPENACLNN_READS_PERHAPS:
      break;
  }
  return Reading::kMaybe;
}

}  // namespace

std::vector<MemoryAccess> TakeDeclared() {
  const Declared declared = std::exchange(t_declared, {});
  if (declared.count > 0 && declared.accesses->operand == nullptr) {
    ForgetUnwritten();
    return {};
  }
  std::vector<MemoryAccess> accesses(declared.count);
  for (uint32_t i = 0; i < declared.count; ++i) {
    const OpenaclnnAccess& access = declared.accesses[i];
    const std::span dims(access.dims, access.rank), strides(access.strides, access.rank);
    accesses[i] = {access.operand,
                   access.writes != 0,
                   {},
                   FindByteSpan(access.origin, access.element_bytes, dims, strides),
                   ReadingOf(access.reading)};
    // A view of too many pieces is left out: what is not known exactly is not reported.
    (void)FindByteRuns(access.origin, access.element_bytes, dims, strides, &accesses[i].runs);
  }
  return accesses;
}

}  // namespace openaclnn

const OpenaclnnCheck* openaclnn_check(uint32_t version) {
  return version == OPENACLNN_CHECK_INTERFACE ? &openaclnn::kCheck : nullptr;
}
