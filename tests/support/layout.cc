// SPDX-License-Identifier: Apache-2.0
// How dense and random views are laid out.
#include "tests/support/layout.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace openaclnn::test {

int64_t CountOf(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

Layout DenseLayout(const Dims& dims) {
  Layout layout{dims, Dims(dims.size()), 0, CountOf(dims)};
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0; stride *= dims[axis]) layout.strides[axis] = stride;
  return layout;
}

Layout RandomLayout(Random& random, const Dims& dims, bool may_repeat) {
  enum { kDense, kGaps, kPermuted, kAnything };
  const int64_t kind = Uniform(random, kDense, kAnything);
  Layout layout = DenseLayout(dims);
  const auto chance = [&](int64_t percent) { return Uniform(random, 1, 100) <= percent; };
  const bool none = layout.count() == 0, idle = chance(25);
  // Nobody steps along a dimension of one, or in a view without elements.
  for (size_t axis = 0; idle && axis < dims.size(); ++axis) {
    if (none || dims[axis] == 1)
      layout.strides[axis] = Uniform(random, INT64_MIN / 2, INT64_MAX / 2);
  }
  if (none) return layout;
  // Axes from the innermost of the storage to the outermost.
  std::vector<size_t> axes(dims.size());
  std::iota(axes.rbegin(), axes.rend(), size_t{0});
  if (kind >= kPermuted) std::shuffle(axes.begin(), axes.end(), random);
  int64_t step = kind == kAnything && chance(50) ? Uniform(random, 2, 3) : 1;
  int64_t last = 0;
  for (const size_t axis : axes) {
    if (idle && dims[axis] == 1) continue;
    layout.strides[axis] = step;
    const int64_t reach = (dims[axis] - 1) * step;
    if (may_repeat && kind == kAnything && chance(25)) {
      layout.strides[axis] = 0;
      continue;
    }
    last += reach;
    step = reach + step + (kind == kGaps || kind == kAnything ? Uniform(random, 0, 5) : 0);
    if (kind == kAnything && chance(30)) {
      layout.strides[axis] = -layout.strides[axis];
      layout.offset += reach;
    }
  }
  const int64_t lead = chance(50) ? Uniform(random, 1, 9) : 0;
  layout.offset += lead;
  layout.storage = lead + last + 1;
  return layout;
}

}  // namespace openaclnn::test
