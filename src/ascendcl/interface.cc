// SPDX-License-Identifier: Apache-2.0
// The table of functions that libascendcl.so offers the libraries above it.
#include "ascendcl/interface.h"

#include <utility>
#include <vector>

#include "ascendcl/api/attribute.h"
#include "ascendcl/check/declared.h"
#include "ascendcl/check/race_report.h"
#include "ascendcl/graph/capture.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/message.h"
#include "ascendcl/process/config.h"
#include "ascendcl/report/error.h"
#include "ascendcl/report/error_table.h"
#include "ascendcl/report/log.h"
#include "ascendcl/stream/context.h"
#include "ascendcl/stream/host_wait.h"
#include "ascendcl/stream/workers.h"
#include "ascendcl/watch/race_watch.h"

namespace openaclnn {
namespace {

// Nothing is thrown across the border: libraries of C functions know no exceptions.

/// Returns the body's result, or `otherwise` where there is no memory for it.
template <class Result, class Body>
Result ValueOr(Result otherwise, Body&& body) {
  (void)Guard([&] {
    otherwise = body();
    return Status();
  });
  return otherwise;
}

const OpenaclnnProduct* CurrentProduct(OpenaclnnMessage* message) {
  const OpenaclnnProduct* product = nullptr;
  const Status status = Guard([&] { return ConfiguredProduct(&product); });
  if (!status.ok()) Write(message, status.text());
  return product;
}

OpenaclnnPinResult PinDevice(const void* address, uint64_t bytes, OpenaclnnPin* out) {
  MemoryPin pin;
  const Memory::Lookup found = Memory::Get().Pin(address, bytes, &pin);
  if (found == Memory::Lookup::kOutOfRange) return OPENACLNN_OUT_OF_ALLOCATION;
  if (found == Memory::Lookup::kFreed) return OPENACLNN_NOT_ALLOCATED;
  if (found != Memory::Lookup::kPinned || pin.allocation()->location != Location::kDevice) {
    return OPENACLNN_NOT_DEVICE_MEMORY;
  }
  out->host = pin.host();
  out->bytes = bytes;
  out->allocation = pin.Release();
  return OPENACLNN_PINNED;
}

void Unpin(const OpenaclnnPin* pin) {
  Memory::Get().Unpin(static_cast<Allocation*>(pin->allocation), pin->host, pin->bytes);
}

class KernelTask : public Task {
 public:
  explicit KernelTask(const OpenaclnnTask& task) : task_(task) {}
  ~KernelTask() override {
    if (task_.release != nullptr) task_.release(task_.state);
  }
  /// Leaves the state to the caller.
  void Disown() { task_.release = nullptr; }
  Progress Run(Status* status) override {
    Message message;
    const int code = task_.run(task_.state, &message);
    if (code == OPENACLNN_TASK_PARKED) return Progress::kParked;
    if (code != 0) [[unlikely]] {
      *status = Status(code, message.text, task_.name);
    }
    return Progress::kDone;
  }
  const char* name() const override { return task_.name; }
  bool repeatable() const override { return task_.each_pin != nullptr; }
  void EachKept(SeeKept see, void* to) const override {
    struct Seeing {
      SeeKept see;
      void* to;
    } seeing = {see, to};
    const auto each = [](void* of, const OpenaclnnPin* pin) {
      const auto* const sees = static_cast<const Seeing*>(of);
      sees->see(sees->to, {*static_cast<Allocation*>(pin->allocation),
                           static_cast<const std::byte*>(pin->host), pin->bytes});
    };
    task_.each_pin(task_.state, each, &seeing);
  }
  std::string trace_arguments() const override {
    return task_.arguments != nullptr ? task_.arguments : "";
  }

