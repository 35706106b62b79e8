// SPDX-License-Identifier: Apache-2.0
// Address space for device memory: each block has an address for clients and one for kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace openaclnn {

/// A block of memory. Clients hold `device`, which the host may not touch unless host access was
/// asked for; kernels and copies use `host`, the same block mapped readable and writable.
struct Block {
  std::byte* device = nullptr;
  std::byte* host = nullptr;
  uint64_t bytes = 0;
  // Bytes beside it for a canary (check/canary.h), which the owner writes.
  uint32_t before = 0;
  uint32_t behind = 0;
};

struct ArenaOptions {
  bool host_access = false;  // device == host
  bool guard_pages = false;  // each block alone, its end at an inaccessible page
  bool canaries = false;     // room beside each block
  bool sparing = false;      // as malloc: no huge pages, and those of large freed blocks go back
  bool at_pages = false;     // each block begins at a page

  bool operator==(const ArenaOptions&) const = default;
};

/// Hands out blocks from large mappings, best fit first, and joins neighbours when they come back.
/// Not safe for concurrent use; its owner locks.
class Arena {
 public:
  explicit Arena(const ArenaOptions& options);
  ~Arena();
  Arena(const Arena&) = delete;

  /// False when the machine has no address space left. Blocks are aligned to kAlignment, those that
  /// end at an inaccessible page to kGuardedAlignment, and with `at_pages` all to kPage. Their
  /// bytes are what was there before. If it throws, nothing is handed out.
  bool Allocate(uint64_t bytes, Block* block);
  /// Fills the pages that a new guarded block has alone, and writes its canaries. Allocate does not
  /// do this, because a large block takes long and the owner need not lock for it.
  static void Fill(const Block& block);
  /// Needs no memory: what it enters was made when the block was handed out.
  void Free(const Block& block) noexcept;
  /// Gives the machine what is kept of freed blocks back, the oldest first, but for so much.
  void GiveBack(uint64_t most = 0) noexcept;
  /// All of that, and the pages of what is free beside blocks in use. Takes the longer the more
  /// free ranges there are.
  void GiveAllBack() noexcept;

  const ArenaOptions& options() const { return options_; }

  /// How many blocks are handed out.
  uint64_t blocks() const { return blocks_; }

  /// True when the address lies in a mapping of this arena, allocated or not.
  bool Covers(const void* device) const;
  /// The clients' address for an address that kernels use; it may lie beside its segment, where
  /// nobody may touch it. Null for what is no such address.
  const void* DeviceAddress(const void* host) const;

  static constexpr uint64_t kAlignment = 512;
  static constexpr uint64_t kGuardedAlignment = 64;
  static constexpr uint64_t kPage = 4096;

 private:
  struct Segment;
  using BySize = std::set<std::pair<uint64_t, uintptr_t>>;  // length and device address

  /// A part of a segment, handed out or free.
  struct Range {
    uint64_t bytes = 0;
    BySize::node_type entry;  // of free_by_size_, empty while it is there

    bool free() const { return entry.empty(); }
  };
  using Ranges = std::map<uintptr_t, Range>;  // by device address

  Segment* AddSegment(uint64_t bytes);
  Segment* MapSegment(uint64_t bytes);
  Segment* ReviveSegment(uint64_t bytes);
  void RetireSegment(Segment* segment) noexcept;
  bool DropRetired() noexcept;
  /// Takes the segment off the list of those that are kept.
  void Forget(Segment* segment) noexcept;
  void RemoveSegment(Segment* segment) noexcept;
  Segment* Find(const void* device) const;
  void MakeFree(Ranges::iterator range) noexcept;
  Ranges::iterator MakeTaken(Segment* segment, BySize::iterator fit, uint64_t length);
  uint64_t alignment() const { return options_.at_pages ? kPage : kAlignment; }
  uint64_t LengthFor(uint64_t bytes) const;
  bool AllocateGuarded(uint64_t bytes, Block* block);
  bool AllocateShared(uint64_t bytes, Block* block);

  ArenaOptions options_;
  std::map<uintptr_t, std::unique_ptr<Segment>> segments_;  // by first device address
  BySize free_by_size_;
  // Segments that hold nothing, oldest first. They keep their addresses for a while, so that the
  // use of freed memory is told apart from the use of host memory.
  std::list<Segment*> retired_;
  uint64_t kept_bytes_ = 0;  // of retired segments that still have their pages
  uint64_t blocks_ = 0;
};

}  // namespace openaclnn
