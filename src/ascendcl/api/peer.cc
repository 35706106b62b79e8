// SPDX-License-Identifier: Apache-2.0
// Access between devices, and the mode that the process runs in.
#include "ascendcl/api/device.h"
#include "ascendcl/report/error.h"
#include "ascendcl/stream/context.h"

namespace openaclnn {
namespace {

/// All devices share this process's memory, so access is always there; what is checked is that the
/// program could ask a device for it.
Status CheckPeer(int32_t peer_id) {
  Status status = CheckDeviceId("peerDeviceId", peer_id);
  std::shared_ptr<Context> context;
  if (status.ok()) status = CurrentContext(&context);
  if (!status.ok()) return status;
  if (static_cast<uint32_t>(peer_id) != context->device_id()) return status;
  return Status(ACL_ERROR_RT_PARAM_INVALID,
                Concat("peerDeviceId value is ", peer_id, ", expected another than the thread's"));
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Api;
using openaclnn::CheckDeviceId;
using openaclnn::RequireOut;
using openaclnn::Status;

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  return Api("aclrtDeviceCanAccessPeer", [&] {
    Status status = RequireOut("canAccessPeer", canAccessPeer);
    if (status.ok()) status = CheckDeviceId("deviceId", deviceId);
    if (status.ok()) status = CheckDeviceId("peerDeviceId", peerDeviceId);
    if (status.ok()) *canAccessPeer = deviceId != peerDeviceId ? 1 : 0;
    return status;
  });
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  return Api("aclrtDeviceEnablePeerAccess", [&] {
    if (flags != 0) {
      return Status(ACL_ERROR_RT_PARAM_INVALID,
                    openaclnn::Concat("flags value is ", flags, ", expected 0"));
    }
    return openaclnn::CheckPeer(peerDeviceId);
  });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return Api("aclrtDeviceDisablePeerAccess", [&] { return openaclnn::CheckPeer(peerDeviceId); });
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return Api("aclrtGetRunMode", [&] {
    Status status = RequireOut("runMode", runMode);
    if (status.ok()) *runMode = ACL_HOST;
    return status;
  });
}
