// SPDX-License-Identifier: Apache-2.0
// Handles: numbers in pointer clothing, looked up in a table and never dereferenced.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace openaclnn {

enum class Kind : uint8_t {
  kContext = 1,
  kStream,
  kEvent,
  kTensor,
  kScalar,
  kIntArray,
  kFloatArray,
  kBoolArray,
  kTensorList,
  kScalarList,
  kExecutor,
  kTensorDesc,
  kDataBuffer,
  kAttributes,
  kPhysicalMemory,
  kCommunicator,
  kGraph,
};

/// The result of a look-up. kForeign was never a handle of this kind; kStale was one and has been
/// destroyed.
enum class Found { kLive, kNull, kForeign, kStale };

/// Owns objects and hands out handles to them. A handle is tag | kind | generation | index, so that
/// a null, freed, foreign or wrong-kind one is told apart without touching the memory it seems to
/// point to. All functions are safe to call from any thread.
class HandleTable {
  struct Slot;

 public:
  using Destroy = void (*)(void*);

  /// Keeps the object alive while it lives, even if its handle is removed meanwhile.
  class Pin {
   public:
    Pin() = default;
    Pin(Pin&& other) noexcept
        : table_(other.table_),
          slot_(std::exchange(other.slot_, nullptr)),
          alone_(std::exchange(other.alone_, false)) {}
    Pin& operator=(Pin&& other) noexcept {
      Reset();
      table_ = other.table_;
      slot_ = std::exchange(other.slot_, nullptr);
      alone_ = std::exchange(other.alone_, false);
      return *this;
    }
    ~Pin() { Reset(); }
    void Reset() {
      if (slot_ == nullptr) return;
      if (std::exchange(alone_, false)) {
        slot_->state.fetch_and(~kAlone, std::memory_order_release);
      }
      table_->Release(std::exchange(slot_, nullptr));
    }
    void* object() const { return slot_ != nullptr ? slot_->object : nullptr; }
    /// The pin as a pointer, to cross a C interface; Attach makes it a pin again.
    void* Detach() { return std::exchange(slot_, nullptr); }
    static Pin Attach(HandleTable& table, void* detached) {
      Pin pin;
      pin.table_ = &table;
      pin.slot_ = static_cast<Slot*>(detached);
      return pin;
    }

   private:
    friend class HandleTable;
    HandleTable* table_ = nullptr;
    Slot* slot_ = nullptr;
    bool alone_ = false;
  };

  HandleTable() = default;
  HandleTable(const HandleTable&) = delete;
  ~HandleTable();

  /// Takes the object over; `destroy` is called once its handle is removed and no pin is left.
  /// Returns nullptr (the object stays the caller's) when 2^24 handles are live.
  void* Insert(Kind kind, void* object, Destroy destroy);

  Found Find(Kind kind, const void* handle, Pin* pin);

  /// Find, once nobody else has a pin; until the pin ends others wait for theirs. For changes of
  /// what others read. The calling thread may have no other pin of the object.
  Found FindAlone(Kind kind, const void* handle, Pin* pin);

  /// Removes the handle; of several racing calls one returns kLive.
  Found Remove(Kind kind, const void* handle);

  /// Removes every handle of the kind.
  void RemoveAll(Kind kind);

  /// Shows each object of the kind to `see`, with its handle.
  using See = void (*)(void* context, const void* handle, void* object);
  void ShowAll(Kind kind, See see, void* context);

  /// For HoldDuringFork.
  std::mutex& mutex() { return mutex_; }

  /// In a child of fork whose pins were all of threads that it lacks: none is left. What one of
  /// them had alone is stale.
  void ForgetPins();

 private:
  // generation in bits 63..33, live in bit 32, alone in bit 31, pins in bits 30..0 (the table holds
  // one while live).
  struct Slot {
    std::atomic<uint64_t> state{0};
    void* object = nullptr;
    Destroy destroy = nullptr;
    Kind kind{};
    uint32_t index = 0;
    Slot* next_free = nullptr;
  };

  static constexpr uint64_t kPinsMask = 0x7FFFFFFF;
  static constexpr uint64_t kAlone = uint64_t{1} << 31;
  static constexpr uint64_t kLive = uint64_t{1} << 32;
  static constexpr int kGenerationShift = 33;

  static constexpr uint32_t kChunkBits = 12;
  static constexpr uint32_t kChunkSize = 1u << kChunkBits;
  static constexpr uint32_t kMaxChunks = 1u << 12;

  template <class Act>
  void EachHandle(Kind kind, const Act& act) const;
  Found Decode(Kind kind, const void* handle, Slot** slot, uint64_t* generation) const;
  Slot* TakeFreeSlot();
  void AddChunk();
  void Release(Slot* slot) {
    const uint64_t before = slot->state.fetch_sub(1, std::memory_order_acq_rel);
    if ((before & kPinsMask) == 1) DestroyObject(slot, before >> kGenerationShift);
  }
  void DestroyObject(Slot* slot, uint64_t generation);

  std::array<std::atomic<Slot*>, kMaxChunks> chunks_{};
  std::mutex mutex_;  // guards what follows
  uint32_t num_chunks_ = 0;
  uint32_t num_free_ = 0;
  // First in, first out: a slot comes back only after all others that are free, which keeps a stale
  // generation from being reached again for as long as possible.
  Slot* free_head_ = nullptr;
  Slot* free_tail_ = nullptr;
};

/// A pinned object of type T; null when the look-up failed.
template <class T>
class Pinned {
 public:
  Pinned() = default;
  explicit Pinned(HandleTable::Pin pin) : pin_(std::move(pin)) {}
  T* get() const { return static_cast<T*>(pin_.object()); }
  T* operator->() const { return get(); }
  T& operator*() const { return *get(); }
  explicit operator bool() const { return get() != nullptr; }

 private:
  HandleTable::Pin pin_;
};

/// Inserts an object under its own kind (T::kKind). Null when the table is full.
template <class T>
void* InsertObject(HandleTable& table, std::unique_ptr<T> object) {
  void* handle = table.Insert(T::kKind, object.get(), [](void* p) { delete static_cast<T*>(p); });
  if (handle != nullptr) (void)object.release();  // the table's now
  return handle;
}

template <class T>
Found FindObject(HandleTable& table, const void* handle, Pinned<T>* out) {
  HandleTable::Pin pin;
  const Found found = table.Find(T::kKind, handle, &pin);
  *out = Pinned<T>(std::move(pin));
  return found;
}

template <class T>
Found FindObjectAlone(HandleTable& table, const void* handle, Pinned<T>* out) {
  HandleTable::Pin pin;
  const Found found = table.FindAlone(T::kKind, handle, &pin);
  *out = Pinned<T>(std::move(pin));
  return found;
}

}  // namespace openaclnn
