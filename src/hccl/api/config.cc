// SPDX-License-Identifier: Apache-2.0
// Reads HcclCommConfig.
#include "hccl/api/config.h"

#include <cstddef>
#include <cstring>

namespace openaclnn {
namespace {

constexpr size_t kLeastSize = 32;

static_assert(offsetof(HcclCommConfig, hcclCommName) == kLeastSize);

bool Holds(size_t size, size_t offset, size_t bytes) { return size >= offset + bytes; }

}  // namespace

Status ReadCommConfig(const HcclCommConfig& config, CommConfig* out) {
  if (config.size < kLeastSize) {
    return Status(HCCL_E_PARA, Concat("config size is ", config.size, ", expected at least ",
                                      kLeastSize, ": HcclCommConfigInit before"));
  }
  if (config.magic != HCCL_COMM_CONFIG_MAGIC_WORD) {
    return Status(HCCL_E_PARA, Concat("config magic is ", config.magic, ", expected ",
                                      HCCL_COMM_CONFIG_MAGIC_WORD, ": HcclCommConfigInit before"));
  }
  if (Holds(config.size, offsetof(HcclCommConfig, hcclCommName), COMM_NAME_MAX_LENGTH)) {
    const size_t length = strnlen(config.hcclCommName, COMM_NAME_MAX_LENGTH);
    if (length == COMM_NAME_MAX_LENGTH) {
      return Status(HCCL_E_PARA, Concat("config hcclCommName is longer than ",
                                        COMM_NAME_MAX_LENGTH - 1, " characters, expected fewer"));
    }
    out->name.assign(config.hcclCommName, length);
  }
  if (Holds(config.size, offsetof(HcclCommConfig, hcclExecTimeOut), sizeof(int32_t)) &&
      config.hcclExecTimeOut >= 0) {
    out->exec_timeout = config.hcclExecTimeOut;
  }
  return {};
}

}  // namespace openaclnn
