// SPDX-License-Identifier: Apache-2.0
// Opens libucp.so.0 with settings that suit a library in somebody else's process.
#if __has_include(<ucp/api/ucp.h>)
#include "hccl/engine/ucx_library.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>

#include "ascendcl/process/signals.h"
#include "hccl/hccl_types.h"

namespace openaclnn {
namespace {

constexpr const char* kName = "libucp.so.0";

// Unless the environment has them. Of the process, which UCX reads while it is loaded: no handlers
// of signals, no patched munmap, no warning about variables that only other versions know, nothing
// printed of peers that have gone.
constexpr const char* kVariables[][2] = {
    {"UCX_HANDLE_ERRORS", "none"},
    {"UCX_MEM_EVENTS", "n"},
    {"UCX_WARN_UNUSED_ENV_VARS", "n"},
    {"UCX_LOG_LEVEL", "fatal"},
};

struct Option {
  const char* variable;
  const char* name;
  const char* value;
};

// Options of the context. Two ways of UCX 1.13 are not taken, because it ends this process when its
// peer has died in them. One reads in another process's memory (seen in one of 40 kills). One
// writes there over TCP (an assertion about the answer to such a write, seen in one of 100 kills on
// a busy machine). A transport's options have no prefix in 1.13 and have one later; the other name
// is passed over.
constexpr Option kOptions[] = {
    {"UCX_TLS", "TLS", "^cma"},
    {"UCX_TCP_PUT_ENABLE", "PUT_ENABLE", "n"},
    {"UCX_TCP_PUT_ENABLE", "TCP_PUT_ENABLE", "n"},
};

Status NotAvailable(const std::string& why) {
  return Status(HCCL_E_UNAVAIL, Concat("UCX, which moves bytes between processes, cannot be used: ",
                                       why, "; expected ", kName,
                                       " of UCX 1.13 or newer (Debian: libucx0; PyPI: "
                                       "libucx-cu12, with its lib folder in LD_LIBRARY_PATH)"));
}

std::string ValueOf(const char* variable) {
  const char* const value = std::getenv(variable);
  return Concat(variable, " is ", value != nullptr ? Concat(Quoted{value}) : "not set");
}

/// It is there, and refuses.
Status NotStarted(const std::string& why) {
  return Status(HCCL_E_UNAVAIL,
                Concat("UCX, which moves bytes between processes, cannot be started: ", why, "; ",
                       ValueOf("UCX_TLS"), ", ", ValueOf("UCX_NET_DEVICES"),
                       ", expected transports and devices of this machine (ucx_info -d), see "
                       "UCX_LOG_LEVEL=info"));
}

/// UCX takes from its variables, and from ucx.conf in the folder where the program was started,
/// which files it writes and which modules it loads, whoever made them.
Status RefuseMoreRights() {
  if (getauxval(AT_SECURE) == 0) return {};
  return Status(HCCL_E_UNAVAIL,
                "UCX, which moves bytes between processes, is not opened in a program with more "
                "rights than whoever started it (set-user-id, file capabilities), whose variables "
                "name what it writes and loads; expected one without, or ranks of one process "
                "(HcclCommInitAll)");
}

template <class Function>
bool Find(void* library, const char* name, Function* function, std::string* missing) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function == nullptr) *missing = name;
  return *function != nullptr;
}

