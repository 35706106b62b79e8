// SPDX-License-Identifier: Apache-2.0
// What the library keeps from call to call.
#pragma once

#include <cstddef>
#include <new>

namespace openaclnn::capture {

/// The library's one T. It is never destroyed, as calls may come after static destructors, and
/// takes no memory, so that it is there also where that is short.
template <class T>
T& Lasting() {
  alignas(T) static std::byte place[sizeof(T)];
  static T* const made = new (place) T;
  return *made;
}

}  // namespace openaclnn::capture
