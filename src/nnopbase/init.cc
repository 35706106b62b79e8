// SPDX-License-Identifier: Apache-2.0
// aclnnInit and aclnnFinalize.
#include "aclnn/aclnn_base.h"
#include "ascendcl/report/error.h"
#include "common/json_file.h"
#include "openaclnn/status.h"

aclnnStatus aclnnInit(const char* configPath) {
  return openaclnn::Api("aclnnInit", [&]() -> openaclnn::Status {
    if (configPath == nullptr) return {};
    if (openaclnn::CheckJsonFile(configPath) == openaclnn::JsonFile::kJson) return {};
    return openaclnn::Status(
        ACLNN_ERR_PARAM_INVALID,
        openaclnn::Concat("configPath value is ", openaclnn::Quoted{configPath},
                          ", expected a file of JSON"));
  });
}

aclnnStatus aclnnFinalize() {
  return openaclnn::Api("aclnnFinalize", [] { return openaclnn::Status(); });
}
