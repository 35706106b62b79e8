// SPDX-License-Identifier: Apache-2.0
// Context: a device's streams and events as one owner, and what is current on a thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "ascendcl/process/handles.h"
#include "ascendcl/stream/host_wait.h"
#include "ascendcl/stream/stream.h"

namespace openaclnn {

/// Values that aclrtSetSysParamOpt sets, by option; -1 is not set.
using SysParams = std::array<std::atomic<int8_t>, ACL_OPT_ENABLE_KERNEL_EARLY_START + 1>;

class Context {
 public:
  static constexpr Kind kKind = Kind::kContext;
  static constexpr const char* kNoun = "context";

  /// Makes a context with its default stream. `primary`: the one that aclrtSetDevice shares.
  static Status Create(uint32_t device_id, bool primary, void** handle);

  uint32_t device_id() const { return device_id_; }
  bool primary() const { return primary_; }
  const std::shared_ptr<Stream>& default_stream() const { return default_stream_; }

  /// Refused once the context goes away.
  Status CreateStream(void** handle);
  Status RemoveStream(const void* handle);

  /// All streams, the default one first.
  std::vector<std::shared_ptr<Stream>> Streams();

  /// The context goes away: callbacks that no thread has taken do not run.
  void EndSubscriptions();

  /// Ends the subscriptions, waits for all streams, ends what is captured there and removes their
  /// handles. What other threads launch or capture meanwhile is dropped or refused, as on a stream
  /// that is destroyed. Needs no memory: what has begun cannot fail.
  void Close();

  SysParams& sys_params() { return sys_params_; }

 private:
  Context(uint32_t device_id, bool primary, bool launch_blocking)
      : device_id_(device_id), primary_(primary), launch_blocking_(launch_blocking) {}

  void ForEachStream(void (*act)(Stream&));
  std::shared_ptr<Stream> StreamAt(size_t place);  // null: none any more
  size_t NumStreams();

  const uint32_t device_id_;
  const bool primary_;
  const bool launch_blocking_;
  const void* handle_ = nullptr;
  std::shared_ptr<Stream> default_stream_;
  SysParams sys_params_{-1, -1, -1, -1};
  std::mutex mutex_;  // guards what follows
  bool closing_ = false;
  std::vector<std::pair<void*, std::shared_ptr<Stream>>> streams_;
};

/// Functions that the graphs give. They end what captures and graphs have of a stream or a context
/// that goes away; they need no memory.
struct ContextEnds {
  void (*of_stream)(const Stream& stream) noexcept;
  void (*of_context)(const void* context) noexcept;
};
/// From now on contexts that close call these functions. Returns something for a static object.
int CallAtContextEnd(const ContextEnds& ends);

/// For aclrtCreateContext: makes the context and notes its handle, or does neither.
Status CreateNotedContext(uint32_t device_id, void** handle);
/// For aclrtDestroyContext: forgets that handle.
void ForgetCreatedContext(const void* handle);

/// Handles of the contexts that aclrtCreateContext made, in their order.
std::vector<void*> CreatedContexts();
/// Returns those handles and forgets them.
std::vector<void*> TakeCreatedContexts();

/// Makes the context current on the calling thread.
void SetCurrentContext(void* handle);

/// 107002 when the thread has no context or its context is gone. `handle` may be null.
Status CurrentContext(std::shared_ptr<Context>* context, void** handle = nullptr);

/// The stream that a handle stands for on this thread; null is the default stream of the current
/// context. 107002 without a context, 107017 for what is not a live stream, 107003 for a stream of
/// another context.
Status FindStream(const void* handle, std::shared_ptr<Stream>* stream);

/// A wait of the calling thread for all work of a context, which it is about to close.
class ContextWait {
 public:
  /// Where the handle is not a live context it waits for nothing.
  explicit ContextWait(const void* handle);
  /// Where that would wait for what the calling thread is in. Other threads' waits know of this one
  /// as long as it lives: until the context is closed, lest two wait for each other.
  Status Refuse() const;

 private:
  std::vector<std::shared_ptr<Stream>> streams_;
  std::list<HostWait> waits_;
};

/// The first error among the streams, in their order; the others keep theirs.
Status TakeFirstError(const std::vector<std::shared_ptr<Stream>>& streams);

}  // namespace openaclnn
