// SPDX-License-Identifier: Apache-2.0
// Value wait: streams that stand still until a number in device memory is what they wait for.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace openaclnn {

class Stream;

extern std::atomic<uint32_t> g_value_waits;

/// False if the condition holds. Else `wake` is called with the stream once memory has been written
/// since.
bool ParkUnless(const std::function<bool()>& holds, std::shared_ptr<Stream> stream,
                void (*wake)(Stream&));

/// Lets the streams look again.
void WakeValueWaits() noexcept;

/// Device memory may have been written, by a task or by a call that copies at once.
inline void NoteWritten() noexcept {
  // Whoever begins to wait counts first and looks at the memory then: both change the count, so
  // that one sees the other. A fence would do, but ThreadSanitizer knows none.
  if (g_value_waits.fetch_add(0, std::memory_order_acq_rel) != 0) [[unlikely]]
    WakeValueWaits();
}

}  // namespace openaclnn
