// SPDX-License-Identifier: Apache-2.0
// Copies and fills: aclrtMemcpy, aclrtMemset, their asynchronous and two-dimensional forms.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <optional>

#include "ascendcl/check/device_range.h"
#include "ascendcl/check/overlap.h"
#include "ascendcl/check/pinned_source.h"
#include "ascendcl/check/race_report.h"
#include "ascendcl/check/refusal.h"
#include "ascendcl/check/turn.h"
#include "ascendcl/graph/capture.h"
#include "ascendcl/memory/host_memory.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/process/config.h"
#include "ascendcl/report/error.h"
#include "ascendcl/report/report.h"
#include "ascendcl/stream/context.h"
#include "ascendcl/stream/host_wait.h"
#include "ascendcl/stream/value_wait.h"
#include "ascendcl/watch/race_watch.h"

namespace openaclnn {
namespace {

/// A rectangle of bytes; a plain range is one row.
struct Extent {
  size_t pitch = 0;
  size_t width = 0;
  size_t height = 1;

  bool empty() const { return width == 0 || height == 0; }
  /// False when the last byte is beyond any address.
  bool Bytes(size_t* bytes) const {
    size_t rows = 0;
    return !__builtin_mul_overflow(pitch, height - 1, &rows) &&
           !__builtin_add_overflow(rows, width, bytes);
  }
};

/// One side of a copy, resolved to where this process reads or writes it.
struct Side {
  const char* operand = nullptr;
  MemoryPin pin;  // of nothing for memory that the runtime did not allocate
  std::byte* host = nullptr;
  Extent extent;

  bool device() const {
    return pin.allocation() != nullptr && pin.allocation()->location == Location::kDevice;
  }
  bool pageable() const { return pin.allocation() == nullptr; }
  bool pinned() const { return !pageable() && !device(); }
  /// None of other memory.
  PinnedRows pinned_rows() const {
    if (!pinned()) return {};
    return {host, extent.pitch, extent.width, extent.height};
  }
};

/// Whether all rows lie in memory of the process.
bool HasRows(const void* address, const Extent& extent) {
  const auto first = reinterpret_cast<uintptr_t>(address);
  size_t bytes = 0, end = 0;
  // Rows that begin anew at the lowest addresses are none.
  if (!extent.Bytes(&bytes) || __builtin_add_overflow(first, bytes, &end)) return false;
  if (IsMapped(first, bytes)) return true;
  // Bytes between the rows are not copied. If the pitch is at most a page, every page of the extent
  // has a part of a row.
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  bool mapped = extent.height > 1 && extent.pitch > page;
  for (size_t row = 0; mapped && row < extent.height; ++row) {
    mapped = IsMapped(first + row * extent.pitch, extent.width);
  }
  return mapped;
}

/// Finds the memory behind an address that is not null. A side that fails has no host address.
Status Resolve(const char* api, const char* operand, const void* address, const Extent& extent,
               Side* side) {
  side->operand = operand;
  side->extent = extent;
  size_t bytes = 0;
  if (!extent.Bytes(&bytes)) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Concat(operand, " range is beyond any address, expected ", extent.height,
                         " rows of pitch ", extent.pitch, " to fit in memory"));
  }
  const Memory::Lookup found = Memory::Get().Pin(address, bytes, &side->pin);
  if (found == Memory::Lookup::kPinned) {
    side->host = side->pin.host();
  } else if (found == Memory::Lookup::kUnknown && HasRows(address, extent)) {
    side->host = static_cast<std::byte*>(const_cast<void*>(address));
  } else {
    Status status = Unresolved(found, operand, address, bytes);
    ReportRefusal(Misuse::kCopy, api, status, address, bytes);
    return status;
  }
  return {};
}

Status CheckAddresses(const void* dst, const void* src) {
  Status status = RequireOut("dst", dst);
  return status.ok() ? RequireOut("src", src) : status;
}

