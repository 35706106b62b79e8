// SPDX-License-Identifier: Apache-2.0
// Streams: aclrtCreateStream, aclrtDestroyStream, aclrtSynchronizeStream and their kin.
#include "ascendcl/stream/stream.h"

#include "ascendcl/graph/capture.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/report/error.h"
#include "ascendcl/stream/context.h"
#include "ascendcl/stream/host_wait.h"
#include "ascendcl/watch/race_watch.h"

namespace openaclnn {
namespace {

Status CreateStream(aclrtStream* stream) {
  std::shared_ptr<Context> context;
  Status status = RequireOut("stream", stream);
  if (status.ok()) status = CurrentContext(&context);
  if (status.ok()) status = context->CreateStream(stream);
  std::shared_ptr<Stream> made;
  if (Tracing() && status.ok() && FindHandle("stream", *stream, &made).ok()) {
    made->trace_row().Note();
  }
  return status;
}

Status Synchronize(Stream& stream) {
  if (stream.captured()) [[unlikely]]
    return RefuseUse(stream, "to be synchronised");
  Status status = Await(stream, stream.submitted());
  if (status.ok()) status = stream.TakeError();
  Memory::Get().LookAtCanaries("aclrtSynchronizeStream");  // whose words come before a task's
  return status;
}

Status DestroyStream(aclrtStream stream, bool force) {
  Status status = RequireOut("stream", stream);
  std::shared_ptr<Stream> object;
  if (status.ok()) status = FindStream(stream, &object);
  std::shared_ptr<Context> context;
  if (status.ok()) status = FindHandle("context", object->context(), &context);
  if (!status.ok()) return status;
  const HostWait wait(*object, object->submitted(), {.forced = force ? object.get() : nullptr});
  status = wait.Refuse();
  if (!status.ok()) return status;
  const Uncancelled whole;
  if (force) {
    object->DropQueued();
    object->EndSubscription();  // a callback that was not taken may never be
  }
  object->Close();
  LeaveCapture(*object);  // whatever was seen: a capture may have begun meanwhile
  object->EndSubscription();
  object->LogError();  // nobody can ask for it any more
  return context->RemoveStream(stream);
}

}  // namespace

}  // namespace openaclnn

using openaclnn::Api;
using openaclnn::FindStream;
using openaclnn::ReleaseApi;
using openaclnn::RequireOut;
using openaclnn::Status;
using openaclnn::Stream;

aclError aclrtCreateStream(aclrtStream* stream) {
  return Api("aclrtCreateStream", [&] { return openaclnn::CreateStream(stream); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
  // Priorities and flags tune the device's scheduler; the order of results does not depend on them.
  return Api("aclrtCreateStreamWithConfig", [&] { return openaclnn::CreateStream(stream); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return ReleaseApi("aclrtDestroyStream", [&] { return openaclnn::DestroyStream(stream, false); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return ReleaseApi("aclrtDestroyStreamForce",
                    [&] { return openaclnn::DestroyStream(stream, true); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return Api("aclrtSynchronizeStream", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    return status.ok() ? openaclnn::Synchronize(*object) : status;
  });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return Api("aclrtSynchronizeStreamWithTimeout", [&] {
    std::shared_ptr<Stream> object;
    Stream::Deadline deadline;
    Status status = FindStream(stream, &object);
    if (status.ok()) status = openaclnn::ParseTimeout(timeout, &deadline);
    if (!status.ok()) return status;
    if (!deadline || object->captured()) return openaclnn::Synchronize(*object);
    if (!object->Wait(object->submitted(), deadline)) {
      return openaclnn::TimeoutExpired("stream", timeout);
    }
    status = object->TakeError();
    openaclnn::Memory::Get().LookAtCanaries("aclrtSynchronizeStreamWithTimeout");
    return status;
  });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return Api("aclrtStreamQuery", [&] {
    std::shared_ptr<Stream> object;
    Status result = RequireOut("status", status);
    if (result.ok()) result = FindStream(stream, &object);
    if (result.ok() && object->captured()) result = openaclnn::RefuseUse(*object, "to be queried");
    if (!result.ok()) return result;
    const openaclnn::StreamPoint point = openaclnn::PointOf(object->number());
    const bool complete = object->completed() >= object->submitted();
    if (complete) openaclnn::PassPoint(point);
    *status = complete ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return result;
  });
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  return Api("aclrtSetStreamOverflowSwitch", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    if (status.ok()) object->set_overflow_switch(flag);
    return status;
  });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  return Api("aclrtGetStreamOverflowSwitch", [&] {
    std::shared_ptr<Stream> object;
    Status status = RequireOut("flag", flag);
    if (status.ok()) status = FindStream(stream, &object);
    if (status.ok()) *flag = object->overflow_switch();
    return status;
  });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return Api("aclrtSetStreamFailureMode", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    if (!status.ok()) return status;
    if (mode > ACL_STOP_ON_FAILURE) {
      return Status(
          ACL_ERROR_RT_PARAM_INVALID,
          openaclnn::Concat("mode value is ", mode, ", expected 0 (continue) or 1 (stop)"));
    }
    object->set_stop_on_failure(mode == ACL_STOP_ON_FAILURE);
    return status;
  });
}
