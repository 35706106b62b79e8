// SPDX-License-Identifier: Apache-2.0
// Arena: a segment is two equal ranges of address space, of which kernels may touch the second.
#include "ascendcl/memory/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "ascendcl/memory/canary.h"
#include "ascendcl/memory/poison.h"

namespace openaclnn {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;
// Blocks below this share segments. Only touched pages cost memory, so a segment may be generous.
constexpr uint64_t kSegmentBytes = uint64_t{64} << 20;
constexpr uint64_t kGap = uint64_t{1} << 20;
constexpr size_t kMaxRetired = 1024;
// From here on malloc gives what is freed back to the machine, too.
constexpr uint64_t kSpared = uint64_t{128} << 10;
// The most bytes of retired segments that keep their pages for the next block of their size. A
// block of 200 MB, freed and allocated again, is written in 9 ms instead of 27 to 37 (the machine's
// own first time took 435).
constexpr uint64_t kKeptBytes = uint64_t{256} << 20;
// Guarded blocks hold this before their first write, and so does the memory beside them where it
// has no canaries: a NaN in every float type, and an index far out of range.
constexpr int kGuardPattern = 0xFF;

constexpr uint64_t RoundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

struct Arena::Segment {
  Segment() = default;
  Segment(const Segment&) = delete;
  ~Segment() {
    if (mapping != nullptr) munmap(mapping, mapping_bytes);
  }

