// SPDX-License-Identifier: Apache-2.0
// ProgramMemory: memory that tasks of a graph keep and that the program may unmap or unregister.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "ascendcl/memory/allocation.h"
#include "ascendcl/stream/task.h"
#include "common/status.h"

namespace openaclnn {

class ProgramMemory {
 public:
  /// Adds what the task keeps. If it throws, nothing is added.
  void Add(const Task& task);
  /// Adds what the other has; needs no memory.
  void Take(ProgramMemory&& other);

  /// Whether it has some of these bytes of reserved addresses, which the host finds there.
  bool Has(const std::byte* host, uint64_t bytes) const;
  /// Refuses where memory of the host is not registered any more: it may be gone.
  Status CheckRegistered() const;

 private:
  void AddKept(const Kept& kept);

  /// Parts of reserved addresses: the first byte, as the host finds it, and the one behind the
  /// last.
  std::set<std::pair<const std::byte*, const std::byte*>> parts_;
  std::set<const Allocation*> registered_;  // memory of the host
};

}  // namespace openaclnn
