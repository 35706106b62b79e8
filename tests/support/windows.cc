// SPDX-License-Identifier: Apache-2.0
// Windows one by one, and random segments.
#include "tests/support/windows.h"

#include <algorithm>

namespace openaclnn::test {
namespace {

constexpr int64_t kGranule = 16;
constexpr int64_t kElements = 40000;

/// Empty, one token short of a window, one window, or a few with tokens left over.
int64_t RandomLength(Random& random, const WindowCase& shape) {
  switch (Uniform(random, 0, 4)) {
    case 0:
      return 0;
    case 1:
      return Uniform(random, 1, shape.block - 1);
    case 2:
      return shape.block - 1;
    case 3:
      return shape.block;
    default:
      return shape.block + Uniform(random, 0, shape.block + 2 * shape.stride);
  }
}

}  // namespace

std::vector<int64_t> WindowStarts(const WindowCase& shape) {
  std::vector<int64_t> starts;
  int64_t begin = 0;
  for (const int64_t end : shape.ends.empty() ? Dims{shape.tokens} : shape.ends) {
    for (int64_t at = begin; at + shape.block <= end; at += shape.stride) starts.push_back(at);
    begin = end;
  }
  return starts;
}

IntListSpec ListOf(const WindowCase& shape) {
  return {shape.ends, shape.ends.empty() ? IntListSpec::kNull : IntListSpec::kList};
}

WindowCase RandomWindowCase(Random& random, bool may_abut) {
  WindowCase shape{"", kEdge, {}, 0, 0, 0, 0, 0};
  const int64_t strides = Uniform(random, 1, 7);
  shape.stride = strides * kGranule;
  shape.block = Uniform(random, may_abut ? strides : strides + 1, 8) * kGranule;
  const int64_t segments = Uniform(random, 1, 5), long_one = Uniform(random, 1, segments);
  for (int64_t i = 1; i <= segments; ++i) {
    const int64_t length = RandomLength(random, shape);
    shape.tokens += i == long_one ? std::max(length, shape.block) : length;
    shape.ends.push_back(shape.tokens);
  }
  const int64_t row = std::max(kElements / shape.tokens, kGranule);
  shape.heads = Uniform(random, 1, std::min<int64_t>(row / kGranule, 128));
  shape.width = Uniform(random, 1, std::min<int64_t>(row / shape.heads / kGranule, 16)) * kGranule;
  return shape;
}

}  // namespace openaclnn::test
