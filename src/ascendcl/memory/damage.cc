// SPDX-License-Identifier: Apache-2.0
// Reports of damaged canaries: which bytes beside which allocation, and who used it last.
#include "ascendcl/memory/damage.h"

#include <string>

#include "ascendcl/memory/place.h"
#include "ascendcl/report/report.h"

namespace openaclnn {
namespace {

/// Bytes beside a block, counted from its first one.
struct Damage {
  int64_t first = 0, last = 0;
  bool found() const { return last != first; }
};

/// The bytes of a canary that were written: from the first up to, and without, the last.
Damage Find(const Block& block, int64_t begin, uint64_t bytes) {
  const std::byte* canary = block.host + begin;
  const uint64_t intact = IntactBytes(canary, bytes);
  if (intact == bytes) return {};
  uint64_t end = bytes;
  while (IntactBytes(canary + end - 1, 1) == 1) --end;
  return {begin + static_cast<int64_t>(intact), begin + static_cast<int64_t>(end)};
}

std::string Where(const Allocation& allocation, const Damage& damage) {
  Place place = PlaceIn(allocation);
  place.offset = damage.first;
  return TextOf(nullptr, static_cast<uint64_t>(damage.last - damage.first), place);
}

std::string What(const Allocation& allocation, const char* when) {
  const char* task = allocation.last_task.load(std::memory_order_relaxed);
  std::string text = when != nullptr ? Concat("seen at the end of ", when, "; ") : std::string();
  return text + (task != nullptr
                     ? Concat("the last task that used the allocation is ", task)
                     : std::string("no task has used the allocation: the host wrote there"));
}

}  // namespace

void WriteCanaryOf(Allocation& allocation) noexcept {
  Canary none = Canary::kNone;
  if (!allocation.canary.compare_exchange_strong(none, Canary::kBeingWritten)) return;
  const Block& block = allocation.block;
  WriteCanary(block.host + block.bytes, block.behind);
  allocation.canary.store(Canary::kWritten, std::memory_order_release);
}

void ReportDamage(const Allocation& allocation, const char* when) noexcept try {
  if (!HasCanary(allocation)) return;
  const Block& block = allocation.block;
  Damage damage = Find(block, static_cast<int64_t>(block.bytes), block.behind);
  if (!damage.found()) damage = Find(block, -int64_t{block.before}, block.before);
  if (!damage.found() || allocation.damaged.exchange(true)) return;
  const char* task = allocation.last_task.load(std::memory_order_relaxed);
  const std::string key = Concat(task != nullptr ? task : "", " ", block.bytes, " ", damage.first);
  if (!CountFinding(Check::kMemcheck, key)) return;
  TellFinding({.check = Check::kMemcheck,
               .title = damage.first < 0 ? "memory before an allocation was written"
                                         : "memory behind an allocation was written",
               .what = What(allocation, when),
               .where = Where(allocation, damage),
               .fix = "look for a size, a stride or an index that is too large where this memory "
                      "is written,\nor, in what lies beside it, one that is negative; "
                      "OPENACLNN_CHECK=full stops who writes\nbeyond the page"});
} catch (...) {  // without memory for words there is no report
}

}  // namespace openaclnn
