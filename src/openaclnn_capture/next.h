// SPDX-License-Identifier: Apache-2.0
// The functions of the libraries that this one stands in front of.
#pragma once

#include <string>

namespace openaclnn::capture {

/// The function `name` in the libraries behind this one; null where they do not have it.
void* FindNext(const char* name);

/// Whether this library has a function of that name.
bool IsInFrontOf(const std::string& name);

template <class Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(FindNext(name));
}

/// Next, looked up once.
#define NEXT(function)                                                                 \
  ([] {                                                                                \
    static auto* const next = openaclnn::capture::Next<decltype(function)>(#function); \
    return next;                                                                       \
  }())

}  // namespace openaclnn::capture
