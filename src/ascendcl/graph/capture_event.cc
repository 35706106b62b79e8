// SPDX-License-Identifier: Apache-2.0
// Events in captures: no task comes of them, the graph's order has what they ask for.
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "ascendcl/graph/capture.h"
#include "ascendcl/graph/open_captures.h"

namespace openaclnn {
namespace {

/// Raises the clock to the later ticks of both. If it throws, the clock is unchanged.
void Join(VectorClock* clock, const VectorClock& other) {
  VectorClock joined = *clock;
  joined.Join(other, [](StreamNumber) { return true; });
  *clock = std::move(joined);
}

/// Refuses an event with ACL_EVENT_EXTERNAL: work outside of the graph would have to see it.
Status RefuseExternal(const Event& event, Capture& capture) {
  if ((event.flags() & ACL_EVENT_EXTERNAL) == 0) return {};
  return Invalidate(capture, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "event flag is ACL_EVENT_EXTERNAL, expected an event without it in a capture");
}

Status RefuseEnded(const char* operand) {
  return Status(
      ACL_ERROR_RT_EVENT_CAPTURED,
      Concat(operand, " record is one of a capture, expected a record outside of captures since"));
}

/// The capture of the event's last record; null: none, or it has ended.
Capture* FindOf(Captures& all, const CapturePoint* point) {
  if (point == nullptr) return nullptr;
  const auto found = std::find_if(all.open.begin(), all.open.end(), [&](const Capture& capture) {
    return capture.number == point->capture;
  });
  return found != all.open.end() ? &*found : nullptr;
}

Status RefuseOutside(Capture& capture) {
  return Invalidate(capture, ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                    "event record is outside of the capture, expected one on a stream of it");
}

}  // namespace

Status RecordInCapture(Event& event, const Stream& stream) {
  Captures& all = AllCaptures();
  std::lock_guard lock(all.mutex);
  Status status;
  Capture* const capture = FindOpen(all, stream, &status);
  if (capture == nullptr) return status;
  status = RefuseExternal(event, *capture);
  if (!status.ok()) return status;
  event.RecordInCapture(std::make_shared<const CapturePoint>(
      CapturePoint{capture->number, MemberOf(*capture, stream).clock}));
  return status;
}

Status ResetInCapture(Event& event, const Stream& stream) {
  Captures& all = AllCaptures();
  std::lock_guard lock(all.mutex);
  if (!stream.captured()) return RefuseEnded("event");
  Status status;
  Capture* const capture = FindOpen(all, stream, &status);
  if (capture == nullptr) return status;
  status = RefuseExternal(event, *capture);
  if (!status.ok()) return status;
  const bool within = FindOf(all, event.capture_point().get()) == capture;
  return within || !event.was_recorded() ? status : RefuseOutside(*capture);
}

Status AwaitInCapture(Event& event, const std::shared_ptr<Stream>& stream) {
  Captures& all = AllCaptures();
  std::lock_guard lock(all.mutex);
  const std::shared_ptr<const CapturePoint> point = event.capture_point();
  Capture* const capture = FindOf(all, point.get());
  Status status;
  if (stream->captured()) {
    Capture* const own = FindOpen(all, *stream, &status);
    if (own == nullptr) return status;
    status = RefuseExternal(event, *own);
    if (!status.ok()) return status;
    if (capture == own) {
      Join(&MemberOf(*own, *stream).clock, point->clock);
      return status;
    }
    if (capture == nullptr) return event.was_recorded() ? RefuseOutside(*own) : Status();
    status =
        Invalidate(*capture, ACL_ERROR_STREAM_CAPTURE_CONFLICT,
                   "event record is of another capture than the stream's, expected one capture");
    own->Invalidate(status.text());
    return status;
  }
  if (capture == nullptr) return RefuseEnded("event");
  if (!capture->valid) return Invalidated(*capture);
  if (stream->closed()) return RefuseClosed();
  if (stream->context() != capture->graph->context()) {
    return Invalidate(*capture, ACL_ERROR_RT_STREAM_CONTEXT,
                      "stream context is not that of the event's capture, expected one context");
  }
  capture->members.emplace(stream->number(), Member(stream, point->clock));
  stream->set_captured(true);
  return status;
}

Status RefuseCapturedEvent(const char* operand, Event& event) {
  Captures& all = AllCaptures();
  std::lock_guard lock(all.mutex);
  Capture* const capture = FindOf(all, event.capture_point().get());
  Status refused = RefuseEnded(operand);
  if (capture != nullptr) capture->Invalidate(refused.text());
  return refused;
}

}  // namespace openaclnn
