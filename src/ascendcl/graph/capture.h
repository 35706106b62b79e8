// SPDX-License-Identifier: Apache-2.0
// Capture: streams whose launches are kept for a graph, and what is forbidden meanwhile.
//
// A call that a capture forbids is refused, and makes the capture invalid: its end says so. Streams
// that are in no capture pay a branch (Stream::captured).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "acl/acl.h"
#include "ascendcl/graph/graph.h"
#include "ascendcl/stream/event.h"
#include "ascendcl/stream/stream.h"

namespace openaclnn {

/// The stream's launches are kept from now on, and the default stream of its context may not be
/// used.
Status BeginCapture(const std::shared_ptr<Stream>& stream,
                    const std::shared_ptr<Stream>& default_stream, aclmdlRICaptureMode mode);
/// Whatever the end is, the streams run again what is launched on them; but for refusals of a
/// stream or thread that has nothing to end. *handle: the graph, which is ready.
Status EndCapture(const Stream& stream, void** handle);
/// *handle: the graph that is captured; left alone without one.
aclmdlRICaptureStatus LookAtCapture(const Stream& stream, void** handle);

/// Sets the calling thread's mode; returns the one before.
aclmdlRICaptureMode ExchangeCaptureMode(aclmdlRICaptureMode mode);

/// The stream, which is captured or was just now, is about to go away. Needs no memory.
void LeaveCapture(const Stream& stream) noexcept;

/// Forgets the graph, which is not captured any more; tasks of it that are queued still run.
Status DestroyGraph(const void* handle);
/// Destroys the graphs of a context that goes away. Needs no memory.
void DestroyGraphsOf(const void* context) noexcept;
/// A graph whose tasks keep some of these bytes, which the host finds there; null: none.
const void* FindGraphOf(const std::byte* host, uint64_t bytes);

// The following take a stream that is captured.

/// Keeps a task. Where it fails, the node is still the caller's.
Status CaptureTask(const Stream& stream, Graph::Node&& node);
/// Refuses a use of the stream: "stream use is <use>, expected …".
Status RefuseUse(const Stream& stream, const char* use);
/// As RefuseUse, with another code and other words.
Status RefuseLaunch(const Stream& stream, int code, std::string words);
/// Refuses to wait for all of a device, whose stream this is. That of a default stream stands for
/// all that are captured in its context.
Status RefuseDeviceWait(const Stream& stream);

// Where the stream or the event's last record is captured. No task comes of these: the graph's
// order has what they ask for.
Status RecordInCapture(Event& event, const Stream& stream);
Status ResetInCapture(Event& event, const Stream& stream);
/// The stream joins the event's capture, unless it is in it.
Status AwaitInCapture(Event& event, const std::shared_ptr<Stream>& stream);

/// Refuses to query or wait for an event whose last record is of a capture.
Status RefuseCapturedEvent(const char* operand, Event& event);

extern std::atomic<uint32_t> g_restricting_captures;

/// Refuses what is not safe beside captures, as their modes and the thread's say.
Status RefuseUnsafe();
inline Status RequireSafe() {
  if (g_restricting_captures.load(std::memory_order_relaxed) == 0) [[likely]]
    return {};
  return RefuseUnsafe();
}

}  // namespace openaclnn
