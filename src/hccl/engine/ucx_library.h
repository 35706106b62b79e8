// SPDX-License-Identifier: Apache-2.0
// UCX's library: opened when the first communicator between processes is made, never linked.
#pragma once

#include <ucp/api/ucp.h>

#include <mutex>

#include "common/status.h"

namespace openaclnn {

struct UcxLibrary {
  decltype(&ucp_config_read) config_read;
  decltype(&ucp_config_modify) config_modify;
  decltype(&ucp_config_release) config_release;
  decltype(&ucp_init_version) init_version;
  decltype(&ucp_worker_create) worker_create;
  decltype(&ucp_worker_destroy) worker_destroy;
  decltype(&ucp_worker_get_address) worker_get_address;
  decltype(&ucp_worker_release_address) worker_release_address;
  decltype(&ucp_worker_progress) worker_progress;
  decltype(&ucp_worker_get_efd) worker_get_efd;
  decltype(&ucp_worker_arm) worker_arm;
  decltype(&ucp_ep_create) ep_create;
  decltype(&ucp_ep_flush_nbx) ep_flush_nbx;
  decltype(&ucp_ep_close_nbx) ep_close_nbx;
  decltype(&ucp_tag_send_sync_nbx) tag_send_sync_nbx;
  decltype(&ucp_tag_recv_nbx) tag_recv_nbx;
  decltype(&ucp_request_cancel) request_cancel;
  decltype(&ucp_request_check_status) request_check_status;
  decltype(&ucp_request_free) request_free;

  ucp_context_h context;  // of the process
  std::mutex mutex;       // held in every call: builds of UCX without threads are common
};

/// The options of the environment, and ours where it has none; to be released.
Status ConfigureUcx(const UcxLibrary& ucx, ucp_config_t** options);

/// One that only one thread at a time calls. UCX's own thread, which starts with the first, leaves
/// signals to the program.
ucs_status_t CreateWorker(const UcxLibrary& ucx, ucp_worker_h* worker);

/// HCCL_E_UNAVAIL, with what to install, where there is none, and where it may not be opened.
Status OpenUcx(UcxLibrary** library);

}  // namespace openaclnn
