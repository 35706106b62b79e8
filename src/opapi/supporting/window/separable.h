// SPDX-License-Identifier: Apache-2.0
// Weighted sums along each dimension of planes: means of windows, other sizes, their gradients.
#pragma once

#include <vector>

#include "supporting/family.h"

namespace openaclnn::supporting {

/// One dimension: each target is a sum of neighbouring sources, weighted. Neither end of the
/// neighbours goes back from one target to the next.
class AxisMap {
 public:
  struct Span {
    int64_t begin = 0, end = 0;
  };

  /// A weight for each of at most so many sources, or with 1 one for all of them.
  AxisMap(int64_t sources, int64_t targets, int64_t weights_each)
      : sources_(sources),
        each_(weights_each),
        spans_(static_cast<size_t>(targets)),
        weights_(static_cast<size_t>(targets * weights_each)) {}

  int64_t targets() const { return static_cast<int64_t>(spans_.size()); }
  Span& span(int64_t target) { return spans_[static_cast<size_t>(target)]; }
  const Span& span(int64_t target) const { return spans_[static_cast<size_t>(target)]; }
  /// The weights of a target's first source and of those behind it.
  double* weights(int64_t target) { return &weights_[static_cast<size_t>(target * each_)]; }

  double weight(int64_t target, int64_t source) const {
    if (!given_.empty()) std::swap(target, source);
    const Span& span =
        given_.empty() ? spans_[static_cast<size_t>(target)] : given_[static_cast<size_t>(target)];
    const int64_t tap = each_ == 1 ? 0 : source - span.begin;
    return weights_[static_cast<size_t>(target * each_ + tap)];
  }
  int64_t longest() const;

  /// The gradient: sources become targets, with the same weights.
  AxisMap Transposed() const;

 private:
  int64_t sources_, each_;
  std::vector<Span> spans_, given_;  // given: before it was transposed
  std::vector<double> weights_;
};

/// `to` from `from`, whose last dimensions the maps are of; in double, by the one tree.
Plan PlanSeparable(const Tensor& from, const Tensor& to, std::vector<AxisMap> axes);

}  // namespace openaclnn::supporting
