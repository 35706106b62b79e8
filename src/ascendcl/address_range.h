// SPDX-License-Identifier: Apache-2.0
// Reserved addresses, and physical memory that is put there and taken away.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "ascendcl/arena.h"
#include "common/handle_table.h"
#include "common/status.h"

namespace openaclnn {

/// Memory without an address of its own.
class PhysicalMemory {
 public:
  static constexpr Kind kKind = Kind::kPhysicalMemory;
  static constexpr const char* kNoun = "physical memory";

  /// Told of the device and the bytes when the memory is given back.
  using Ended = void (*)(uint32_t device_id, uint64_t bytes);

  static Status Create(uint32_t device_id, uint64_t bytes, Ended ended,
                       std::shared_ptr<PhysicalMemory>* made);
  PhysicalMemory(const PhysicalMemory&) = delete;
  ~PhysicalMemory();

  uint32_t device_id() const { return device_id_; }
  uint64_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_; }

 private:
  PhysicalMemory(uint32_t device_id, uint64_t bytes, int descriptor, Ended ended)
      : device_id_(device_id), bytes_(bytes), descriptor_(descriptor), ended_(ended) {}

  const uint32_t device_id_;
  const uint64_t bytes_;
  const int descriptor_;  // of a file without a name
  const Ended ended_;
};

/// A range of addresses and what is mapped in it. As for all device memory, clients hold addresses
/// that the host may not touch, and kernels use a second range. Not safe for concurrent use; its
/// owner locks.
class AddressRange {
 public:
  static Status Reserve(uint64_t bytes, bool host_access, std::unique_ptr<AddressRange>* made);
  AddressRange(const AddressRange&) = delete;
  ~AddressRange();

  const Block& block() const { return block_; }
  /// Whether no memory is mapped.
  bool empty() const { return mapped_.empty(); }
  /// Whether memory is mapped everywhere in a part of the range.
  bool Holds(uint64_t offset, uint64_t bytes) const;

  Status Map(uint64_t offset, std::shared_ptr<PhysicalMemory> memory);
  /// The memory is not found any more; Settle takes it away.
  Status Unmap(uint64_t offset);
  /// Takes away what was unmapped; to be called when no task uses the range.
  std::vector<std::shared_ptr<PhysicalMemory>> Settle();

  static constexpr uint64_t kGranularity = uint64_t{2} << 20;

 private:
  using Pieces = std::map<uint64_t, std::shared_ptr<PhysicalMemory>>;  // by offset

  explicit AddressRange(const Block& block) : block_(block) {}
  static bool Overlaps(const Pieces& pieces, uint64_t offset, uint64_t bytes);

  Block block_;
  Pieces mapped_;
  Pieces leaving_;  // unmapped, but perhaps used by a queued task
};

}  // namespace openaclnn
