// SPDX-License-Identifier: Apache-2.0
// Shapes of NSA compression and of its gradient: windows that slide over segments of tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/cases.h"
#include "tests/support/int_list.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {

struct WindowCase {
  std::string name;
  Group group;
  Dims ends;  // of the segments; none: one segment
  int64_t tokens, heads, width, block, stride;
};

/// First token of each window, found by sliding over every segment.
std::vector<int64_t> WindowStarts(const WindowCase& shape);

/// The list of a case; null where it has none.
IntListSpec ListOf(const WindowCase& shape);

/// Some segments, empty and short ones among them, and at least one window; stride < block, or up
/// to it if `may_abut`. Few enough elements for many runs.
WindowCase RandomWindowCase(Random& random, bool may_abut);

/// A dense tensor, or a random view of which half end some bytes before their memory does; of an
/// input elements may coincide.
DeviceTensor PlaceTensor(uint64_t seed, aclDataType dtype, const Dims& dims, bool strided,
                         bool is_input);

}  // namespace openaclnn::test
