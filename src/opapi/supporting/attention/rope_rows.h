// SPDX-License-Identifier: Apache-2.0
// Rows of numbers that are normalised, turned and rounded on their way into a cache, and the rows
// of a cache that take them.
#pragma once

#include <vector>

#include "supporting/attention/rotary.h"
#include "supporting/elements.h"

namespace openaclnn::supporting {

/// The rows along a tensor's last dimension, of which parts are read and stored.
class PartsOfRows {
 public:
  PartsOfRows() = default;
  explicit PartsOfRows(const Tensor& tensor);

  void Load(const Buffers& buffers, int64_t row, int64_t first, int64_t n, double* to) const;
  void Store(const Buffers& buffers, int64_t row, int64_t first, int64_t n,
             const double* from) const;

 private:
  std::byte* At(const Buffers& buffers, int64_t row, int64_t first) const;

  Place place_;
  Offsets rows_;
  int64_t step_ = 0, bytes_ = 0;
  LoadRow<double> load_ = nullptr;
  StoreRow<double> store_ = nullptr;
};

/// Divides numbers by the root of their mean square, then multiplies them by gamma.
void NormalizeRow(const std::vector<double>& gamma, double epsilon, double* x);

/// Factors and offsets with which numbers become INT8. Without factors they stay.
struct Quantizer {
  enum How { kMultiplies, kDivides };

  /// The numbers `at` on of those of `scale` and `offset` belong to `x`.
  void Apply(size_t at, int64_t n, double* x) const;

  std::vector<double> scale, offset;
  How how = kMultiplies;
};

/// Whether a cache has numbers of another tensor's type, or INT8 where there are factors.
void CheckCacheType(const Tensor& cache, const Tensor& like, const Tensor& scale, Checker& checker);

/// The rows of a cache. Of each head elements lie in groups, which are `steps.group` apart. If a
/// block is declared as rows of `declared` elements, but lies in groups of all rows, then a group's
/// place among the elements of the block says in which declared row it is.
class RowsOfCache {
 public:
  struct Steps {
    int64_t block, row, head, group, element;
  };

  RowsOfCache() = default;
  RowsOfCache(const Tensor& cache, int64_t block_rows, const Steps& steps, int64_t group,
              int64_t declared = 0);

  /// Stores a head's numbers in a row, which is counted through all blocks.
  void Store(const Buffers& buffers, int64_t row, int64_t head, int64_t n,
             const double* from) const;

 private:
  Place place_;
  int64_t rows_ = 1, group_ = 1, declared_ = 0, bytes_ = 0;
  Steps steps_{};
  StoreRow<double> store_ = nullptr;
};

/// Where tokens go: a row of the cache for each, or a negative number.
using Slots = std::vector<int64_t>;

/// Leaves out all tokens of a row but the last, and finds rows that the cache does not have.
Status CheckSlots(const char* name, int64_t limit, Slots* slots);

}  // namespace openaclnn::supporting