Status CheckKind(aclrtMemcpyKind kind) {
  if (kind >= ACL_MEMCPY_HOST_TO_HOST && kind <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID, Concat("kind value is ", static_cast<int>(kind),
                                                   ", expected a value of aclrtMemcpyKind"));
}

/// The side that is not where the kind says; null if both are.
const Side* Misplaced(aclrtMemcpyKind kind, const Side& dst, const Side& src) {
  if (kind == ACL_MEMCPY_DEFAULT) return nullptr;
  const bool to_device = kind != ACL_MEMCPY_DEVICE_TO_HOST && kind != ACL_MEMCPY_HOST_TO_HOST;
  const bool from_device = kind != ACL_MEMCPY_HOST_TO_DEVICE &&
                           kind != ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE &&
                           kind != ACL_MEMCPY_HOST_TO_HOST;
  return dst.device() != to_device ? &dst : src.device() != from_device ? &src : nullptr;
}

/// Checks the kind of an asynchronous form, which must fit the addresses.
Status CheckKindFits(aclrtMemcpyKind kind, const Side& dst, const Side& src) {
  if (kind == ACL_MEMCPY_HOST_TO_HOST ||
      (kind == ACL_MEMCPY_DEFAULT && !dst.device() && !src.device())) {
    return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "kind value is a copy from host to host, expected device memory on one side");
  }
  const Side* const side = Misplaced(kind, dst, src);
  if (side == nullptr) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat(side->operand, " location is ", side->device() ? "device" : "host",
                       " memory, expected ", side->device() ? "host" : "device",
                       " memory for kind ", static_cast<int>(kind)));
}

/// Which way a copy goes, for a trace.
const char* Direction(const Side& dst, const Side& src) {
  if (dst.device()) return src.device() ? "device to device" : "host to device";
  return src.device() ? "device to host" : "host to host";
}

/// Warns of the kind of a synchronous form. The addresses decide there, so a kind that does not fit
/// is not refused; but the program meant another copy. Each kind and direction is reported once.
void WarnOfKind(const char* api, aclrtMemcpyKind kind, const Side& dst, const Side& src) {
  const Side* const side = Misplaced(kind, dst, src);
  if (side == nullptr) return;
  static std::atomic<uint32_t> told{0};
  const uint32_t this_one = 1U << (4 * static_cast<int>(kind) + 2 * dst.device() + src.device());
  if (!MistakesAreTold() || (told.fetch_or(this_one) & this_one) != 0) return;
  ReportFinding({.check = Check::kMemcheck,
                 .title = Concat(api, " is given a kind that does not fit its pointers"),
                 .what = Concat("kind is ", static_cast<int>(kind), ", ", side->operand, " is ",
                                side->device() ? "device" : "host", " memory; the copy goes ",
                                Direction(dst, src)),
                 .where = {},
                 .fix = "give the kind that fits, or ACL_MEMCPY_DEFAULT: the asynchronous forms "
                        "refuse",
                 .severity = Severity::kWarning});
}

/// The access of a call to one side. Pageable memory is the calling thread's alone.
MemoryAccess AccessOf(bool writes, const Side& side) {
  MemoryAccess access = {side.operand, writes, {}};
  if (side.pageable()) return access;
  const Block& block = side.pin.allocation()->block;
  const auto origin =
      reinterpret_cast<uintptr_t>(block.device) + static_cast<uint64_t>(side.host - block.host);
  const Extent& extent = side.extent;
  const std::array dims = {static_cast<int64_t>(extent.height), static_cast<int64_t>(extent.width)};
  const std::array strides = {static_cast<int64_t>(extent.pitch), int64_t{1}};
  (void)FindByteRuns(origin, 1, dims, strides, &access.runs);
  access.span = FindByteSpan(origin, 1, dims, strides);
  return access;
}

std::vector<MemoryAccess> Accesses(const Side& filled) { return {AccessOf(true, filled)}; }

