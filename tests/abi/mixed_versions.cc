// SPDX-License-Identifier: Apache-2.0
// A program that gives the libraries one of another version: they refuse, and say so where they
// can.
//
//   abi_mixed_versions runtime|meta    which of libascendcl.so and libnnopbase.so is the other one
#include <dlfcn.h>

#include <cstring>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_neg.h"
#include "ascendcl/interface.h"
#include "nnopbase/interface.h"
#include "tests/abi/expect.h"

namespace {

/// Whether the argument names the library; asked while they are loaded, before main.
bool IsOther(const char* library) {
  char line[4096] = {};
  std::FILE* const file = std::fopen("/proc/self/cmdline", "r");
  const size_t length = file == nullptr ? 0 : std::fread(line, 1, sizeof(line) - 1, file);
  if (file != nullptr) std::fclose(file);
  const size_t name = std::strlen(line) + 1;
  return name < length && std::strcmp(line + name, library) == 0;
}

}  // namespace

// In front of the libraries' own.
const OpenaclnnRuntime* openaclnn_runtime(uint32_t version) {
  if (IsOther("runtime")) ++version;
  const auto next = reinterpret_cast<decltype(&openaclnn_runtime)>(dlsym(RTLD_NEXT, __func__));
  return next(version);
}

const OpenaclnnMeta* openaclnn_meta(uint32_t version) {
  if (IsOther("meta")) ++version;
  const auto next = reinterpret_cast<decltype(&openaclnn_meta)>(dlsym(RTLD_NEXT, __func__));
  return next(version);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Expect(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0, "the runtime itself starts");
  const int64_t dims[] = {4}, strides[] = {1};
  aclTensor* const tensor =
      aclCreateTensor(dims, 1, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 1, nullptr);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  Expect(aclnnNegGetWorkspaceSize(tensor, tensor, &bytes, &executor) == 361001,
         "phase 1 is refused");
  Expect(executor == nullptr, "without an executor");
  if (std::strcmp(argv[1], "meta") == 0) {  // else nobody could be told
    const char* const message = aclGetRecentErrMsg();
    Expect(message != nullptr && std::strstr(message, "library versions differ") != nullptr,
           "and says why");
    Expect(aclnnNeg(nullptr, 0, nullptr, nullptr) == 361001, "phase 2 too");
  } else {
    Expect(aclnnNeg(nullptr, 0, nullptr, nullptr) != 0, "phase 2 too");
  }
  return g_well ? 0 : 1;
}
