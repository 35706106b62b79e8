// SPDX-License-Identifier: Apache-2.0
// Strided views over storage, dense ones and random ones.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace openaclnn::test {

using Random = std::mt19937_64;
using Dims = std::vector<int64_t>;

/// Uniform in [low, high].
inline int64_t Uniform(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

/// Product of dims; 1 for none.
int64_t CountOf(const Dims& dims);

struct Layout {
  Dims dims;
  Dims strides;
  int64_t offset = 0;
  int64_t storage = 0;  // elements from the storage's begin to the last that the view reaches

  int64_t count() const { return CountOf(dims); }
};

Layout DenseLayout(const Dims& dims);

/// Dense, with gaps, permuted, with negative strides, with an offset, or several of these; with
/// stride 0 on some axes if `may_repeat`. One in four has any strides where they do not matter.
Layout RandomLayout(Random& random, const Dims& dims, bool may_repeat);

/// Calls body(offset in storage, row-major number) for each element, in row-major order.
template <class Body>
void ForEachElement(const Layout& layout, Body&& body) {
  const int64_t count = layout.count();
  Dims index(layout.dims.size());
  int64_t at = layout.offset;
  for (int64_t i = 0; i < count; ++i) {
    body(at, i);
    for (size_t axis = index.size(); axis-- > 0;) {
      at += layout.strides[axis];
      if (++index[axis] < layout.dims[axis]) break;
      at -= index[axis] * layout.strides[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace openaclnn::test
