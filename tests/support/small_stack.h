// SPDX-License-Identifier: Apache-2.0
// A thread with as little stack as clients' threads may have: it runs tasks while it synchronises.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>

namespace openaclnn::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr size_t kSmallStack = 1 << 20;  // sanitizers need most of it
#else
inline constexpr size_t kSmallStack = 64 << 10;
#endif

/// Runs the body on such a thread and waits for it.
template <class Body>
void OnSmallStack(Body&& body) {
  pthread_attr_t attributes;
  pthread_t thread;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  // What the system asks for at least: 16 KiB on x86-64, 128 KiB on aarch64.
  const auto least = static_cast<size_t>(sysconf(_SC_THREAD_STACK_MIN));
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, std::max(kSmallStack, least)), 0);
  const auto main = [](void* argument) -> void* {
    (*static_cast<Body*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, main, &body), 0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
}

}  // namespace openaclnn::test