bool FindAll(void* library, UcxLibrary* ucx, std::string* missing) {
  return Find(library, "ucp_config_read", &ucx->config_read, missing) &&
         Find(library, "ucp_config_modify", &ucx->config_modify, missing) &&
         Find(library, "ucp_config_release", &ucx->config_release, missing) &&
         Find(library, "ucp_init_version", &ucx->init_version, missing) &&
         Find(library, "ucp_worker_create", &ucx->worker_create, missing) &&
         Find(library, "ucp_worker_destroy", &ucx->worker_destroy, missing) &&
         Find(library, "ucp_worker_get_address", &ucx->worker_get_address, missing) &&
         Find(library, "ucp_worker_release_address", &ucx->worker_release_address, missing) &&
         Find(library, "ucp_worker_progress", &ucx->worker_progress, missing) &&
         Find(library, "ucp_worker_get_efd", &ucx->worker_get_efd, missing) &&
         Find(library, "ucp_worker_arm", &ucx->worker_arm, missing) &&
         Find(library, "ucp_ep_create", &ucx->ep_create, missing) &&
         Find(library, "ucp_ep_flush_nbx", &ucx->ep_flush_nbx, missing) &&
         Find(library, "ucp_ep_close_nbx", &ucx->ep_close_nbx, missing) &&
         Find(library, "ucp_tag_send_sync_nbx", &ucx->tag_send_sync_nbx, missing) &&
         Find(library, "ucp_tag_recv_nbx", &ucx->tag_recv_nbx, missing) &&
         Find(library, "ucp_request_check_status", &ucx->request_check_status, missing) &&
         Find(library, "ucp_request_cancel", &ucx->request_cancel, missing) &&
         Find(library, "ucp_request_free", &ucx->request_free, missing);
}

/// Sets what the environment does not have, while UCX reads it: children are not to inherit it.
class Settings {
 public:
  Settings() {
    for (size_t i = 0; i < std::size(kVariables); ++i) {
      const auto& [name, value] = kVariables[i];
      set_[i] = std::getenv(name) == nullptr && setenv(name, value, 0) == 0;
    }
  }
  Settings(const Settings&) = delete;
  ~Settings() {
    for (size_t i = 0; i < std::size(kVariables); ++i) {
      if (set_[i]) (void)unsetenv(kVariables[i][0]);
    }
  }

 private:
  bool set_[std::size(kVariables)] = {};
};

std::string Gives(const char* function, ucs_status_t status) {
  return Concat(function, " gives ", static_cast<int>(status));
}

Status Open(UcxLibrary* ucx) {
  const Settings settings;
  const SignalMask inherited(SignalMask::OfRuntime());  // by threads that it starts
  void* const library = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const words = dlerror();
    return NotAvailable(words != nullptr ? words : "it is not found");
  }
  std::string missing;
  if (!FindAll(library, ucx, &missing)) return NotAvailable(missing + " is missing in it");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
  params.name = "openaclnn";
  ucp_config_t* options = nullptr;
  Status configured = ConfigureUcx(*ucx, &options);
  if (!configured.ok()) return configured;
  const ucs_status_t status =
      ucx->init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, options, &ucx->context);
  ucx->config_release(options);
  return status == UCS_OK ? Status() : NotStarted(Gives("ucp_init", status));
}

}  // namespace

Status ConfigureUcx(const UcxLibrary& ucx, ucp_config_t** options) {
  ucs_status_t status = ucx.config_read(nullptr, nullptr, options);
  if (status != UCS_OK) return NotStarted(Gives("ucp_config_read", status));
  for (const auto& [variable, name, value] : kOptions) {
    if (std::getenv(variable) != nullptr) continue;
    status = ucx.config_modify(*options, name, value);
    if (status == UCS_OK) continue;
    ucx.config_release(*options);
    return NotStarted(Concat(Gives("ucp_config_modify", status), " for ", name));
  }
  return {};
}

ucs_status_t CreateWorker(const UcxLibrary& ucx, ucp_worker_h* worker) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  const SignalMask inherited(SignalMask::OfRuntime());
  return ucx.worker_create(ucx.context, &params, worker);
}

Status OpenUcx(UcxLibrary** library) {
  Status allowed = RefuseMoreRights();
  if (!allowed.ok()) return allowed;
  static std::mutex mutex;
  static UcxLibrary* opened = nullptr;  // for ever, as the communicators' workers stand on it
  std::lock_guard lock(mutex);
  if (opened == nullptr) {
    auto ucx = std::make_unique<UcxLibrary>();
    Status status = Open(ucx.get());
    if (!status.ok()) return status;
    opened = ucx.release();
  }
  *library = opened;
  return {};
}

}  // namespace openaclnn
#endif
