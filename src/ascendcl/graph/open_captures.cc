// SPDX-License-Identifier: Apache-2.0
// Captures that have begun: found by their streams, and refused what they may not be asked.
#include "ascendcl/graph/open_captures.h"

#include "common/lasting.h"

namespace openaclnn {

Captures& AllCaptures() { return Lasting<Captures>(); }

const void* OriginOf(const Capture& capture) {
  return capture.members.find(capture.origin)->second.stream->handle();
}

const Capture* FindBeside(const Captures& all, const Stream& stream) {
  for (const Capture& capture : all.open) {
    if (capture.default_stream.get() == &stream) return &capture;
  }
  return nullptr;
}

Status RefuseDefault(Captures& all, const Stream& stream) {
  const Capture* const first = FindBeside(all, stream);
  Status refused(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                 Concat("stream value is the default stream, expected another",
                        first == nullptr ? std::string(" in captures")
                                         : Concat(" while stream ", OriginOf(*first),
                                                  " of its context is captured")));
  for (Capture& capture : all.open) {
    if (capture.default_stream.get() == &stream) capture.Invalidate(refused.text());
  }
  return refused;
}

Capture* FindOf(Captures& all, const Stream& stream) {
  for (Capture& capture : all.open) {
    if (capture.members.contains(stream.number())) return &capture;
  }
  return nullptr;
}

Update* FindUpdate(Captures& all, const Stream& stream) {
  for (Update& update : all.updates) {
    if (update.stream->number() == stream.number()) return &update;
  }
  return nullptr;
}

Status RefuseInUpdate(Update& update, int code, std::string words) {
  Status refused(code, std::move(words));
  if (update.why.empty()) update.why = refused.text();
  return refused;
}

Member& MemberOf(Capture& capture, const Stream& stream) {
  return capture.members.find(stream.number())->second;
}

Status Invalidated(const Capture& capture) {
  return Status(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                Concat("stream capture is invalid since a call before was refused (", capture.why,
                       "), expected aclmdlRICaptureEnd and a new capture without that call"));
}

Capture* FindOpen(Captures& all, const Stream& stream, Status* status) {
  if (Update* const update = FindUpdate(all, stream)) {
    *status = RefuseInUpdate(*update, ACL_ERROR_RT_STREAM_CAPTURED,
                             "stream use is another than to launch tasks, expected "
                             "aclmdlRICaptureTaskUpdateEnd of the stream before");
    return nullptr;
  }
  Capture* capture = FindOf(all, stream);
  if (capture != nullptr && capture->valid) return capture;
  if (capture != nullptr) {
    *status = Invalidated(*capture);
  } else if (stream.handle() == nullptr) {
    *status = RefuseDefault(all, stream);
  } else {
    *status = Status(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                     "stream capture has just ended, expected the end of a capture after the "
                     "launches of all threads");
  }
  return nullptr;
}

Status Invalidate(Capture& capture, int code, std::string words) {
  Status refused(code, std::move(words));
  capture.Invalidate(refused.text());
  return refused;
}

}  // namespace openaclnn
