// SPDX-License-Identifier: Apache-2.0
// Contexts: aclrtCreateContext, aclrtDestroyContext, aclrtSetCurrentContext,
// aclrtGetCurrentContext.
#include "ascendcl/stream/context.h"

#include "ascendcl/process/config.h"
#include "ascendcl/report/error.h"

using openaclnn::Api;
using openaclnn::Context;
using openaclnn::FindHandle;
using openaclnn::ReleaseApi;
using openaclnn::RequireOut;
using openaclnn::Status;

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return Api("aclrtCreateContext", [&] {
    Status status = RequireOut("context", context);
    if (status.ok()) status = openaclnn::CheckDeviceId("deviceId", deviceId);
    if (status.ok())
      status = openaclnn::CreateNotedContext(static_cast<uint32_t>(deviceId), context);
    if (status.ok()) openaclnn::SetCurrentContext(*context);
    return status;
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return ReleaseApi("aclrtDestroyContext", [&] {
    std::shared_ptr<Context> object;
    Status status = FindHandle("context", context, &object);
    if (!status.ok()) return status;
    if (object->primary()) {
      return Status(ACL_ERROR_RT_PARAM_INVALID,
                    "context value is the device's default context, expected one from "
                    "aclrtCreateContext (aclrtResetDevice ends the default one)");
    }
    const openaclnn::Uncancelled whole;  // half an end could not be repeated
    const openaclnn::ContextWait wait(context);
    status = wait.Refuse();
    if (status.ok()) status = openaclnn::RemoveHandle<Context>("context", context);
    if (!status.ok()) return status;
    openaclnn::ForgetCreatedContext(context);
    object->Close();
    return status;
  });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return Api("aclrtSetCurrentContext", [&] {
    std::shared_ptr<Context> object;
    Status status = FindHandle("context", context, &object);
    if (status.ok()) openaclnn::SetCurrentContext(context);
    return status;
  });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return Api("aclrtGetCurrentContext", [&] {
    std::shared_ptr<Context> object;
    Status status = RequireOut("context", context);
    if (status.ok()) status = openaclnn::CurrentContext(&object, context);
    return status;
  });
}
