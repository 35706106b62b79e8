// SPDX-License-Identifier: Apache-2.0
// Hits: which token goes to which row, sorted by row with the tokens of a row in order.
#pragma once

#include <cstdint>

namespace openaclnn {

struct Hit {
  int64_t row;
  int64_t token;
};

/// Sorts by row and keeps the order of equal rows. `scratch` has room for `count` too; the result
/// is in the array that is returned, one of the two. Rows are in [0, limit).
Hit* SortHits(Hit* hits, Hit* scratch, int64_t count, uint64_t limit);

/// First position in [begin, end) whose row is not below `row`.
int64_t LowerBound(const Hit* hits, int64_t begin, int64_t end, int64_t row);

}  // namespace openaclnn
