// SPDX-License-Identifier: Apache-2.0
// Settings of the process and of a context, and facts of a device, that change no result here.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "ascendcl/api/device.h"
#include "ascendcl/process/config.h"
#include "ascendcl/report/error.h"
#include "ascendcl/stream/context.h"

namespace openaclnn {
namespace {

std::atomic<aclrtFloatOverflowMode> g_overflow_mode{ACL_RT_OVERFLOW_MODE_INFNAN};

/// The process's options, which are all set to 0 from the beginning.
SysParams& ProcessParams() {
  static auto* params = new SysParams{};
  return *params;
}

Status CheckOption(aclSysParamOpt opt) {
  if (opt >= ACL_OPT_DETERMINISTIC && opt <= ACL_OPT_ENABLE_KERNEL_EARLY_START) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID, Concat("opt value is ", static_cast<int>(opt),
                                                   ", expected a value of aclSysParamOpt"));
}

Status SetParam(SysParams& params, aclSysParamOpt opt, int64_t value) {
  Status status = CheckOption(opt);
  if (!status.ok()) return status;
  if (value != 0 && value != 1) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  Concat("value value is ", value, ", expected 0 or 1"));
  }
  params[opt] = static_cast<int8_t>(value);
  return {};
}

Status GetParam(const SysParams& params, aclSysParamOpt opt, int64_t* value) {
  Status status = CheckOption(opt);
  if (status.ok()) status = RequireOut("value", value);
  if (!status.ok()) return status;
  const int8_t set = params[opt];
  if (set < 0) {
    return Status(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
                  Concat("opt value is ", static_cast<int>(opt), ", expected one that was set"));
  }
  *value = set;
  return {};
}

/// The limit is taken; a thread of this process cannot be stopped from without.
int TakeLimit(const char* api) {
  return Api(api, [] { return Status(); });
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Api;
using openaclnn::Context;
using openaclnn::CurrentContext;
using openaclnn::ProcessParams;
using openaclnn::RequireOut;
using openaclnn::Status;

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  return Api("aclrtSetDeviceSatMode", [&]() -> Status {
    if (mode != ACL_RT_OVERFLOW_MODE_SATURATION && mode != ACL_RT_OVERFLOW_MODE_INFNAN) {
      return Status(ACL_ERROR_RT_PARAM_INVALID,
                    openaclnn::Concat("mode value is ", static_cast<int>(mode),
                                      ", expected SATURATION (0) or INFNAN (1)"));
    }
    openaclnn::g_overflow_mode = mode;
    return {};
  });
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  return Api("aclrtGetDeviceSatMode", [&] {
    Status status = RequireOut("mode", mode);
    if (status.ok()) *mode = openaclnn::g_overflow_mode;
    return status;
  });
}

aclError aclrtSetOpExecuteTimeOut(uint32_t) {
  return openaclnn::TakeLimit("aclrtSetOpExecuteTimeOut");
}

aclError aclrtSetOpWaitTimeout(uint32_t) { return openaclnn::TakeLimit("aclrtSetOpWaitTimeout"); }

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return Api("aclrtSetSysParamOpt",
             [&] { return openaclnn::SetParam(ProcessParams(), opt, value); });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return Api("aclrtGetSysParamOpt",
             [&] { return openaclnn::GetParam(ProcessParams(), opt, value); });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return Api("aclrtCtxSetSysParamOpt", [&] {
    std::shared_ptr<Context> context;
    Status status = CurrentContext(&context);
    return status.ok() ? openaclnn::SetParam(context->sys_params(), opt, value) : status;
  });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return Api("aclrtCtxGetSysParamOpt", [&] {
    std::shared_ptr<Context> context;
    Status status = CurrentContext(&context);
    return status.ok() ? openaclnn::GetParam(context->sys_params(), opt, value) : status;
  });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return Api("aclGetDeviceCapability", [&] {
    openaclnn::Config config;
    Status status = RequireOut("value", value);
    const auto id =
        static_cast<int32_t>(std::min<uint32_t>(deviceId, std::numeric_limits<int32_t>::max()));
    if (status.ok()) status = openaclnn::CheckDeviceId("deviceId", id);
    if (status.ok()) status = openaclnn::CurrentConfig(&config);
    if (!status.ok()) return status;
    switch (deviceInfo) {
      case ACL_DEVICE_INFO_AI_CORE_NUM:
      case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
        *value = config.product->core_count;
        return status;
      case ACL_DEVICE_INFO_L2_SIZE:
        *value = 0;
        return status;
      case ACL_DEVICE_INFO_UNDEFINED:
        break;
    }
    return Status(ACL_ERROR_INVALID_PARAM,
                  openaclnn::Concat("deviceInfo value is ", static_cast<int>(deviceInfo),
                                    ", expected a value of aclDeviceInfo"));
  });
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  return Api("aclrtDeviceGetBareTgid", [&] {
    Status status = RequireOut("pid", pid);
    if (status.ok()) *pid = getpid();
    return status;
  });
}
