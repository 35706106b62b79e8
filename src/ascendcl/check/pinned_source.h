// SPDX-License-Identifier: Apache-2.0
// Pinned sources, and destinations: reports of host memory that the host changes while a queued
// copy is still to read or to write it (OPENACLNN_CHECK=full).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ascendcl/watch/race.h"
#include "common/byte_runs.h"

namespace openaclnn {

/// Rows of pinned memory.
struct PinnedRows {
  const std::byte* first = nullptr;
  uint64_t pitch = 0, width = 0, height = 0;

  ByteRange span() const;
};

/// Says, while it lives, that a task is to write the rows: what they hold then is not what they
/// hold now.
class PinnedWrite {
 public:
  explicit PinnedWrite(const PinnedRows& rows);
  PinnedWrite(const PinnedWrite&) = delete;
  ~PinnedWrite();

 private:
  const ByteRange bytes_;
};

/// A copy's source or destination on the host, as it was when the program called the copy.
class PinnedSource {
 public:
  enum class Role { kSource, kDestination };

  /// Null where something that the copy may come after is still to write it: a task, or a function
  /// of the host.
  static std::unique_ptr<const PinnedSource> Take(Role role, const Caller& caller,
                                                  const PinnedRows& rows);

  /// When the copy runs: reports what has changed.
  void Compare() const noexcept;

 private:
  struct Change {
    const std::byte* first = nullptr;  // null: none
    uint64_t bytes = 0;                // that it is known to be among
  };

  PinnedSource(Role role, const Caller& caller, const PinnedRows& rows);
  Change Find() const;

  const Role role_;
  const Caller caller_;
  const PinnedRows rows_;
  std::vector<std::byte> copy_;   // of a small source
  std::vector<uint64_t> hashes_;  // of the pieces of a large one
};

}  // namespace openaclnn
