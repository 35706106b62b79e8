// SPDX-License-Identifier: Apache-2.0
// Reserved addresses, and physical memory that is put there and taken away.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "ascendcl/memory/arena.h"
#include "ascendcl/process/call_stack.h"
#include "common/descriptor.h"
#include "common/handle_table.h"
#include "common/status.h"

namespace openaclnn {

/// The refusal of a size for which the process has no addresses. It names the limit if there is
/// one.
Status NoAddresses(uint64_t bytes);

/// Memory without an address of its own.
class PhysicalMemory {
 public:
  static constexpr Kind kKind = Kind::kPhysicalMemory;
  static constexpr const char* kNoun = "physical memory";

  static Status Create(uint32_t device_id, uint64_t bytes, std::shared_ptr<PhysicalMemory>* made);
  PhysicalMemory(const PhysicalMemory&) = delete;
  ~PhysicalMemory();

  uint32_t device_id() const { return device_id_; }
  uint64_t bytes() const { return bytes_; }
  /// The descriptor of its file; negative where the program has closed that.
  int descriptor() const { return file_.Descriptor(); }
  /// At how many addresses it is mapped.
  std::atomic<uint32_t>& mappings() { return mappings_; }

  /// Writes `value` everywhere, as far as the machine lets it.
  void Fill(int value) const;

  /// Told of the device and the bytes when the memory is given back.
  using Ended = void (*)(uint32_t device_id, uint64_t bytes);
  void TellEnd(Ended ended) { ended_ = ended; }

  /// The call stack that made it; null where that is not known.
  const CallStack* made_from() const { return made_from_.get(); }
  void set_made_from(std::unique_ptr<const CallStack> stack) { made_from_ = std::move(stack); }

 private:
  PhysicalMemory(uint32_t device_id, uint64_t bytes) : device_id_(device_id), bytes_(bytes) {}

  const uint32_t device_id_;
  const uint64_t bytes_;
  KeptFile file_;  // without a name
  std::atomic<uint32_t> mappings_{0};
  Ended ended_ = nullptr;
  std::unique_ptr<const CallStack> made_from_;
};

/// A range of addresses and what is mapped in it. As for all device memory, clients hold addresses
/// that the host may not touch, and kernels use a second range. Not safe for concurrent use; its
/// owner locks. (Use may run beside itself and what is const.)
class AddressRange {
 public:
  /// Memory that is mapped.
  struct Piece {
    explicit Piece(std::shared_ptr<PhysicalMemory> given) : memory(std::move(given)) {
      ++memory->mappings();
    }
    Piece(const Piece&) = delete;
    ~Piece() { --memory->mappings(); }
    const std::shared_ptr<PhysicalMemory> memory;
    std::atomic<uint32_t> uses{0};
  };
  using Pieces = std::map<uint64_t, Piece>;  // by offset

  static Status Reserve(uint64_t bytes, bool host_access, std::unique_ptr<AddressRange>* made);
  /// Addresses for memory of the host, which kernels use where it is; nothing can be mapped there.
  static Status Register(void* host, uint64_t bytes, std::unique_ptr<AddressRange>* made);
  AddressRange(const AddressRange&) = delete;
  ~AddressRange();

  const Block& block() const { return block_; }
  /// Whether it stands for memory of the host.
  bool registered() const { return registered_; }
  /// Whether no memory is mapped.
  bool empty() const { return mapped_.empty() && !registered_; }
  /// Whether memory is mapped everywhere in a part of the range.
  bool Holds(uint64_t offset, uint64_t bytes) const;
  /// Whether memory in a part of the range is mapped elsewhere, too.
  bool HasOtherAddresses(uint64_t offset, uint64_t bytes) const;

  /// Keeps what is mapped in a part that the range Holds, until EndUse of the same part.
  void Use(uint64_t offset, uint64_t bytes);
  /// Moves to `left` what was unmapped and is not used any more. To be given up without the owner's
  /// lock, as `left` of the next.
  void EndUse(uint64_t offset, uint64_t bytes, Pieces* left);

  /// *used: the host's address of the part, if it fails for what was unmapped and is still used.
  Status Map(uint64_t offset, const std::shared_ptr<PhysicalMemory>& memory,
             const std::byte** used);
  /// The memory is not found any more; it is moved to `left` unless it is used.
  Status Unmap(uint64_t offset, Pieces* left);

  static constexpr uint64_t kGranularity = uint64_t{2} << 20;

 private:
  explicit AddressRange(const Block& block) : block_(block) {}
  static bool Overlaps(const Pieces& pieces, uint64_t offset, uint64_t bytes);
  void Leave(Pieces::iterator piece, Pieces* left);

  Block block_;
  bool registered_ = false;
  Pieces mapped_;
  Pieces leaving_;  // unmapped, but used by a queued task or a graph
};

}  // namespace openaclnn