/// Whether libopenaclnn_capture.so saves calls. It copies all memory of a call's operands, before
/// and after the call.
bool CallsAreSaved() {
  static const bool saved = dlsym(RTLD_DEFAULT, "openaclnn_capture") != nullptr;
  return saved;
}

std::vector<MemoryAccess> Accesses(const Side& dst, const Side& src) {
  std::vector<MemoryAccess> accesses = {AccessOf(true, dst), AccessOf(false, src)};
  // Within the device what was never written may go along with the rest.
  if (src.device() && dst.device()) {
    accesses[1].reading = Reading::kMoves;
  } else if (src.device() && !CallsAreSaved()) {
    accesses[1].reading = Reading::kSurely;
  }
  return accesses;
}

/// Accesses, and a look at overlaps for the race watch: nothing orders one copy's own bytes.
std::vector<MemoryAccess> Watched(const Caller& caller, const Side& dst, const Side& src) {
  std::vector<MemoryAccess> accesses = Accesses(dst, src);
  if (src.device() && dst.device()) WatchOverlap(caller, accesses[0], accesses[1]);
  return accesses;
}

uint64_t Bytes(const Side& dst) { return dst.extent.width * dst.extent.height; }

OpenaclnnUsed Used(const Side& side, bool writes) {
  const auto begin = reinterpret_cast<uintptr_t>(side.host);
  const size_t bytes = (side.extent.height - 1) * side.extent.pitch + side.extent.width;
  return {begin, begin + bytes, writes ? 1 : 0};
}

void CopyRows(const Side& dst, const Side& src) {
  const MoveTurn turn(Used(dst, true), Used(src, false));
  for (size_t row = 0; row < dst.extent.height; ++row) {
    std::memmove(dst.host + row * dst.extent.pitch, src.host + row * src.extent.pitch,
                 dst.extent.width);
  }
}

void Fill(const Side& dst, int value) {
  const MoveTurn turn(Used(dst, true), {});
  std::memset(dst.host, value, dst.extent.width);
}

class CopyTask : public Task {
 public:
  CopyTask(Side dst, Side src) : dst_(std::move(dst)), src_(std::move(src)) {}
  /// Before it is launched: what it writes in pinned memory, or reads there, is checked.
  void Watch(const Caller& caller) {
    using Role = PinnedSource::Role;
    if (src_.pinned()) pinned_ = PinnedSource::Take(Role::kSource, caller, src_.pinned_rows());
    if (!dst_.pinned()) return;
    pinned_ = PinnedSource::Take(Role::kDestination, caller, written());
    write_.emplace(written());
  }
  PinnedRows written() const { return dst_.pinned_rows(); }
  Progress Run(Status*) override {
    if (pinned_ != nullptr) pinned_->Compare();
    CopyRows(dst_, src_);
    return Progress::kDone;
  }
  bool repeatable() const override { return true; }
  void EachKept(SeeKept see, void* to) const override {
    dst_.pin.Show(see, to);
    src_.pin.Show(see, to);
  }
  const char* name() const override { return "copy"; }
  std::string trace_arguments() const override {
    return Concat(R"("kind":")", Direction(dst_, src_), R"(","bytes":)", Bytes(dst_));
  }

 private:
  Side dst_, src_;
  std::optional<PinnedWrite> write_;
  std::unique_ptr<const PinnedSource> pinned_;  // of the side that is not the device's
};

class FillTask : public Task {
 public:
  FillTask(Side dst, int value) : dst_(std::move(dst)), value_(value) {}
  void Watch(const Caller&) {
    if (dst_.pinned()) write_.emplace(written());
  }
  PinnedRows written() const { return dst_.pinned_rows(); }
  Progress Run(Status*) override {
    Fill(dst_, value_);
    return Progress::kDone;
  }
  bool repeatable() const override { return true; }
  void EachKept(SeeKept see, void* to) const override { dst_.pin.Show(see, to); }
  const char* name() const override { return "fill"; }
  std::string trace_arguments() const override { return Concat(R"("bytes":)", Bytes(dst_)); }

