// SPDX-License-Identifier: Apache-2.0
// Looks at each result in a callback, on a thread of its own that serves the stream (C++).
#include <pthread.h>

#include <atomic>
#include <vector>

#include "sample.h"

namespace {

constexpr size_t kBytes = 4096;

/// A step of the stream: which byte it wrote, and what its callback found.
struct Step {
  const uint8_t* host;
  uint8_t value;
  bool right;
  pthread_t thread;
};

void Look(void* argument) {
  auto* step = static_cast<Step*>(argument);
  step->right = step->host[0] == step->value && step->host[kBytes - 1] == step->value;
  step->thread = pthread_self();
}

struct Server {
  aclrtContext context = nullptr;
  std::atomic<bool> stop{false};
};

void* Serve(void* argument) {
  auto* server = static_cast<Server*>(argument);
  CALL(aclrtSetCurrentContext(server->context));
  // A time-out only means that no callback was due.
  while (!server->stop) aclrtProcessReport(10);
  return nullptr;
}

}  // namespace

int main() {
  CALL(aclInit(nullptr));
  CALL(aclrtSetDevice(0));
  Server server;
  CALL(aclrtGetCurrentContext(&server.context));
  aclrtStream stream = nullptr;
  CALL(aclrtCreateStream(&stream));
  void* host = nullptr;
  CALL(aclrtMallocHost(&host, kBytes));
  void* device = ToDevice(nullptr, kBytes);

  pthread_t thread;
  CALL(pthread_create(&thread, nullptr, Serve, &server));
  CALL(aclrtSubscribeReport(static_cast<uint64_t>(thread), stream));
  std::vector<Step> steps;
  for (uint8_t value = 1; value <= 50; ++value) {
    steps.push_back({static_cast<const uint8_t*>(host), value, false, pthread_t()});
  }
  // The callback blocks its stream: the next step may not overwrite what it looks at.
  for (Step& step : steps) {
    CALL(aclrtMemsetAsync(device, kBytes, step.value, kBytes, stream));
    CALL(aclrtMemcpyAsync(host, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CALL(aclrtLaunchCallback(Look, &step, ACL_CALLBACK_BLOCK, stream));
  }
  CALL(aclrtSynchronizeStream(stream));
  for (const Step& step : steps) {
    HOLDS(step.right);
    HOLDS(pthread_equal(step.thread, thread));
  }

  CALL(aclrtUnSubscribeReport(static_cast<uint64_t>(thread), stream));
  server.stop = true;
  CALL(pthread_join(thread, nullptr));
  CALL(aclrtFree(device));
  CALL(aclrtFreeHost(host));
  CALL(aclrtDestroyStream(stream));
  CALL(aclrtResetDevice(0));
  CALL(aclFinalize());
  return 0;
}
