// SPDX-License-Identifier: Apache-2.0
// Reductions by rows: sums, squares and extremes, along the last dimension or onto others.
#pragma once

#include "kernels/rows/double_rows.h"
#include "supporting/reduce/fold.h"

namespace openaclnn::supporting {

/// How a reduction joins terms, and what becomes of the total of n.
template <class T>
struct RowReduction {
  const RowFold<T>* fold;
  T (*finish)(T total, int64_t n);
};

/// The reductions of places.self, to the output at places.begin.
template <class T>
Plan MakeRowReduction(const Params& p, const FoldPlaces& places, const Layout& layout,
                      const RowReduction<T>& reduction);

}  // namespace openaclnn::supporting
