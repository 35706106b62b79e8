// SPDX-License-Identifier: Apache-2.0
// Reductions: sums, means, extremes and truth values over some dimensions; rows for softmax.
#pragma once

#include "kernels/broadcast.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// Sums terms by the one tree: at most 64 in sequence, then pairwise. A sum of rows begins with a
/// row of zeros, and its terms are what `+=` takes.
template <class T>
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
  static constexpr int64_t kChunk = 64;

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

/// A dimension as callers may write it: -1 is the last. Nothing if it is none.
std::optional<uint32_t> WrapDim(int64_t dim, uint32_t rank);

// Over the dimensions of the list (none: all), or of the integer; keepDim after it.
void CheckReduction(const Params& params, Checker& checker);
/// Over all dimensions, to a scalar.
void CheckTotal(const Params& params, Checker& checker);
Plan PlanSum(const Params& params);
Plan PlanMean(const Params& params);
Plan PlanAmax(const Params& params);
Plan PlanAmin(const Params& params);
Plan PlanAll(const Params& params);
Plan PlanAny(const Params& params);

// Along one dimension: the extreme and where it is, the first of equals; or only where.
void CheckExtremeAt(const Params& params, Checker& checker);
Plan PlanMaxDim(const Params& params);
Plan PlanMinDim(const Params& params);
Plan PlanArgMax(const Params& params);
Plan PlanArgMin(const Params& params);

// Along one dimension, of the input's shape.
void CheckAlong(const Params& params, Checker& checker);
Plan PlanSoftmax(const Params& params);
Plan PlanLogSoftmax(const Params& params);
Plan PlanSoftmaxGradient(const Params& params);
Plan PlanLogSoftmaxGradient(const Params& params);

}  // namespace openaclnn::supporting
