// SPDX-License-Identifier: Apache-2.0
// Settings of communicators from the environment, read when one is made.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"

namespace openaclnn {

struct HcclEnvironment {
  std::chrono::seconds connect_timeout{120};  // HCCL_CONNECT_TIMEOUT
  std::chrono::seconds exec_timeout{1836};    // HCCL_EXEC_TIMEOUT; 0: for ever
  std::string address;                        // HCCL_IF_IP
  std::string interfaces;                     // HCCL_SOCKET_IFNAME
  bool ipv6 = false;                          // HCCL_SOCKET_FAMILY
  /// HCCL_HOST_SOCKET_PORT_RANGE, else HCCL_IF_BASE_PORT; empty: the system chooses.
  std::vector<uint16_t> ports;
};

/// A value that cannot be used is an error that names the variable.
Status ReadHcclEnvironment(HcclEnvironment* environment);

}  // namespace openaclnn