 private:
  OpenaclnnTask task_;
};

Status Capture(const Stream& stream, const OpenaclnnTask& task) {
  std::vector<MemoryAccess> accesses;
  if (WatchingRaces()) accesses = TakeDeclared();
  auto owned = std::make_unique<KernelTask>(task);
  KernelTask& kernel = *owned;
  Graph::Node node = {std::move(owned), task.name, std::move(accesses)};
  Status status = Guard([&] { return CaptureTask(stream, std::move(node)); });
  if (!status.ok()) kernel.Disown();
  return status;
}

/// *number: the task's; left alone where a capture keeps it.
Status Enqueue(Stream& stream, const OpenaclnnTask& task, uint64_t* number) {
  Status status;
  if (stream.captured()) [[unlikely]] {
    status = Capture(stream, task);
    return status;  // `return Capture(…)` would cost every call a move of its status
  }
  if (LogEnabled(LogModule::kOp, LogLevel::kDebug)) {
    Log(LogModule::kOp, LogLevel::kDebug, Concat("submit ", task.name));
  }
  ToldLaunch told({task.name, stream.number(), stream.handle()}, TakeDeclared);
  auto owned = std::make_unique<KernelTask>(task);
  KernelTask& kernel = *owned;
  // Enqueue takes this by reference: if it throws, the task is still here, unlike a temporary.
  std::unique_ptr<Task> queued = std::move(owned);
  try {
    *number = stream.Enqueue(std::move(queued));
    told.Done();
  } catch (...) {
    kernel.Disown();
    throw;
  }
  return status;
}

// A host function does not wait for what comes after it. The task is taken over whatever happens.
void AwaitLaunch(Stream& stream, uint64_t number) {
  const bool captured = number == 0;  // by a graph: there is nothing to wait for
  if (!stream.launch_blocking() || captured) return;
  const Uncancelled whole;  // what the caller holds for the task is the task's already
  (void)Guard([&] { return Await(stream, number); });
}

int Submit(void* handle, const OpenaclnnTask* task, OpenaclnnMessage* message) {
  const Status status = Guard([&] {
    std::shared_ptr<Stream> stream;
    Status status = FindStream(handle, &stream);
    if (!status.ok()) return status;
    uint64_t number = 0;
    status = Enqueue(*stream, *task, &number);
    if (status.ok()) AwaitLaunch(*stream, number);
    return status;
  });
  if (!status.ok()) Write(message, status.text());
  return status.code();
}

using HeldStream = std::shared_ptr<Stream>;

void* Hold(void* handle, OpenaclnnMessage* message) {
  void* held = nullptr;
  const Status status = Guard([&] {
    HeldStream stream;
    Status found = FindStream(handle, &stream);
    if (found.ok()) held = new HeldStream(std::move(stream));
    return found;
  });
  if (!status.ok()) Write(message, status.text());
  return held;
}

Stream& StreamOf(void* held) { return **static_cast<HeldStream*>(held); }

int SubmitHeld(void* held, const OpenaclnnTask* task, uint64_t* number, OpenaclnnMessage* message) {
  const Status status = Guard([&] { return Enqueue(StreamOf(held), *task, number); });
  if (!status.ok()) Write(message, status.text());
  return status.code();
}

void* BeginWait(void* held, uint64_t number, OpenaclnnMessage* message) {
  std::unique_ptr<HostWait> wait;
  const Status status = Guard([&] {
    wait = std::make_unique<HostWait>(StreamOf(held), number);
    return wait->Refuse();
  });
  if (status.ok()) return wait.release();
  Write(message, status.text());
  return nullptr;
}

int32_t CheckLevelNumber() {
  return ValueOr(int32_t{0}, [] {
    Config config;
    return CurrentConfig(&config).ok() ? static_cast<int32_t>(config.check) : 0;
  });
}

int32_t LenientProducts() {
  return ValueOr(int32_t{0}, [] {
    Config config;
    return CurrentConfig(&config).ok() && config.lenient_products ? 1 : 0;
  });
}

int ReadAttribute(const void* handle, const char* name, OpenaclnnAttribute* attribute) {
  return ValueOr(0, [&] {
    std::shared_ptr<Attributes> attributes;
    if (handle == nullptr || !FindHandle("attr", handle, &attributes).ok()) return 0;
    return attributes->Read(name, attribute) ? 1 : 0;
  });
}

void RecordUnsupported(const char* api) {
  Api(api, [] {
    return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "function is not supported by openaclnn, expected no call of it");
  });
}

constexpr OpenaclnnRuntime kRuntime = {
    .product = CurrentProduct,
    .simd = [] { return ValueOr(OPENACLNN_SIMD_BASELINE, ConfiguredSimd); },
    .threads = [] { return ValueOr(uint32_t{1}, ConfiguredThreads); },
    .product_count = [] { return static_cast<uint32_t>(Products().size()); },
    .product_at = [](uint32_t index) { return &Products()[index]; },
    .family_name = FamilyName,
    .forked = [] { return Forked() ? 1 : 0; },
    .record_error = [](int code, const char* text) { RecordError(code, {text}); },
    .tracing = &g_tracing,
    .note_arguments = NoteArguments,
    .trace_call = TraceCall,
    .record_unsupported = RecordUnsupported,
    .pin = PinDevice,
    .unpin = Unpin,
    .submit = Submit,
    .attribute = ReadAttribute,
    .parallel_for =
        [](uint64_t blocks, int is_long, void (*body)(void*, uint64_t), void* state) {
          Workers::Get().ParallelFor(blocks, is_long != 0, body, state);
        },
    .hold = Hold,
    .let_go = [](void* held) { delete static_cast<HeldStream*>(held); },
    .stream_number =
        [](void* held) {
          const Stream& stream = StreamOf(held);
          return stream.closed() || stream.captured() ? uint64_t{0} : stream.number();
        },
    .submit_held = SubmitHeld,
    .await_launch = [](void* held, uint64_t number) { AwaitLaunch(StreamOf(held), number); },
    .wake = [](void* held) { StreamOf(held).Wake(); },
    .may_be_awaited = [] { return ValueOr(1, [] { return MayBeAwaited() ? 1 : 0; }); },
    .begin_wait = BeginWait,
    .end_wait = [](void* wait) { delete static_cast<HostWait*>(wait); },
    .check_level = CheckLevelNumber,
    .lenient_products = LenientProducts,
};

}  // namespace
}  // namespace openaclnn

const OpenaclnnRuntime* openaclnn_runtime(uint32_t version) {
  return version == OPENACLNN_RUNTIME_INTERFACE ? &openaclnn::kRuntime : nullptr;
}
