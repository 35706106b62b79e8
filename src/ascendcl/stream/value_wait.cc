// SPDX-License-Identifier: Apache-2.0
// Value wait: the streams that stand still, and how they are woken.
#include "ascendcl/stream/value_wait.h"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/hold_during_fork.h"
#include "common/lasting.h"

namespace openaclnn {

std::atomic<uint32_t> g_value_waits{0};

namespace {

struct Parked {
  std::shared_ptr<Stream> stream;
  void (*wake)(Stream&);
};

/// The streams that wait or are about to; one that was woken for another reason is here twice.
struct AllParked {
  std::mutex mutex;  // guards what follows, and g_value_waits is its size
  std::vector<Parked> streams;

  void Count() const { g_value_waits.exchange(static_cast<uint32_t>(streams.size())); }
};

AllParked& All() { return Lasting<AllParked>(); }

std::mutex& Mutex() { return All().mutex; }
[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();

}  // namespace

bool ParkUnless(const std::function<bool()>& holds, std::shared_ptr<Stream> stream,
                void (*wake)(Stream&)) {
  AllParked& all = All();
  std::lock_guard lock(all.mutex);
  all.streams.push_back({std::move(stream), wake});
  all.Count();
  if (!holds()) return true;
  all.streams.pop_back();
  all.Count();
  return false;
}

void WakeValueWaits() noexcept {
  AllParked& all = All();
  std::vector<Parked> streams;
  {
    std::lock_guard lock(all.mutex);
    streams.swap(all.streams);
    all.Count();
  }
  for (const Parked& each : streams) each.wake(*each.stream);
}

}  // namespace openaclnn
