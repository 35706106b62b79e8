// SPDX-License-Identifier: Apache-2.0
// TreeSum: the order in which all supporting operators sum.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "kernels/rows/double_rows.h"

namespace openaclnn::supporting {

/// Sums the parts [begin, end) of a tree pairwise. There is at least one; term(i) is part i's
/// total.
template <class Term>
auto SumParts(int64_t begin, int64_t end, const Term& term) -> decltype(term(begin)) {
  if (end - begin == 1) return term(begin);
  const int64_t middle = begin + LeftHalf(end - begin);
  auto left = SumParts(begin, middle, term);
  return std::move(left) + SumParts(middle, end, term);
}

/// Sums terms by the tree of all sums: chunks of at most 64 terms in sequence, then chunks
/// pairwise. T may be a row of numbers; it then starts from `zero`, a row of zeros. A term is
/// anything that T's
/// += takes. If a term stands for several terms of the sum, kChunk is smaller by that factor.
template <class T, int64_t kChunk = 64>
class TreeSum {
 public:
  TreeSum() = default;
  explicit TreeSum(T zero) : zero_(std::move(zero)), chunk_(zero_) {}

  template <class Term>
  void Add(const Term& term) {
    chunk_ += term;
    if (++terms_ % kChunk == 0) Push();
  }
  T Total() {
    if (terms_ % kChunk != 0) Push();
    T total = depth_ > 0 ? levels_[depth_ - 1] : zero_;
    for (int i = depth_ - 1; i-- > 0;) total = levels_[i] + total;
    return total;
  }

 private:
  void Push() {
    T sum = std::exchange(chunk_, zero_);
    for (int64_t done = chunks_++; (done & 1) != 0; done >>= 1) sum = levels_[--depth_] + sum;
    levels_[depth_++] = std::move(sum);
  }

  T zero_{}, chunk_{};
  int64_t terms_ = 0, chunks_ = 0;
  int depth_ = 0;
  std::array<T, 64> levels_;
};

}  // namespace openaclnn::supporting
