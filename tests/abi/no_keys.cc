// SPDX-License-Identifier: Apache-2.0
// A program that has used up its thread-specific keys: its own values stay, errors have their
// messages, and what needs a key is refused with words until there is one.
#include <pthread.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/abi/expect.h"

int main() {
  alarm(30);  // a hang is a failure
  std::vector<pthread_key_t> keys;
  pthread_key_t key{};
  while (pthread_key_create(&key, nullptr) == 0) keys.push_back(key);
  for (const pthread_key_t each : keys) pthread_setspecific(each, &g_well);

  aclrtStream stream = nullptr;
  Expect(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0, "the runtime starts");
  Expect(aclrtCreateStream(&stream) == 0, "a stream is made");
  Expect(aclrtFree(nullptr) == 100000, "errors are found");
  const char* message = aclGetRecentErrMsg();
  Expect(message != nullptr && std::strstr(message, "aclrtFree") != nullptr, "they have messages");
  const auto self = static_cast<uint64_t>(pthread_self());
  Expect(aclrtSubscribeReport(self, stream) == 207005, "a subscription is refused");
  message = aclGetRecentErrMsg();
  Expect(message != nullptr && std::strstr(message, "key") != nullptr, "for want of a key");
  // Another thread may be named, which learns it when it comes to serve.
  std::thread([&] {
    Expect(aclrtSetDevice(0) == 0 && aclrtSubscribeReport(self, stream) == 0,
           "another's subscription cannot tell");
  }).join();
  Expect(aclrtProcessReport(0) == 207005, "but the thread is refused");
  for (const pthread_key_t each : keys) {
    Expect(pthread_getspecific(each) == &g_well, "values of the program stay");
  }
  pthread_key_delete(keys.back());
  Expect(aclrtProcessReport(0) == 507012, "with a key it serves, and nothing is there");
  Expect(aclFinalize() == 0, "the runtime ends");
  return g_well ? 0 : 1;
}