  std::byte* mapping = nullptr;
  uint64_t mapping_bytes = 0;
  std::byte* device = nullptr;
  std::byte* host = nullptr;
  uint64_t bytes = 0;
  Ranges ranges;              // between them all of it
  std::list<Segment*> place;  // its element of retired_, here until it retires
  bool kept = false;          // retired, with its pages
};

Arena::Arena(const ArenaOptions& options) : options_(options) {}

Arena::~Arena() {
  while (!segments_.empty()) RemoveSegment(segments_.begin()->second.get());
}

// Address space is plentiful, the number of mappings in a process (65,530) is not.
Arena::Segment* Arena::AddSegment(uint64_t bytes) {
  // The addresses of guarded blocks rest while there are others, so that who uses what was freed
  // is told so, and does not meet the next block there.
  const bool rests = options_.guard_pages && retired_.size() < kMaxRetired;
  Segment* segment = rests ? nullptr : ReviveSegment(bytes);
  if (segment == nullptr) {
    GiveBack();  // what is kept is of other sizes
    segment = MapSegment(bytes);
  }
  if (segment == nullptr && rests) segment = ReviveSegment(bytes);
  if (segment == nullptr && DropRetired()) segment = MapSegment(bytes);
  if (segment == nullptr) return nullptr;
  // First touch of 4 KiB pages costs a fault each; huge pages took a third off large kernels.
  if (!options_.guard_pages && !options_.sparing && bytes >= kHugePage) {
    madvise(segment->host, bytes, MADV_HUGEPAGE);
  }
  return segment;
}

Arena::Segment* Arena::ReviveSegment(uint64_t bytes) {
  auto found = retired_.end();
  for (auto each = retired_.begin(); each != retired_.end(); ++each) {
    if ((*each)->bytes == bytes && (found == retired_.end() || (*each)->kept)) found = each;
  }
  if (found == retired_.end()) return nullptr;
  Segment* segment = *found;
  if (mprotect(segment->host, bytes, PROT_READ | PROT_WRITE) != 0) {
    // The kernel has no room for another mapping: this one is given up.
    retired_.erase(found);
    RemoveSegment(segment);
    return nullptr;
  }
  Forget(segment);
  segment->place.splice(segment->place.end(), retired_, found);
  return segment;
}

void Arena::Forget(Segment* segment) noexcept {
  if (std::exchange(segment->kept, false)) kept_bytes_ -= segment->bytes;
}

void Arena::GiveBack(uint64_t most) noexcept {
  for (Segment* each : retired_) {
    if (kept_bytes_ <= most) return;
    if (!each->kept) continue;
    madvise(each->host, each->bytes, MADV_DONTNEED);
    Forget(each);
  }
}

/// False where there are none.
bool Arena::DropRetired() noexcept {
  if (retired_.empty()) return false;
  for (Segment* each : std::exchange(retired_, {})) RemoveSegment(each);
  return true;
}

// Gives the memory back to the machine, but for what is kept; the addresses stay reserved until
// many more have retired. All of it is one range, which is taken.
void Arena::RetireSegment(Segment* segment) noexcept {
  UnpoisonMemory(segment->host, segment->bytes);
  if (mprotect(segment->host, segment->bytes, PROT_NONE) != 0) return RemoveSegment(segment);
  segment->kept = true;
  kept_bytes_ += segment->bytes;
  retired_.splice(retired_.end(), segment->place);
  GiveBack(options_.guard_pages ? 0 : kKeptBytes);
  if (retired_.size() <= kMaxRetired) return;
  RemoveSegment(retired_.front());
  retired_.pop_front();
}

Arena::Segment* Arena::MapSegment(uint64_t bytes) {
  // guard page | device range | host range | guard pages, with room to align both ranges to huge
  // pages.
  const uint64_t ranges = options_.host_access ? 1 : 2;
  // An access that leaves a guarded block's range by one address does not reach the other.
  const uint64_t gap = options_.guard_pages ? kGap : 0;
  const uint64_t mapping_bytes = ranges * bytes + gap + 3 * kPage + kHugePage;
  auto segment = std::make_unique<Segment>();
  segment->place.push_back(segment.get());
  void* mapping =
      mmap(nullptr, mapping_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  segment->mapping = static_cast<std::byte*>(mapping);
  segment->mapping_bytes = mapping_bytes;
  segment->device = reinterpret_cast<std::byte*>(
      RoundUp(reinterpret_cast<uintptr_t>(mapping) + kPage, kHugePage));
  segment->host = segment->device + (ranges - 1) * (bytes + gap);
  segment->bytes = bytes;
  if (mprotect(segment->host, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(segment->device);
  BySize entry = {{bytes, address}};
  segment->ranges.emplace(address, Range{bytes, entry.extract(entry.begin())});
  return (segments_[address] = std::move(segment)).get();
}

void Arena::RemoveSegment(Segment* segment) noexcept {
  Forget(segment);
  UnpoisonMemory(segment->host, segment->bytes);
  segments_.erase(reinterpret_cast<uintptr_t>(segment->device));
}

Arena::Segment* Arena::Find(const void* device) const {
  const auto address = reinterpret_cast<uintptr_t>(device);
  auto next = segments_.upper_bound(address);
  if (next == segments_.begin()) return nullptr;
  Segment* segment = std::prev(next)->second.get();
  const auto apart = static_cast<uint64_t>(segment->host - segment->device);
  const uint64_t behind = apart > 0 ? (apart - segment->bytes) / 2 : 0;  // the lower half of a gap
  return address - std::prev(next)->first < segment->bytes + behind ? segment : nullptr;
}

// Covers the bytes before a segment's first block too: they are no more accessible.
bool Arena::Covers(const void* device) const {
  if (Find(device) != nullptr) return true;
  const auto address = reinterpret_cast<uintptr_t>(device);
  const auto next = segments_.upper_bound(address);
  return next != segments_.end() && address >= reinterpret_cast<uintptr_t>(next->second->mapping);
}

const void* Arena::DeviceAddress(const void* host) const {
  const auto address = reinterpret_cast<uintptr_t>(host);
  auto next = segments_.upper_bound(address);
  if (next == segments_.begin()) return nullptr;
  const Segment& segment = *std::prev(next)->second;
  const auto end = reinterpret_cast<uintptr_t>(segment.mapping) + segment.mapping_bytes;
  if (address >= end || Covers(host)) return nullptr;
  return reinterpret_cast<const void*>(address - (segment.host - segment.device));
}

bool Arena::AllocateGuarded(uint64_t bytes, Block* block) {
  Segment* segment = AddSegment(RoundUp(bytes, kPage));
  if (segment == nullptr) return false;
  const uint64_t step = options_.at_pages ? kPage : kGuardedAlignment;
  const uint64_t lead = (segment->bytes - bytes) / step * step;
  *block = {segment->device + lead, segment->host + lead, bytes};
  if (!options_.canaries) return true;
  block->before = static_cast<uint32_t>(std::min(lead, kAlignment));
  block->behind = static_cast<uint32_t>(segment->bytes - lead - bytes);
  return true;
}

void Arena::Fill(const Block& block) {
  std::byte* const begin = block.host - reinterpret_cast<uintptr_t>(block.host) % kPage;
  const auto lead = static_cast<uint64_t>(block.host - begin);
  const uint64_t length = RoundUp(lead + block.bytes, kPage);
  std::memset(begin, kGuardPattern, length);
  PoisonMemory(block.host + block.bytes, length - lead - block.bytes);
  WriteCanary(block.host - block.before, block.before);
  WriteCanary(block.host + block.bytes, block.behind);
}

void Arena::MakeFree(Ranges::iterator range) noexcept {
  BySize::node_type entry = std::move(range->second.entry);
  entry.value() = {range->second.bytes, range->first};
  free_by_size_.insert(std::move(entry));
}

// The first `length` bytes of a free range; what is left stays free. What needs memory comes first.
Arena::Ranges::iterator Arena::MakeTaken(Segment* segment, BySize::iterator fit, uint64_t length) {
  const auto [bytes, address] = *fit;
  const auto range = segment->ranges.find(address);
  if (bytes > length) {
    BySize left = {{bytes - length, address + length}};
    segment->ranges.emplace_hint(std::next(range), address + length,
                                 Range{bytes - length, BySize::node_type()});
    free_by_size_.merge(left);
    range->second.bytes = length;
  }
  range->second.entry = free_by_size_.extract(fit);
  return range;
}

// The length of the range that a block takes. It has no canary where that alone would need pages of
// the machine or another segment: a page that nothing may touch follows such a block.
uint64_t Arena::LengthFor(uint64_t bytes) const {
  const uint64_t length = RoundUp(bytes, alignment());
  if (!options_.canaries || (length >= kSegmentBytes && length % kHugePage == 0)) return length;
  return RoundUp(bytes + kLeastCanary, alignment());
}

bool Arena::AllocateShared(uint64_t bytes, Block* block) {
  const uint64_t length = LengthFor(bytes);
  auto fit = free_by_size_.lower_bound({length, 0});
  if (fit == free_by_size_.end()) {
    const uint64_t segment_bytes = RoundUp(std::max(length, kSegmentBytes), kHugePage);
    Segment* segment = AddSegment(segment_bytes);
    if (segment == nullptr) return false;
    PoisonMemory(segment->host, segment->bytes);
    MakeFree(segment->ranges.begin());
    fit = free_by_size_.lower_bound({length, 0});
  }
  Segment* segment = Find(reinterpret_cast<void*>(fit->second));
  const auto range = MakeTaken(segment, fit, length);
  auto* device = reinterpret_cast<std::byte*>(range->first);
  *block = {device, segment->host + (device - segment->device), bytes};
  UnpoisonMemory(block->host, bytes);
  if (!options_.canaries) return true;
  block->behind = static_cast<uint32_t>(length - bytes);
  return true;
}

bool Arena::Allocate(uint64_t bytes, Block* block) {
  if (bytes > UINT64_MAX / 8) return false;
  const bool made =
      options_.guard_pages ? AllocateGuarded(bytes, block) : AllocateShared(bytes, block);
  if (made) ++blocks_;
  return made;
}

namespace {

/// Gives the machine the pages that lie in the range as a whole.
void GiveBackPages(std::byte* begin, uint64_t bytes) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const uint64_t lead = RoundUp(address, Arena::kPage) - address;
  if (lead >= bytes) return;
  madvise(begin + lead, (bytes - lead) / Arena::kPage * Arena::kPage, MADV_DONTNEED);
}

}  // namespace

void Arena::GiveAllBack() noexcept {
  GiveBack();
  for (const auto& [bytes, address] : free_by_size_) {
    const Segment* const segment = Find(reinterpret_cast<void*>(address));
    const auto* const device = reinterpret_cast<std::byte*>(address);
    GiveBackPages(segment->host + (device - segment->device), bytes);
  }
}

void Arena::Free(const Block& block) noexcept {
  --blocks_;
  Segment* segment = Find(block.device);
  if (options_.guard_pages) return RetireSegment(segment);
  Ranges& ranges = segment->ranges;
  auto range = ranges.find(reinterpret_cast<uintptr_t>(block.device));
  if (options_.sparing && range->second.bytes >= kSpared)
    GiveBackPages(block.host, range->second.bytes);
  PoisonMemory(block.host, range->second.bytes);
  const auto next = std::next(range);
  if (next != ranges.end() && next->second.free()) {
    free_by_size_.erase({next->second.bytes, next->first});
    range->second.bytes += next->second.bytes;
    ranges.erase(next);
  }
  if (range != ranges.begin() && std::prev(range)->second.free()) {
    const auto previous = std::prev(range);
    previous->second.entry = free_by_size_.extract({previous->second.bytes, previous->first});
    previous->second.bytes += range->second.bytes;
    ranges.erase(range);
    range = previous;
  }
  // A segment of its own retires at once; a shared one stays for the next block.
  const bool whole = range->second.bytes == segment->bytes;
  if (whole && segment->bytes > kSegmentBytes) return RetireSegment(segment);
  MakeFree(range);
}

}  // namespace openaclnn
