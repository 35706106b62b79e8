// SPDX-License-Identifier: Apache-2.0
// The functions of the libraries that this one stands in front of.
#pragma once

#include <atomic>
#include <string>

namespace openaclnn::capture {

/// The function `name` in the libraries behind this one; null where they do not have it.
void* FindNext(const char* name);

/// Whether this library has a function of that name.
bool IsInFrontOf(const std::string& name);

/// FindNext, looked up until it is found: without memory it may not be. It may be found twice, for
/// there is no guard that a child of fork could find closed.
class NextFunction {
 public:
  void* Find(const char* name) {
    void* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) found_.store(found = FindNext(name), std::memory_order_relaxed);
    return found;
  }

 private:
  std::atomic<void*> found_{nullptr};
};

/// The function behind this library's own.
#define NEXT(function)                                                  \
  ([] {                                                                 \
    static constinit openaclnn::capture::NextFunction next;             \
    return reinterpret_cast<decltype(function)*>(next.Find(#function)); \
  }())

}  // namespace openaclnn::capture
