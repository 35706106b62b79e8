// SPDX-License-Identifier: Apache-2.0
// Settings of a program's HcclCommConfig, read no further than its size.
#pragma once

#include <optional>
#include <string>

#include "common/status.h"
#include "hccl/hccl_types.h"

namespace openaclnn {

struct CommConfig {
  std::string name;                 // empty: one is made
  std::optional<int> exec_timeout;  // seconds; none: the environment decides
};

/// HCCL_E_PARA unless the bytes begin as HcclCommConfigInit makes them.
Status ReadCommConfig(const HcclCommConfig& config, CommConfig* out);

}  // namespace openaclnn
