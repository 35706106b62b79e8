// SPDX-License-Identifier: Apache-2.0
// Calls of the runtime in any order, on what is live, was destroyed or never was, against a model:
// which calls are taken, and what memory holds in the end.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace openaclnn::fuzz {
namespace {

constexpr uint32_t kThings = 4;  // of each kind that are live at a time
constexpr uint32_t kMost = 512;  // bytes of a block

struct Thing {
  void* handle = nullptr;
  bool live = false;
};

struct Event : Thing {
  bool ordering = false;  // made to be waited for
};

struct Block : Thing {
  std::vector<uint8_t> bytes;  // what it holds once all that was asked for is done
  uint32_t last = 0;           // the stream that was last asked to touch it
  bool pending = false;
  bool pinned = false;
};

/// One input: what is live, and calls on it.
class Sequence {
 public:
  Sequence(const uint8_t* data, size_t size) : choose_(data, size) {}

  void Run() {
    constexpr std::array kCalls = {
        &Sequence::CreateStream, &Sequence::DestroyStream, &Sequence::CreateEvent,
        &Sequence::DestroyEvent, &Sequence::Record,        &Sequence::Wait,
        &Sequence::Synchronize,  &Sequence::Query,         &Sequence::Allocate,
        &Sequence::Free,         &Sequence::Fill,          &Sequence::Copy,
        &Sequence::FillNow,      &Sequence::CallHost};
    while (choose_.More()) (this->*kCalls[choose_.Below(kCalls.size())])();
    End();
  }

 private:
  /// A call succeeds where the model says so; else there is a message with the code.
  void Expect(bool fine, int code, const char* api) {
    Must((code == 0) == fine, api, code);
    if (fine) return;
    Must(code == ACL_ERROR_RT_PARAM_INVALID || code == ACL_ERROR_RT_INVALID_HANDLE, api, code);
    const char* message = aclGetRecentErrMsg();
    Must(message != nullptr && message[0] == 'E' && std::strstr(message, api) != nullptr,
         "a refusal has a message that names the call", code);
  }

