// SPDX-License-Identifier: Apache-2.0
// Life of the library: aclInit, aclFinalize and the version queries.
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "acl/acl.h"
#include "ascendcl/config.h"
#include "ascendcl/device.h"
#include "ascendcl/error.h"
#include "ascendcl/handles.h"
#include "ascendcl/log.h"
#include "ascendcl/workers.h"
#include "openaclnn/version.h"

namespace openaclnn {
namespace {

std::mutex g_mutex;  // guards what follows
bool g_initialised = false;

/// Nothing of the file is used; it is read so that a mistake in it does not wait for the device.
Status CheckConfigFile(const char* path) {
  std::ifstream file(path);
  if (!file) {
    return Status(ACL_ERROR_INVALID_FILE,
                  Concat("configPath value is '", path, "', expected a file that can be read"));
  }
  if (!nlohmann::json::accept(file)) {
    return Status(ACL_ERROR_PARSE_FILE,
                  Concat("configPath content of '", path, "' is not JSON, expected JSON"));
  }
  return {};
}

Status Initialise(const char* config_path) {
  std::lock_guard lock(g_mutex);
  if (g_initialised) {
    return Status(ACL_ERROR_REPEAT_INITIALIZE,
                  "library state is initialised, expected one aclInit "
                  "until aclFinalize");
  }
  Status status = config_path != nullptr ? CheckConfigFile(config_path) : Status();
  if (status.ok()) status = ReloadConfig();
  Config config;
  if (status.ok()) status = CurrentConfig(&config);
  if (!status.ok()) return status;
  ReloadLog();
  Workers::Get().Configure(config.num_threads);
  if (LogEnabled(LogModule::kAscendcl, LogLevel::kInfo)) {
    Log(LogModule::kAscendcl, LogLevel::kInfo,
        Concat("openaclnn ", OPENACLNN_VERSION_STRING, " as ", config.product->name, ", ",
               config.num_devices, " devices of ", config.device_memory, " bytes, ",
               config.num_threads, " threads"));
  }
  g_initialised = true;
  return status;
}

Status Finalise() {
  std::lock_guard lock(g_mutex);
  if (!g_initialised) {
    return Status(ACL_ERROR_REPEAT_FINALIZE,
                  "library state is not initialised, expected aclInit "
                  "before aclFinalize");
  }
  g_initialised = false;
  CloseAllContexts();
  Workers::Get().Stop();
  return {};
}

}  // namespace
}  // namespace openaclnn

aclError aclInit(const char* configPath) {
  return openaclnn::Api("aclInit", [&] { return openaclnn::Initialise(configPath); });
}

aclError aclFinalize() {
  return openaclnn::Api("aclFinalize", [] { return openaclnn::Finalise(); });
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  return openaclnn::Api("aclrtGetVersion", [&] {
    openaclnn::Status status = openaclnn::RequireOut("majorVersion", majorVersion);
    if (status.ok()) status = openaclnn::RequireOut("minorVersion", minorVersion);
    if (status.ok()) status = openaclnn::RequireOut("patchVersion", patchVersion);
    if (!status.ok()) return status;
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return status;
  });
}

const char* openaclnnGetVersion() { return OPENACLNN_VERSION_STRING; }