 private:
  Side dst_;
  int value_;
  std::optional<PinnedWrite> write_;
};

Status CheckCount(const char* operand, size_t count, size_t max) {
  if (count <= max) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat("count value is ", count, ", expected at most ", operand, " (", max, ")"));
}

Status CheckPitches(size_t dpitch, size_t spitch, size_t width) {
  if (width <= dpitch && width <= spitch) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat("width value is ", width, ", expected at most the pitches (dpitch ", dpitch,
                       ", spitch ", spitch, ")"));
}

Status Copy(const char* api, void* dst, const Extent& to, const void* src, const Extent& from,
            aclrtMemcpyKind kind) {
  Status safe = RequireSafe();
  if (!safe.ok()) return safe;
  Side dst_side, src_side;
  Status to_status = Resolve(api, "dst", dst, to, &dst_side);
  if (dst_side.host == nullptr) return to_status;
  Status from_status = Resolve(api, "src", src, from, &src_side);
  if (src_side.host == nullptr) return from_status;
  WarnOfKind(api, kind, dst_side, src_side);
  TellIfWatched({api}, [&] { return Watched({api}, dst_side, src_side); });
  CopyRows(dst_side, src_side);
  NoteWritten();
  NoteCopy(Direction(dst_side, src_side), Bytes(dst_side));
  return {};
}

/// Keeps the task that `make` gives for the stream's capture. What it reads in pinned memory may
/// change from one run to the next, so that is not watched.
template <class Accesses, class Make>
Status Capture(const char* api, const Stream& stream, bool pageable, const Accesses& accesses,
               const Make& make) {
  if (pageable) {
    return RefuseLaunch(stream, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
                        "host memory is pageable, expected memory of aclrtMallocHost in a capture");
  }
  std::vector<MemoryAccess> touched;
  if (WatchingRaces()) touched = accesses();
  auto made = make();
  const PinnedRows written = made->written();
  return CaptureTask(stream, {std::move(made), api, std::move(touched), written});
}

/// Launches the task that `make` gives, which takes over what `accesses` tells of. The caller may
/// reuse or free pageable memory as soon as this returns.
template <class Accesses, class Make>
Status Launch(const char* api, Stream& stream, bool pageable, const Accesses& accesses,
              const Make& make) {
  Status status;
  if (stream.captured()) [[unlikely]] {
    status = Capture(api, stream, pageable, accesses, make);
    return status;
  }
  if (pageable) status = RequireSafe();
  if (!status.ok()) return status;
  const HostWait wait(stream, pageable ? stream.submitted() + 1 : 0);
  status = wait.Refuse();
  if (!status.ok()) return status;
  const Caller caller = {api, stream.number(), stream.handle()};
  ToldLaunch told(caller, accesses);
  auto made = make();
  if (WatchingRaces()) (void)Guard([&] { return made->Watch(caller), Status(); });
  const uint64_t task = stream.Enqueue(std::move(made));
  told.Done();
  if (!pageable) return status;
  const Uncancelled whole;  // the task has the caller's memory
  stream.Wait(task, {});
  return status;
}

