// SPDX-License-Identifier: Apache-2.0
// Graphs: aclmdlRICaptureBegin, aclmdlRICaptureEnd, aclmdlRIExecuteAsync and their kin.
#include "ascendcl/graph/graph.h"

#include <algorithm>
#include <string>

#include "ascendcl/graph/capture.h"
#include "ascendcl/graph/task_group.h"
#include "ascendcl/report/error.h"
#include "ascendcl/stream/context.h"
#include "ascendcl/stream/host_wait.h"

namespace openaclnn {
namespace {

constexpr size_t kMaxName = 512;  // bytes of a name that are given back

Status CheckMode(aclmdlRICaptureMode mode) {
  if (mode >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
    return {};
  }
  return Status(ACL_ERROR_RT_PARAM_INVALID, Concat("mode value is ", static_cast<int>(mode),
                                                   ", expected a value of aclmdlRICaptureMode"));
}

/// Enqueues an execution; *last is the number of its last task.
Status Execute(aclmdlRI model, const std::shared_ptr<Stream>& stream, uint64_t* last) {
  std::shared_ptr<Graph> graph;
  Status status = FindHandle("modelRI", model, &graph);
  if (!status.ok()) return status;
  if (stream->captured()) return RefuseUse(*stream, "to run a model running instance");
  if (!graph->sealed()) {
    return Status(ACL_ERROR_RT_MODEL_CAPTURED,
                  "modelRI state is being captured, expected aclmdlRICaptureEnd before");
  }
  if (graph->context() != stream->context()) {
    return Status(ACL_ERROR_RT_STREAM_CONTEXT,
                  "stream context is not that of modelRI, expected a stream of the context that it "
                  "was captured in");
  }
  status = graph->CheckRegistered();
  if (status.ok()) *last = graph->Execute(graph, stream);
  return status;
}

/// Runs the model and waits, on the default stream.
Status ExecuteAndWait(aclmdlRI model, int32_t timeout) {
  std::shared_ptr<Stream> stream;
  Stream::Deadline deadline;
  if (timeout == 0) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  "timeout value is 0, expected -1 (for ever) or milliseconds");
  }
  Status status = ParseTimeout(timeout, &deadline);
  if (status.ok()) status = FindStream(nullptr, &stream);
  if (!status.ok()) return status;
  const Uncancelled whole;
  const HostWait wait(*stream, stream->submitted() + 1);
  status = wait.Refuse();  // before anything is launched
  uint64_t last = 0;
  if (status.ok()) status = Execute(model, stream, &last);
  if (!status.ok()) return status;
  if (deadline) {
    if (!stream->Wait(last, deadline)) return TimeoutExpired("stream", timeout);
  } else {
    status = Await(*stream, last);
  }
  return status.ok() ? stream->TakeError() : status;
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Api;
using openaclnn::FindHandle;
using openaclnn::FindStream;
using openaclnn::Graph;
using openaclnn::ReleaseApi;
using openaclnn::RequireOut;
using openaclnn::Status;
using openaclnn::Stream;

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  return Api("aclmdlRICaptureBegin", [&] {
    std::shared_ptr<Stream> object, default_stream;
    Status status = FindStream(stream, &object);
    if (status.ok()) status = FindStream(nullptr, &default_stream);
    if (status.ok()) status = openaclnn::CheckMode(mode);
    return status.ok() ? openaclnn::BeginCapture(object, default_stream, mode) : status;
  });
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
  return Api("aclmdlRICaptureEnd", [&] {
    std::shared_ptr<Stream> object;
    Status status = RequireOut("modelRI", modelRI);
    if (status.ok()) status = FindStream(stream, &object);
    return status.ok() ? openaclnn::EndCapture(*object, modelRI) : status;
  });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                aclmdlRI* modelRI) {
  return Api("aclmdlRICaptureGetInfo", [&] {
    std::shared_ptr<Stream> object;
    Status result = RequireOut("status", status);
    if (result.ok()) result = RequireOut("modelRI", modelRI);
    if (result.ok()) result = FindStream(stream, &object);
    if (result.ok()) *status = openaclnn::LookAtCapture(*object, modelRI);
    return result;
  });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  return Api("aclmdlRICaptureThreadExchangeMode", [&] {
    Status status = RequireOut("mode", mode);
    if (status.ok()) status = openaclnn::CheckMode(*mode);
    if (status.ok()) *mode = openaclnn::ExchangeCaptureMode(*mode);
    return status;
  });
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  return Api("aclmdlRICaptureTaskGrpBegin", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    return status.ok() ? openaclnn::BeginTaskGroup(*object) : status;
  });
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
  return Api("aclmdlRICaptureTaskGrpEnd", [&] {
    std::shared_ptr<Stream> object;
    Status status = RequireOut("handle", handle);
    if (status.ok()) status = FindStream(stream, &object);
    return status.ok() ? openaclnn::EndTaskGroup(*object, handle) : status;
  });
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  return Api("aclmdlRICaptureTaskUpdateBegin", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    return status.ok() ? openaclnn::BeginTaskUpdate(object, handle) : status;
  });
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  return Api("aclmdlRICaptureTaskUpdateEnd", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    return status.ok() ? openaclnn::EndTaskUpdate(object) : status;
  });
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  return Api("aclmdlRIExecuteAsync", [&] {
    std::shared_ptr<Stream> object;
    uint64_t last = 0;
    Status status = FindStream(stream, &object);
    return status.ok() ? openaclnn::Execute(modelRI, object, &last) : status;
  });
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
  return Api("aclmdlRIExecute", [&] { return openaclnn::ExecuteAndWait(modelRI, timeout); });
}

aclError aclmdlRISetName(aclmdlRI modelRI, const char* name) {
  return Api("aclmdlRISetName", [&] {
    std::shared_ptr<Graph> graph;
    Status status = RequireOut("name", name);
    if (status.ok()) status = FindHandle("modelRI", modelRI, &graph);
    if (status.ok()) graph->set_name(name);
    return status;
  });
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name) {
  return Api("aclmdlRIGetName", [&] {
    std::shared_ptr<Graph> graph;
    Status status = RequireOut("name", name);
    if (status.ok() && maxLen == 0) {
      status = Status(ACL_ERROR_RT_PARAM_INVALID, "maxLen value is 0, expected a number of bytes");
    }
    if (status.ok()) status = FindHandle("modelRI", modelRI, &graph);
    if (!status.ok()) return status;
    const std::string text = graph->name();
    const size_t kept = std::min<size_t>({text.size(), openaclnn::kMaxName, maxLen - 1});
    text.copy(name, kept);
    name[kept] = '\0';
    return status;
  });
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  return ReleaseApi("aclmdlRIDestroy", [&] { return openaclnn::DestroyGraph(modelRI); });
}
