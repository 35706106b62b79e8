// SPDX-License-Identifier: Apache-2.0
// Objects that a library keeps from its first call on.
#pragma once

#include <cstddef>
#include <new>

namespace openaclnn {

/// The library's one T. It is never destroyed, as calls may come after static destructors, and
/// takes no memory, so that it is there also where that is short, and in a fork.
template <class T>
T& Lasting() {
  alignas(T) static std::byte place[sizeof(T)];
  static T* const made = new (place) T;
  return *made;
}

}  // namespace openaclnn
