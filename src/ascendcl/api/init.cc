// SPDX-License-Identifier: Apache-2.0
// Life of the library: aclInit, aclFinalize and the version queries.
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>

#include "acl/acl.h"
#include "ascendcl/api/device.h"
#include "ascendcl/check/fault.h"
#include "ascendcl/check/leaks.h"
#include "ascendcl/memory/memory.h"
#include "ascendcl/process/config.h"
#include "ascendcl/process/first_use.h"
#include "ascendcl/process/fork.h"
#include "ascendcl/process/handles.h"
#include "ascendcl/process/host_call.h"
#include "ascendcl/report/api_error.h"
#include "ascendcl/report/error.h"
#include "ascendcl/report/log.h"
#include "ascendcl/report/report.h"
#include "ascendcl/report/report_file.h"
#include "ascendcl/report/trace.h"
#include "ascendcl/report/unknown_variable.h"
#include "ascendcl/stream/host_threads.h"
#include "ascendcl/stream/workers.h"
#include "ascendcl/watch/race_watch.h"
#include "common/json_file.h"
#include "common/uncancelled.h"
#include "openaclnn/version.h"

namespace openaclnn {
namespace {

enum class Life { kNone, kInitialised, kEnding };

std::mutex g_mutex;  // guards what follows
Life g_life = Life::kNone;

/// Signalled at the end of an aclFinalize.
std::condition_variable& Ended() {
  static auto* const ended = new std::condition_variable;  // static destructors may still call
  return *ended;
}

// aclFinalize waits for what runs, so nothing that it waits for may wait for its end.
Status AwaitEnd(std::unique_lock<std::mutex>& lock) {
  if (g_life != Life::kEnding) return {};
  Status status = RefuseInHostCall(HostCall::HoldsStream());
  if (status.ok()) Ended().wait(lock, [] { return g_life != Life::kEnding; });
  return status;
}

/// Nothing of the file is used; it is read so that a mistake in it does not wait for the device.
Status CheckConfigFile(const char* path) {
  switch (CheckJsonFile(path)) {
    case JsonFile::kJson:
      return {};
    case JsonFile::kNotJson:
      return Status(ACL_ERROR_PARSE_FILE,
                    Concat("configPath content of ", Quoted{path}, " is not JSON, expected JSON"));
    case JsonFile::kUnreadable:
      break;
  }
  return Status(ACL_ERROR_INVALID_FILE,
                Concat("configPath value is ", Quoted{path}, ", expected a file that can be read"));
}

Status Initialise(const char* config_path) {
  const FirstUse use;
  Status status = RefuseInHostCall(HostCall::InTask());  // of a thread that may have to be ended
  if (!status.ok()) return status;
  std::unique_lock lock(g_mutex);
  status = AwaitEnd(lock);
  if (!status.ok()) return status;
  if (g_life == Life::kInitialised) {
    return Status(ACL_ERROR_REPEAT_INITIALIZE,
                  "library state is initialised, expected one aclInit "
                  "until aclFinalize");
  }
  if (config_path != nullptr) status = CheckConfigFile(config_path);
  if (status.ok()) status = ReloadConfig();
  Config config;
  if (status.ok()) status = CurrentConfig(&config);
  if (!status.ok()) return status;
  MarkUsed();
  Memory::Get().ForgetEnded();
  ReloadLog();
  ReloadTrace();
  ReloadReportFile();
  TellUnknownVariables(config.check != CheckLevel::kOff);
  Workers::Get().Configure(config.num_threads);
  if (config.check != CheckLevel::kOff) WatchFaults();
  if (LogEnabled(LogModule::kAscendcl, LogLevel::kInfo)) {
    Log(LogModule::kAscendcl, LogLevel::kInfo,
        Concat("openaclnn ", OPENACLNN_VERSION_STRING, " as ", config.product->name, ", ",
               config.num_devices, " devices of ", config.device_memory, " bytes, ",
               config.num_threads, " threads"));
  }
  NoteRuntimeEnded(false);
  g_life = Life::kInitialised;
  return status;
}

Status Finalise() {
  const Uncancelled whole;  // half an end could neither be repeated nor be taken back
  const FirstUse use;
  Status status = RefuseInHostCall(HostCall::HoldsStream());
  if (!status.ok()) return status;
  std::unique_lock lock(g_mutex);
  status = AwaitEnd(lock);
  if (!status.ok()) return status;
  if (g_life != Life::kInitialised) {
    return Status(ACL_ERROR_REPEAT_FINALIZE,
                  "library state is not initialised, expected aclInit "
                  "before aclFinalize");
  }
  std::condition_variable& ended = Ended();  // may need memory, so before anything ends
  g_life = Life::kEnding;
  lock.unlock();  // host functions that run may call aclInit
  status = Guard([] {
    TellLeftHandles();
    CloseAllContexts();
    StopHostThreads();
    Workers::Get().Stop();
    Memory::Get().FreeDevices(TellLeaks, EndLeaks);
    if (WatchingRaces()) ForgetAllTouches();
    SummariseFindings();
    UnwatchFaults();
    return Status();
  });
  lock.lock();
  g_life = status.ok() ? Life::kNone : Life::kInitialised;
  NoteRuntimeEnded(status.ok());
  ended.notify_all();
  return status;
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

/// The settings that result from the environment's variables, as JSON, for the command-line tool;
/// null (with an error recorded) when they cannot be used. The text lives until the thread's next
/// call.
extern "C" __attribute__((visibility("default"))) const char* openaclnn_configuration_json() {
  static thread_local std::string text;
  text.clear();
  openaclnn::Api("configuration", [] {
    openaclnn::Config config;
    openaclnn::Status status = openaclnn::ReadConfig(&config);
    if (!status.ok()) return status;
    text = nlohmann::ordered_json({{"version", OPENACLNN_VERSION_STRING},
                                   {"cann", "8.2"},
                                   {"product", config.product->name},
                                   {"family", openaclnn::FamilyName(config.product->family)},
                                   {"simd", openaclnn::SimdName(config.simd)},
                                   {"threads", config.num_threads},
                                   {"devices", config.num_devices},
                                   {"device_memory", config.device_memory}})
               .dump();
    return status;
  });
  return text.empty() ? nullptr : text.c_str();
}
