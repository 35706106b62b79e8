// SPDX-License-Identifier: Apache-2.0
// Handle table: slots in chunks that never move, pinned by a compare-and-swap on one word.
#include "common/handle_table.h"

#include <new>
#include <thread>

namespace openaclnn {
namespace {

// A handle, from the top: 12 bits of tag, 4 of kind, 24 of generation, 24 of index. The tag makes
// the address non-canonical on x86-64 and unmapped on AArch64: a program that dereferences a handle
// faults at once instead of reading something.
constexpr uint64_t kTag = 0x0AC;
constexpr uint64_t kIndexMask = 0xFFFFFF;
constexpr uint64_t kGenerationMask = 0xFFFFFF;

// At least this many slots stay free, so that a slot rests for as many insertions before its
// generation moves on; with 24 bits of generation a stale handle is told apart for 10^10 of them.
constexpr uint32_t kMinFree = 1024;

// Slots begin with generations far apart, so that a handle that a program has counted up is not its
// neighbour's: the golden ratio of 2^24, an odd number, gives each index its own.
constexpr uint64_t FirstGeneration(uint32_t index) {
  return (index * uint64_t{0x9E3779}) & kGenerationMask;
}

uint64_t Encode(Kind kind, uint64_t generation, uint32_t index) {
  return kTag << 52 | static_cast<uint64_t>(kind) << 48 | (generation & kGenerationMask) << 24 |
         index;
}

}  // namespace

HandleTable::~HandleTable() {
  for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

void HandleTable::AddChunk() {
  auto* slots = new Slot[kChunkSize];
  const uint32_t chunk = num_chunks_++;
  for (uint32_t i = 0; i < kChunkSize; ++i) {
    slots[i].index = chunk << kChunkBits | i;
    slots[i].state.store(FirstGeneration(slots[i].index) << kGenerationShift,
                         std::memory_order_relaxed);
    slots[i].next_free = i + 1 < kChunkSize ? &slots[i + 1] : nullptr;
  }
  (free_tail_ != nullptr ? free_tail_->next_free : free_head_) = slots;
  free_tail_ = &slots[kChunkSize - 1];
  num_free_ += kChunkSize;
  chunks_[chunk].store(slots, std::memory_order_release);
}

HandleTable::Slot* HandleTable::TakeFreeSlot() {
  std::lock_guard lock(mutex_);
  if (num_free_ <= kMinFree && num_chunks_ < kMaxChunks) {
    try {
      AddChunk();
    } catch (const std::bad_alloc&) {
      if (free_head_ == nullptr) throw;  // else the free ones are handed out
    }
  }
  if (free_head_ == nullptr) return nullptr;
  Slot* slot = free_head_;
  free_head_ = slot->next_free;
  if (free_head_ == nullptr) free_tail_ = nullptr;
  --num_free_;
  return slot;
}

void* HandleTable::Insert(Kind kind, void* object, Destroy destroy) {
  Slot* slot = TakeFreeSlot();
  if (slot == nullptr) return nullptr;
  slot->object = object;
  slot->destroy = destroy;
  slot->kind = kind;
  const uint64_t generation = slot->state.load(std::memory_order_relaxed) >> kGenerationShift;
  slot->state.store(generation << kGenerationShift | kLive | 1, std::memory_order_release);
  return reinterpret_cast<void*>(Encode(kind, generation, slot->index));
}

Found HandleTable::Decode(Kind kind, const void* handle, Slot** slot, uint64_t* generation) const {
  if (handle == nullptr) return Found::kNull;
  const auto bits = reinterpret_cast<uint64_t>(handle);
  if (bits >> 48 != (kTag << 4 | static_cast<uint64_t>(kind))) return Found::kForeign;
  const auto index = static_cast<uint32_t>(bits & kIndexMask);
  Slot* chunk = chunks_[index >> kChunkBits].load(std::memory_order_acquire);
  if (chunk == nullptr) return Found::kForeign;
  *slot = chunk + (index & (kChunkSize - 1));
  *generation = bits >> 24 & kGenerationMask;
  return Found::kLive;
}

Found HandleTable::Find(Kind kind, const void* handle, Pin* pin) {
  Slot* slot = nullptr;
  uint64_t generation = 0;
  const Found found = Decode(kind, handle, &slot, &generation);
  if (found != Found::kLive) return found;
  uint64_t state = slot->state.load(std::memory_order_acquire);
  do {
    if ((state & kAlone) != 0) {
      std::this_thread::yield();
      state = slot->state.load(std::memory_order_acquire) & ~kAlone;  // or it is tried again
    }
    if ((state & kLive) == 0 || (state >> kGenerationShift & kGenerationMask) != generation) {
      return Found::kStale;
    }
  } while (!slot->state.compare_exchange_weak(state, state + 1, std::memory_order_acquire));
  pin->Reset();
  pin->table_ = this;
  pin->slot_ = slot;
  return slot->kind == kind ? Found::kLive : (pin->Reset(), Found::kStale);
}

Found HandleTable::Remove(Kind kind, const void* handle) {
  Pin pin;
  const Found found = Find(kind, handle, &pin);
  if (found != Found::kLive) return found;
  // The pin keeps the generation, so clearing the bit can only race with another Remove.
  const uint64_t before = pin.slot_->state.fetch_and(~kLive, std::memory_order_acq_rel);
  if ((before & kLive) == 0) return Found::kStale;
  Release(pin.slot_);
  return Found::kLive;
}

Found HandleTable::FindAlone(Kind kind, const void* handle, Pin* pin) {
  while (true) {
    const Found found = Find(kind, handle, pin);
    if (found != Found::kLive) return found;
    // Only the pins of the table and this one. Nobody is kept away while others have to leave: who
    // waits here could be waiting for a thread that pins the object twice.
    uint64_t state = pin->slot_->state.load(std::memory_order_relaxed);  // changed by the attempt
    if ((state & (kLive | kAlone | kPinsMask)) == (kLive | 2) &&
        pin->slot_->state.compare_exchange_strong(state, state | kAlone,
                                                  std::memory_order_acquire)) {
      pin->alone_ = true;
      return found;
    }
    pin->Reset();
    std::this_thread::yield();
  }
}

// Calls `act` for each live handle, as if each were of the kind.
template <class Act>
void HandleTable::EachHandle(Kind kind, const Act& act) const {
  for (const auto& each : chunks_) {
    const Slot* chunk = each.load(std::memory_order_acquire);
    for (uint32_t i = 0; chunk != nullptr && i < kChunkSize; ++i) {
      const uint64_t state = chunk[i].state.load(std::memory_order_acquire);
      if ((state & kLive) == 0) continue;
      const uint64_t bits = Encode(kind, state >> kGenerationShift, chunk[i].index);
      act(reinterpret_cast<const void*>(bits));
    }
  }
}

void HandleTable::RemoveAll(Kind kind) {
  EachHandle(kind, [&](const void* handle) { Remove(kind, handle); });  // of another kind: nothing
}

void HandleTable::ShowAll(Kind kind, See see, void* context) {
  EachHandle(kind, [&](const void* handle) {
    Pin pin;
    if (Find(kind, handle, &pin) == Found::kLive) see(context, handle, pin.object());
  });
}

// Forgets other threads' pins. An object that another thread was changing becomes stale. It is
// never destroyed, nor is an object that was removed while it was pinned: nobody can say that these
// are whole.
void HandleTable::ForgetPins() {
  for (const auto& each : chunks_) {
    Slot* chunk = each.load(std::memory_order_acquire);
    for (uint32_t i = 0; chunk != nullptr && i < kChunkSize; ++i) {
      const uint64_t state = chunk[i].state.load(std::memory_order_relaxed);
      if ((state & kLive) == 0) continue;
      const uint64_t left = (state & kAlone) != 0 ? state & ~kLive : (state & ~kPinsMask) | 1;
      chunk[i].state.store(left, std::memory_order_relaxed);
    }
  }
}

void HandleTable::DestroyObject(Slot* slot, uint64_t generation) {
  slot->destroy(slot->object);
  slot->object = nullptr;
  slot->state.store((generation + 1) << kGenerationShift, std::memory_order_release);
  std::lock_guard lock(mutex_);
  slot->next_free = nullptr;
  (free_tail_ != nullptr ? free_tail_->next_free : free_head_) = slot;
  free_tail_ = slot;
  ++num_free_;
}

}  // namespace openaclnn
