// SPDX-License-Identifier: Apache-2.0
// Numbers in device memory that streams write and wait for: aclrtValueWrite, aclrtValueWait.
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "acl/acl.h"
#include "ascendcl/check/device_range.h"
#include "ascendcl/graph/capture.h"
#include "ascendcl/memory/allocation.h"
#include "ascendcl/report/error.h"
#include "ascendcl/stream/context.h"
#include "ascendcl/stream/value_wait.h"
#include "ascendcl/watch/race_watch.h"
#include "ascendcl/watch/write_watch.h"

namespace openaclnn {
namespace {

using Number = uint64_t;

/// A number in memory, and the value that a task writes or waits for. A graph's runs share one.
struct Value {
  MemoryPin pin;
  Number value;
  uint32_t flag;

  std::atomic_ref<Number> number() const {
    return std::atomic_ref<Number>(*reinterpret_cast<Number*>(pin.host()));
  }
  /// Where the program has the number.
  auto address() const {
    const Block& block = pin.allocation()->block;
    return block.device + (pin.host() - block.host);
  }
  /// Initcheck takes the number for written from here on.
  void TellWritten() const noexcept { openaclnn::TellWritten(address(), sizeof(Number)); }
  bool Holds() const {
    const Number now = number().load();
    switch (flag) {
      case ACL_STREAM_WAIT_VALUE_GEQ:
        return static_cast<int64_t>(now - value) >= 0;
      case ACL_STREAM_WAIT_VALUE_EQ:
        return now == value;
      case ACL_STREAM_WAIT_VALUE_AND:
        return (now & value) != 0;
      default:
        return ~(now | value) != 0;
    }
  }
  /// The condition as a clause, with what the number is now.
  std::string Words() const {
    constexpr const char* kConditions[] = {"is at least ", "is ", "has a bit of ",
                                           "lacks a bit beside "};
    return Concat("the number at ", static_cast<const void*>(address()), " ", kConditions[flag],
                  value, " (it is ", number().load(), ")");
  }
};
using SharedValue = std::shared_ptr<const Value>;

class WriteTask : public Task {
 public:
  explicit WriteTask(SharedValue value) : value_(std::move(value)) {}

  Progress Run(Status*) override {
    // Whoever sees the number, also the host, comes after what was before it: nothing is said of
    // that.
    if (WatchingRaces()) {
      ForgetAllTouches();
      value_->TellWritten();
    }
    value_->number().store(value_->value);
    return Progress::kDone;  // the stream wakes who waits, as behind all tasks
  }
  bool skipped_after_error() const override { return false; }
  bool repeatable() const override { return true; }
  void EachKept(SeeKept see, void* to) const override { value_->pin.Show(see, to); }
  const char* name() const override { return "value write"; }
  std::string trace_arguments() const override { return Concat(R"("value":)", value_->value); }

 private:
  const SharedValue value_;
};

/// One wait of a stream.
class WaitTask : public Task {
 public:
  WaitTask(SharedValue value, std::shared_ptr<Stream> stream)
      : value_(std::move(value)), stream_(std::move(stream)) {}

  Progress Run(Status*) override {
    const auto wake = [](Stream& stream) { stream.Wake(); };
    if (ParkUnless([this] { return value_->Holds(); }, stream_, wake)) return Progress::kParked;
    // The detector cannot see who wrote the number and comes before, so it forgets all touches:
    // first, since the gate's end compares what is launched with them.
    if (WatchingRaces()) ForgetAllTouches();
    point_.End();
    return Progress::kDone;
  }
  bool skipped_after_error() const override { return false; }
  bool only_waits() const override { return true; }
  std::string waits_until() const override { return value_->Words() + kDroppedByForce; }
  const char* name() const override { return "value wait"; }
  std::string trace_arguments() const override { return Concat(R"("value":)", value_->value); }

 private:
  const SharedValue value_;
  const std::shared_ptr<Stream> stream_;
  HostFunctionPoint point_{stream_->number(), true};
};

/// A graph's entry for a wait. Each run makes a wait of its own on the stream where it runs.
class CapturedWait : public Task {
 public:
  explicit CapturedWait(SharedValue value) : value_(std::move(value)) {}

  bool repeatable() const override { return true; }
  std::unique_ptr<Task> ForRun(const std::shared_ptr<Stream>& stream) const override {
    return std::make_unique<WaitTask>(value_, stream);
  }
  void EachKept(SeeKept see, void* to) const override { value_->pin.Show(see, to); }
  Progress Run(Status*) override { return Progress::kDone; }  // its waits do

 private:
  const SharedValue value_;
};

Status CheckAddress(const void* address) {
  if (reinterpret_cast<uintptr_t>(address) % sizeof(Number) == 0) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat("devAddr value is ", address, ", expected a multiple of ", sizeof(Number)));
}

Status CheckFlag(uint32_t flag, uint32_t most) {
  if (flag <= most) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat("flag value is ", flag, ", expected ",
                       most == 0 ? "0" : "a value of ACL_STREAM_WAIT_VALUE_"));
}

/// Nothing tells the runtime of the host's own writes.
Status CheckWaitable(const MemoryPin& pin, const void* address) {
  const auto& range = pin.allocation()->range;
  if (range == nullptr || !range->registered()) return {};
  return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                Concat("devAddr value is ", address,
                       ", which is registered memory of the host, expected memory that only calls "
                       "and tasks write"));
}

/// Launches a task of the value, or has it captured.
Status Launch(const char* api, void* address, Number value, uint32_t flag, bool waits,
              aclrtStream handle) {
  std::shared_ptr<Stream> stream;
  MemoryPin pin;
  Status status = FindStream(handle, &stream);
  if (status.ok()) status = PinDeviceRange(api, "devAddr", address, sizeof(Number), &pin);
  if (status.ok()) status = CheckAddress(address);
  if (status.ok() && waits) status = CheckWaitable(pin, address);
  if (status.ok()) status = CheckFlag(flag, waits ? ACL_STREAM_WAIT_VALUE_NOR : 0);
  if (!status.ok()) return status;
  const auto shared = std::make_shared<const Value>(Value{std::move(pin), value, flag});
  if (!waits && WatchingRaces()) shared->TellWritten();
  const bool captured = stream->captured();
  std::unique_ptr<Task> task;
  if (!waits) {
    task = std::make_unique<WriteTask>(shared);
  } else if (captured) {
    task = std::make_unique<CapturedWait>(shared);
  } else {
    task = std::make_unique<WaitTask>(shared, stream);
  }
  if (captured) {
    return CaptureTask(*stream,
                       {.task = std::move(task), .call = api, .accesses = {}, .of_program = waits});
  }
  stream->Enqueue(std::move(task));
  return status;
}

}  // namespace
}  // namespace openaclnn

aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return openaclnn::Api("aclrtValueWrite", [&] {
    return openaclnn::Launch("aclrtValueWrite", devAddr, value, flag, false, stream);
  });
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return openaclnn::Api("aclrtValueWait", [&] {
    return openaclnn::Launch("aclrtValueWait", devAddr, value, flag, true, stream);
  });
}
