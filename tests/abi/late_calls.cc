// SPDX-License-Identifier: Apache-2.0
// A program that ends without aclFinalize, calls in from static destructors and from atexit, and
// leaves work queued: it must end by itself, with 0.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

namespace {

void Check(int status, const char* call) {
  if (status == 0) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d %s\n", call, status, message != nullptr ? message : "");
  _exit(1);
}

/// What a client keeps in a static object, made before the runtime has started.
struct Resources {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtContext context = nullptr;
  void* device = nullptr;
  void* host = nullptr;
  aclTensor* tensor = nullptr;

  ~Resources() {
    Check(aclrtMemsetAsync(device, 64, 2, 64, stream), "aclrtMemsetAsync");
    Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    Check(aclDestroyTensor(tensor), "aclDestroyTensor");
    Check(aclrtDestroyEvent(event), "aclrtDestroyEvent");
    Check(aclrtDestroyStream(stream), "aclrtDestroyStream");
    Check(aclrtFree(device), "aclrtFree");
    Check(aclrtFreeHost(host), "aclrtFreeHost");
    Check(aclrtDestroyContext(context), "aclrtDestroyContext");
    if (aclrtFree(device) == 0 || aclGetRecentErrMsg() == nullptr) _exit(2);
  }
} g_resources;

}  // namespace

int main() {
  alarm(30);  // a hang is a failure
  Resources& r = g_resources;
  Check(aclInit(nullptr), "aclInit");
  Check(aclrtCreateContext(&r.context, 0), "aclrtCreateContext");
  Check(aclrtCreateStream(&r.stream), "aclrtCreateStream");
  Check(aclrtCreateEvent(&r.event), "aclrtCreateEvent");
  Check(aclrtMalloc(&r.device, 64, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  Check(aclrtMallocHost(&r.host, 64), "aclrtMallocHost");
  r.tensor = aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
  for (int i = 0; i < 1000; ++i) {
    Check(aclrtMemsetAsync(r.device, 64, i, 64, r.stream), "aclrtMemsetAsync");
  }
  std::atexit([] { Check(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice"); });
  return 0;
}
