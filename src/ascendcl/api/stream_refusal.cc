// SPDX-License-Identifier: Apache-2.0
// Work on streams that is not supported: the error that the stream keeps.
#include "ascendcl/api/stream_refusal.h"

#include "ascendcl/graph/capture.h"
#include "ascendcl/report/error.h"
#include "ascendcl/stream/context.h"

namespace openaclnn {

void FailUnsupported(const char* api, void* handle) noexcept {
  if (Forked()) return;
  (void)Guard([&] {
    std::shared_ptr<Stream> stream;
    Status status = FindStream(handle, &stream);
    if (!status.ok()) return status;
    Status refused(ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
                   Concat("stream task is one of ", api,
                          ", which is not supported by openaclnn, expected no call of it"),
                   api);
    if (stream->captured()) return RefuseLaunch(*stream, refused.code(), refused.text());
    stream->Fail(std::move(refused));
    return status;
  });
}

}  // namespace openaclnn
