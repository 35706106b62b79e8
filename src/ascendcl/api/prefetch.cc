// SPDX-License-Identifier: Apache-2.0
// aclrtCmoAsync: what later work will read is brought into the cache.
#include <algorithm>

#include "acl/acl.h"
#include "ascendcl/check/device_range.h"
#include "ascendcl/graph/capture.h"
#include "ascendcl/report/error.h"
#include "ascendcl/stream/context.h"

namespace openaclnn {
namespace {

constexpr const char* kApi = "aclrtCmoAsync";
constexpr size_t kLine = 64;
constexpr size_t kMost = size_t{1} << 20;  // more would push out what came first

class PrefetchTask : public Task {
 public:
  PrefetchTask(MemoryPin pin, size_t bytes) : pin_(std::move(pin)), bytes_(bytes) {}

  Progress Run(Status*) override {
    for (size_t at = 0; at < std::min(bytes_, kMost); at += kLine) {
      __builtin_prefetch(pin_.host() + at);
    }
    return Progress::kDone;
  }
  bool repeatable() const override { return true; }
  void EachKept(SeeKept see, void* to) const override { pin_.Show(see, to); }
  const char* name() const override { return "prefetch"; }
  std::string trace_arguments() const override { return Concat(R"("bytes":)", bytes_); }

 private:
  const MemoryPin pin_;
  const size_t bytes_;
};

Status Prefetch(const void* src, size_t size, aclrtCmoType type, aclrtStream handle) {
  std::shared_ptr<Stream> stream;
  MemoryPin pin;
  Status status = FindStream(handle, &stream);
  if (status.ok()) status = PinDeviceRange(kApi, "src", src, size, &pin);
  if (!status.ok()) return status;
  if (type != ACL_RT_CMO_TYPE_PREFETCH) {
    return Status(ACL_ERROR_RT_PARAM_INVALID, Concat("cmoType value is ", static_cast<int>(type),
                                                     ", expected ACL_RT_CMO_TYPE_PREFETCH (0)"));
  }
  auto task = std::make_unique<PrefetchTask>(std::move(pin), size);
  if (stream->captured()) return CaptureTask(*stream, {std::move(task), kApi, {}});
  stream->Enqueue(std::move(task));
  return status;
}

}  // namespace
}  // namespace openaclnn

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  return openaclnn::Api(openaclnn::kApi,
                        [&] { return openaclnn::Prefetch(src, size, cmoType, stream); });
}