Status CopyAsync(const char* api, void* dst, const Extent& to, const void* src, const Extent& from,
                 aclrtMemcpyKind kind, const std::shared_ptr<Stream>& stream) {
  Side dst_side, src_side;
  Status status = Resolve(api, "dst", dst, to, &dst_side);
  if (status.ok()) status = Resolve(api, "src", src, from, &src_side);
  if (status.ok()) status = CheckKindFits(kind, dst_side, src_side);
  if (!status.ok()) return status;
  const bool pageable = dst_side.pageable() || src_side.pageable();
  return Launch(
      api, *stream, pageable,
      [&] {
        return Watched({api, stream->number(), stream->handle()}, dst_side, src_side);
      },
      [&] { return std::make_unique<CopyTask>(std::move(dst_side), std::move(src_side)); });
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Api;
using openaclnn::Extent;
using openaclnn::FindStream;
using openaclnn::Status;
using openaclnn::Stream;

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return Api("aclrtMemcpy", [&]() -> Status {
    Status status = openaclnn::CheckAddresses(dst, src);
    if (!status.ok() || count == 0) return status;
    status = openaclnn::CheckKind(kind);
    if (status.ok()) status = openaclnn::CheckCount("destMax", count, destMax);
    if (!status.ok()) return status;
    const Extent extent = {.width = count};
    return openaclnn::Copy("aclrtMemcpy", dst, extent, src, extent, kind);
  });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return Api("aclrtMemcpyAsync", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    if (status.ok()) status = openaclnn::CheckAddresses(dst, src);
    if (!status.ok() || count == 0) return status;
    status = openaclnn::CheckKind(kind);
    if (status.ok()) status = openaclnn::CheckCount("destMax", count, destMax);
    if (!status.ok()) return status;
    const Extent extent = {.width = count};
    return openaclnn::CopyAsync("aclrtMemcpyAsync", dst, extent, src, extent, kind, object);
  });
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
  return Api("aclrtMemcpy2d", [&]() -> Status {
    const Extent to = {dpitch, width, height};
    Status status = openaclnn::CheckAddresses(dst, src);
    if (!status.ok() || to.empty()) return status;
    status = openaclnn::CheckKind(kind);
    if (status.ok()) status = openaclnn::CheckPitches(dpitch, spitch, width);
    if (!status.ok()) return status;
    return openaclnn::Copy("aclrtMemcpy2d", dst, to, src, {spitch, width, height}, kind);
  });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  return Api("aclrtMemcpy2dAsync", [&] {
    const Extent to = {dpitch, width, height};
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    if (status.ok()) status = openaclnn::CheckAddresses(dst, src);
    if (!status.ok() || to.empty()) return status;
    status = openaclnn::CheckKind(kind);
    if (status.ok()) status = openaclnn::CheckPitches(dpitch, spitch, width);
    if (!status.ok()) return status;
    return openaclnn::CopyAsync("aclrtMemcpy2dAsync", dst, to, src, {spitch, width, height}, kind,
                                object);
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return Api("aclrtMemset", [&]() -> Status {
    Status status = openaclnn::RequireOut("devPtr", devPtr);
    if (!status.ok() || count == 0) return status;
    openaclnn::Side side;
    status = openaclnn::CheckCount("maxCount", count, maxCount);
    if (status.ok()) status = openaclnn::RequireSafe();
    if (!status.ok()) return status;
    Status resolved = openaclnn::Resolve("aclrtMemset", "devPtr", devPtr, {.width = count}, &side);
    if (side.host == nullptr) return resolved;
    openaclnn::TellIfWatched({"aclrtMemset"}, [&] { return openaclnn::Accesses(side); });
    openaclnn::Fill(side, value);
    openaclnn::NoteWritten();
    openaclnn::NoteCopy("fill", count);
    return {};
  });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  return Api("aclrtMemsetAsync", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    if (status.ok()) status = openaclnn::RequireOut("devPtr", devPtr);
    if (!status.ok() || count == 0) return status;
    openaclnn::Side side;
    status = openaclnn::CheckCount("maxCount", count, maxCount);
    if (status.ok()) {
      status = openaclnn::Resolve("aclrtMemsetAsync", "devPtr", devPtr, {.width = count}, &side);
    }
    if (!status.ok()) return status;
    return openaclnn::Launch(
        "aclrtMemsetAsync", *object, side.pageable(), [&] { return openaclnn::Accesses(side); },
        [&] { return std::make_unique<openaclnn::FillTask>(std::move(side), value); });
  });
}
