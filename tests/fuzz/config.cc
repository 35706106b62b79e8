// SPDX-License-Identifier: Apache-2.0
// Any bytes as the file that aclInit and aclnnInit are given: both say alike whether it is JSON.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "aclnn/aclnn_base.h"
#include "openaclnn/status.h"
#include "tests/fuzz/fuzz.h"

using openaclnn::fuzz::Must;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int file = memfd_create("config", MFD_CLOEXEC);
  Must(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size), "the file is written");
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const int code = aclInit(path.c_str());
  Must(code == 0 || code == ACL_ERROR_PARSE_FILE, "aclInit takes it or says that it is not JSON",
       code);
  const int again = aclnnInit(path.c_str());
  Must(again == (code == 0 ? 0 : int{ACLNN_ERR_PARAM_INVALID}), "aclnnInit says the same", again);
  close(file);
  // What was refused has changed nothing.
  if (code != 0) Must(aclInit(nullptr) == 0, "aclInit without a file");
  Must(aclFinalize() == 0, "aclFinalize");
  return 0;
}
