// SPDX-License-Identifier: Apache-2.0
// Trace: what OPENACLNN_TRACE asks for, an event in a file for each call and each task.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace openaclnn {

/// Nanoseconds on the clock of the events, never 0.
inline int64_t TraceClock() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// libascendcl defines kTracing and TraceCall; in the libraries above it client.cc does.

/// Where the interface's flag is.
extern const uint32_t* const kTracing;

inline bool Tracing() { return __atomic_load_n(kTracing, __ATOMIC_RELAXED) != 0; }

/// When what is to be recorded begins; 0 when it is not to be.
inline int64_t TraceStart() {
  if (Tracing()) [[unlikely]]
    return TraceClock();
  return 0;
}

/// Records a call of the calling thread that ends now. `phase` is added to the name.
void TraceCall(const char* api, const char* phase, int64_t start, int code);

// The following declarations are libascendcl's own.

extern uint32_t g_tracing;

/// Adds to the calling thread's next TraceCall: members of a JSON object, behind those that were
/// noted before. While nothing is recorded it does nothing.
void NoteArguments(const char* members) noexcept;
/// Adds the kind and size of a copy or a fill.
void NoteCopy(const char* kind, uint64_t bytes) noexcept;
/// Adds the size of an allocation.
void NoteSize(uint64_t bytes) noexcept;

/// A task that has ended.
struct TracedTask {
  const char* name;
  bool only_waits;
  std::string arguments;  // members of a JSON object
};

/// A stream's row in the trace.
class TraceRow {
 public:
  explicit TraceRow(uint32_t device_id) : device_id_(device_id) {}

  /// Makes the calling thread's next TraceCall name the stream.
  void Note() noexcept;

  /// Records a task that ends now.
  void Record(const TracedTask& task, int64_t start, int code);

 private:
  std::string Name();

  const uint32_t device_id_;
  uint64_t number_ = 0;  // in the order in which streams are first named
  uint64_t file_ = 0;    // the file that has the row's name
};

/// Reads the variable anew, for aclInit. The file is made for the first event.
void ReloadTrace();

}  // namespace openaclnn
