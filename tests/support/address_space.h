// SPDX-License-Identifier: Apache-2.0
// How many addresses the process uses, and a limit to how many more it may.
#pragma once

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

/// While it lives no more than so many bytes are mapped beside those that are; with sanitizers,
/// which reserve addresses of their own, any number.
class LittleAddressSpace {
 public:
  explicit LittleAddressSpace([[maybe_unused]] rlim_t more) {
    getrlimit(RLIMIT_AS, &before_);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const rlimit limit = {AddressSpace() + more, before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
#endif
  }
  LittleAddressSpace(const LittleAddressSpace&) = delete;
  ~LittleAddressSpace() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_ = {};
};

}  // namespace openaclnn::test
