// SPDX-License-Identifier: Apache-2.0
// How many addresses the process uses, and a limit to how many more it may.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace openaclnn::test {

/// What is mapped now, in bytes.
inline rlim_t AddressSpace() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

/// Sanitizers reserve addresses of their own. Clang's macro is not GCC's.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kAddressesAreCounted = false;
#elif defined(__has_feature)
inline constexpr bool kAddressesAreCounted =
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
inline constexpr bool kAddressesAreCounted = true;
#endif

/// While it lives no more than so many bytes are mapped beside those that are; any number where
/// addresses are not counted.
class LittleAddressSpace {
 public:
  explicit LittleAddressSpace(rlim_t more) {
    if (!kAddressesAreCounted) return;
    getrlimit(RLIMIT_AS, &before_);
    const rlimit limit = {AddressSpace() + more, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  }
  LittleAddressSpace(const LittleAddressSpace&) = delete;
  ~LittleAddressSpace() {
    if (kAddressesAreCounted) setrlimit(RLIMIT_AS, &before_);
  }

 private:
  rlimit before_ = {};
};

}  // namespace openaclnn::test