  void CreateStream() {
    Thing& stream = streams_[choose_.Below(kThings)];
    if (stream.live) return;
    Expect(true, aclrtCreateStream(&stream.handle), "aclrtCreateStream");
    stream.live = true;
  }
  void DestroyStream() {
    const uint32_t index = choose_.Below(kThings);
    Thing& stream = streams_[index];
    const bool force = choose_.Below(8) == 7;
    if (force) SettleAll();  // what is dropped is not modelled
    if (stream.handle == nullptr) return;
    const int code = force ? aclrtDestroyStreamForce(stream.handle) : Destroy(stream.handle);
    Expect(stream.live, code, force ? "aclrtDestroyStreamForce" : "aclrtDestroyStream");
    Settle(index);
    stream.live = false;
  }
  static int Destroy(void* stream) { return aclrtDestroyStream(stream); }
  void CreateEvent() {
    Event& event = events_[choose_.Below(kThings)];
    if (event.live) return;
    const uint32_t flags = choose_.Below(4) < 3 ? ACL_EVENT_SYNC : ACL_EVENT_TIME_LINE;
    event.ordering = flags == ACL_EVENT_SYNC;
    Expect(true, aclrtCreateEventExWithFlag(&event.handle, flags), "aclrtCreateEventExWithFlag");
    event.live = true;
  }
  void DestroyEvent() {
    Thing& event = events_[choose_.Below(kThings)];
    if (event.handle == nullptr) return;
    Expect(event.live, aclrtDestroyEvent(event.handle), "aclrtDestroyEvent");
    event.live = false;
  }
  void Record() {
    const Event& event = events_[choose_.Below(kThings)];
    const Thing& stream = AnyStream();
    if (event.handle == nullptr) return;
    Expect(event.live && stream.live, aclrtRecordEvent(event.handle, stream.handle),
           "aclrtRecordEvent");
  }
  void Wait() {
    const Event& event = events_[choose_.Below(kThings)];
    const Thing& stream = AnyStream();
    if (event.handle == nullptr) return;
    Expect(event.live && event.ordering && stream.live,
           aclrtStreamWaitEvent(stream.handle, event.handle), "aclrtStreamWaitEvent");
  }
  void Synchronize() {
    const uint32_t which = choose_.Below(3), index = choose_.Below(kThings);
    if (which == 0) {
      Expect(true, aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
      for (Block& block : blocks_) block.pending = false;
    } else if (which == 1 && streams_[index].handle != nullptr) {
      const Thing& stream = streams_[index];
      Expect(stream.live, aclrtSynchronizeStream(stream.handle), "aclrtSynchronizeStream");
      if (stream.live) Settle(index);
    } else if (which == 2 && events_[index].handle != nullptr) {
      const Thing& event = events_[index];
      Expect(event.live, aclrtSynchronizeEvent(event.handle), "aclrtSynchronizeEvent");
    }
  }
  void Query() {
    const Event& event = events_[choose_.Below(kThings)];
    const Thing& stream = AnyStream();
    aclrtStreamStatus status{};
    Expect(stream.live, aclrtStreamQuery(stream.handle, &status), "aclrtStreamQuery");
    aclrtEventRecordedStatus recorded{};
    if (event.handle == nullptr) return;
    Expect(event.live, aclrtQueryEventStatus(event.handle, &recorded), "aclrtQueryEventStatus");
  }
  void Allocate() {
    Block& block = blocks_[choose_.Below(kThings)];
    if (block.live) return;
    const uint32_t size = 1 + 2 * choose_.Below(kMost / 2);
    block.pinned = choose_.Below(4) == 3;
    const int code = block.pinned ? aclrtMallocHost(&block.handle, size)
                                  : aclrtMalloc(&block.handle, size, ACL_MEM_MALLOC_HUGE_FIRST);
    Expect(true, code, "aclrtMalloc");
    block.live = true;
    block.pending = false;
    block.bytes.assign(size, 0);
    if (block.pinned) {
      std::memset(block.handle, 0, size);
    } else {
      Expect(true, aclrtMemset(block.handle, size, 0, size), "aclrtMemset");
    }
  }
  void Free() {
    Block& block = blocks_[choose_.Below(kThings)];
    const bool as_host = choose_.Below(8) == 7;
    if (block.handle == nullptr || !Owned(block)) return;
    const bool fine = block.live && block.pinned == as_host;
    if (block.live && block.pinned != as_host && choose_.Below(2) == 0) return;
    const int code = as_host ? aclrtFreeHost(block.handle) : aclrtFree(block.handle);
    Expect(fine, code, as_host ? "aclrtFreeHost" : "aclrtFree");
    if (fine) block.live = false;
  }
  void Fill() {
    Block& block = blocks_[choose_.Below(kThings)];
    const uint32_t stream = choose_.Below(kThings), from = Place(), count = Place();
    const auto value = static_cast<uint8_t>(choose_.Below(256));
    if (!block.live || block.pinned || streams_[stream].handle == nullptr) return;
    Order(block, stream);
    auto* const at = static_cast<uint8_t*>(block.handle) + from;
    const bool fine = streams_[stream].live && Inside(block, from, count);
    const int code = aclrtMemsetAsync(at, count, value, count, streams_[stream].handle);
    Expect(fine || (streams_[stream].live && count == 0), code, "aclrtMemsetAsync");
    if (!fine) return;
    std::fill_n(block.bytes.begin() + from, count, value);
    Touch(&block, stream);
  }
  void FillNow() {
    Block& block = blocks_[choose_.Below(kThings)];
    const uint32_t from = Place(), count = Place();
    if (!block.live || block.pinned) return;
    SettleAll();
    auto* const at = static_cast<uint8_t*>(block.handle) + from;
    const bool fine = Inside(block, from, count);
    Expect(fine || count == 0, aclrtMemset(at, count, 7, count), "aclrtMemset");
    if (fine) std::fill_n(block.bytes.begin() + from, count, 7);
  }
  void Copy() {
    Block &to = blocks_[choose_.Below(kThings)], &from = blocks_[choose_.Below(kThings)];
    const uint32_t stream = choose_.Below(kThings), place = Place(), source = Place();
    const uint32_t count = 1 + Place();
    if (!to.live || !from.live || &to == &from || streams_[stream].handle == nullptr) return;
    if (to.pinned && from.pinned) return;
    const auto kind = to.pinned     ? ACL_MEMCPY_DEVICE_TO_HOST
                      : from.pinned ? ACL_MEMCPY_HOST_TO_DEVICE
                                    : ACL_MEMCPY_DEVICE_TO_DEVICE;
    Order(to, stream);
    Order(from, stream);
    const bool inside = Inside(to, place, count) && Inside(from, source, count);
    // Beyond pinned memory is memory of the host that may be anything.
    if (!inside && (to.pinned || from.pinned)) return;
    const bool fine = streams_[stream].live && inside;
    const int code = aclrtMemcpyAsync(static_cast<uint8_t*>(to.handle) + place, count,
                                      static_cast<uint8_t*>(from.handle) + source, count, kind,
                                      streams_[stream].handle);
    Expect(fine, code, "aclrtMemcpyAsync");
    if (!fine) return;
    std::copy_n(from.bytes.begin() + source, count, to.bytes.begin() + place);
    Touch(&to, stream);
    Touch(&from, stream);
  }
  void CallHost() {
    const Thing& stream = AnyStream();
    const auto count = [](void* counter) { ++*static_cast<int*>(counter); };
    static int counter;
    SettleAll();
    Expect(stream.live, aclrtLaunchHostFunc(stream.handle, count, &counter), "aclrtLaunchHostFunc");
    SettleAll();
  }

  const Thing& AnyStream() {
    static const Thing kDefault = {nullptr, true};
    const uint32_t index = choose_.Below(kThings + 1);
    return index < kThings && streams_[index].handle != nullptr ? streams_[index] : kDefault;
  }
  uint32_t Place() { return 2 * choose_.Below(kMost / 2); }
  static bool Inside(const Block& block, uint32_t from, uint32_t count) {
    return from < block.bytes.size() && count <= block.bytes.size() - from && count > 0;
  }
  /// Whether nothing else has been given the address of a freed block since.
  bool Owned(const Block& block) const {
    return block.live || std::none_of(blocks_.begin(), blocks_.end(), [&](const Block& other) {
             return other.live && other.handle == block.handle;
           });
  }
  /// What another stream was asked to do with the block comes first.
  void Order(Block& block, uint32_t stream) {
    if (!block.pending || block.last == stream || !streams_[stream].live) return;
    Thing event;
    const Thing& before = streams_[block.last];
    if (choose_.Below(2) == 0) {
      Expect(true, aclrtSynchronizeStream(before.handle), "aclrtSynchronizeStream");
      Settle(block.last);
      return;
    }
    Expect(true, aclrtCreateEvent(&event.handle), "aclrtCreateEvent");
    Expect(true, aclrtRecordEvent(event.handle, before.handle), "aclrtRecordEvent");
    Expect(true, aclrtStreamWaitEvent(streams_[stream].handle, event.handle),
           "aclrtStreamWaitEvent");
    Expect(true, aclrtDestroyEvent(event.handle), "aclrtDestroyEvent");
  }
  static void Touch(Block* block, uint32_t stream) {
    block->last = stream;
    block->pending = true;
  }
  void Settle(uint32_t stream) {
    for (Block& block : blocks_) block.pending &= block.last != stream;
  }
  void SettleAll() {
    Expect(true, aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
    for (Block& block : blocks_) block.pending = false;
  }
  void End() {
    SettleAll();
    for (const Block& block : blocks_) {
      if (!block.live) continue;
      std::vector<uint8_t> found(block.bytes.size());
      const auto kind = block.pinned ? ACL_MEMCPY_HOST_TO_HOST : ACL_MEMCPY_DEVICE_TO_HOST;
      Expect(true, aclrtMemcpy(found.data(), found.size(), block.handle, found.size(), kind),
             "aclrtMemcpy");
      Must(found == block.bytes, "memory holds what was asked for");
      Expect(true, block.pinned ? aclrtFreeHost(block.handle) : aclrtFree(block.handle),
             "aclrtFree");
    }
    for (const Thing& stream : streams_) {
      if (stream.live) Expect(true, aclrtDestroyStream(stream.handle), "aclrtDestroyStream");
    }
    for (const Thing& event : events_) {
      if (event.live) Expect(true, aclrtDestroyEvent(event.handle), "aclrtDestroyEvent");
    }
  }

  Decisions choose_;
  std::array<Thing, kThings> streams_;
  std::array<Event, kThings> events_;
  std::array<Block, kThings> blocks_;
};

size_t FreeBytes() {
  size_t free = 0, total = 0;
  Must(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == 0, "aclrtGetMemInfo");
  return free;
}

}  // namespace
}  // namespace openaclnn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using openaclnn::fuzz::FreeBytes;
  using openaclnn::fuzz::Must;
  static const bool ready = aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0;
  Must(ready, "the device");
  static const size_t free = FreeBytes();
  openaclnn::fuzz::Sequence(data, size).Run();
  Must(FreeBytes() == free, "no byte of the device is lost");
  return 0;
}
