// SPDX-License-Identifier: Apache-2.0
// Exact products of matrices of INT8 for each group, handed on row by row.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "supporting/experts/grouped.h"

namespace openaclnn::supporting {

/// The rows of a group: a of INT8 times b of INT8. `first` is the number of its first row among the
/// rows of all groups.
struct IntegerGroup {
  size_t group = 0;
  int64_t first = 0, rows = 0, columns = 0, terms = 0;
  GroupMatrix a, b;
};

/// Sums are INT32, exact: floats hold the sums of 1,024 products of INT8, and those of more terms
/// are added as integers.
class IntegerProducts {
 public:
  IntegerProducts() = default;
  /// For groups with at most so many rows in all, of the kinds of `largest`, at most `count` of
  /// them.
  IntegerProducts(const std::vector<IntegerGroup>& largest, int64_t rows, int64_t count);

  uint64_t scratch_bytes() const { return bytes_; }

  /// Gets each row of a group, by its number among all, with the sums.
  using Finish = std::function<void(size_t group, int64_t row, const int32_t* sums)>;
  void Run(const std::vector<IntegerGroup>& groups, std::byte* scratch, const Finish& finish) const;

 private:
  void RunGroup(const IntegerGroup& group, const ProductGroups::Worker& worker, std::byte* scratch,
                const Finish& finish) const;

  ProductGroups products_;
  int64_t slab_ = 0, columns_ = 0;  // terms of a slab, and the most columns
  uint64_t lefts_ = 0, rights_ = 0, sums_ = 0, parts_ = 0, bytes_ = 0;  // where each part begins
  uint64_t right_bytes_ = 0;                                            // of one slot
};

}  // namespace openaclnn::supporting
