// SPDX-License-Identifier: Apache-2.0
// Copies along strided rows.
#include "kernels/move/strided.h"

#include <cstring>

namespace openaclnn {
namespace {

/// The bits of a complex number of doubles, which lie as these do.
struct Sixteen {
  uint64_t halves[2];
};

template <class T>
void CopyElements(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t n) {
  const T* source = static_cast<const T*>(from);
  T* target = static_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) target[i * to_step] = source[i * from_step];
}

}  // namespace

void CopyStrided(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t n,
                 int64_t element_bytes) {
  if (from_step == 1 && to_step == 1) {
    std::memcpy(to, from, static_cast<size_t>(n * element_bytes));
    return;
  }
  switch (element_bytes) {
    case 1:
      return CopyElements<uint8_t>(from, from_step, to, to_step, n);
    case 2:
      return CopyElements<uint16_t>(from, from_step, to, to_step, n);
    case 4:
      return CopyElements<uint32_t>(from, from_step, to, to_step, n);
    case 8:
      return CopyElements<uint64_t>(from, from_step, to, to_step, n);
    default:
      return CopyElements<Sixteen>(from, from_step, to, to_step, n);
  }
}

void ZeroStrided(void* to, int64_t step, int64_t n, int64_t element_bytes) {
  if (step == 1) {
    std::memset(to, 0, static_cast<size_t>(n * element_bytes));
    return;
  }
  const Sixteen zero = {};
  CopyStrided(&zero, 0, to, step, n, element_bytes);
}

}  // namespace openaclnn
