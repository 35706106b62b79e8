// SPDX-License-Identifier: Apache-2.0
// Weighted sums along each dimension of planes: means of windows, other sizes, their gradients.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
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
  static constexpr int64_t kMostWeights = 4;
  /// A target's neighbours, and the weights of the first and of those behind it, which are 0.
  using Rule = std::function<Span(int64_t target, double* weights)>;

  /// A weight for each of at most so many sources, or with 1 one for all of them.
  AxisMap(int64_t sources, int64_t targets, int64_t weights_each, Rule rule);
  /// Each target is its source.
  static AxisMap Same(int64_t length);

  int64_t sources() const { return sources_; }
  int64_t targets() const { return targets_; }
  Span span(int64_t target) const {
    return spans_.empty() ? FindSpan(target) : spans_[static_cast<size_t>(target)];
  }
  double weight(int64_t target, int64_t source) const {
    return forward_ != nullptr ? forward_->OwnWeight(source, target) : OwnWeight(target, source);
  }
  /// Tells whether all weights are kept, and are 1.
  bool plain() const {
    const AxisMap& own = forward_ != nullptr ? *forward_ : *this;
    return own.each_ == 1 && own.weights_.size() == static_cast<size_t>(own.targets_) &&
           std::ranges::all_of(own.weights_, [](double weight) { return weight == 1; });
  }
  /// Tells whether spans are kept, so that the longest one is known.
  bool kept() const { return !spans_.empty(); }
  /// The longest span; where none is kept, that of the target in the middle.
  int64_t longest() const;

  /// The gradient: sources become targets, with the same weights.
  AxisMap Transposed() &&;

 private:
  double OwnWeight(int64_t target, int64_t source) const {
    if (weights_.empty()) return FindWeight(target, source);
    const int64_t tap = each_ == 1 ? 0 : source - spans_[static_cast<size_t>(target)].begin;
    return weights_[static_cast<size_t>(target * each_ + tap)];
  }

  // Targets that are kept, with up to 48 bytes each. Of more each is found anew.
  static constexpr int64_t kMostKept = int64_t{1} << 20;

  explicit AxisMap(std::shared_ptr<const AxisMap> forward);

  Span FindSpan(int64_t target) const;
  double FindWeight(int64_t target, int64_t source) const;

  int64_t sources_, targets_, each_ = 1;
  Rule rule_;
  std::shared_ptr<const AxisMap> forward_;  // of what is transposed
  std::vector<Span> spans_;                 // of all targets, or of none
  std::vector<double> weights_;
};

/// A target's sum is divided by the product of what each dimension gives for its place.
using Divisors = std::vector<std::function<double(int64_t target)>>;

/// `to` from `from`, whose last dimensions the maps are of; in double, by the one tree. Without
/// divisors sums stay as they are.
Plan PlanSeparable(const Tensor& from, const Tensor& to, std::vector<AxisMap> axes,
                   Divisors divisors = {});

}  // namespace openaclnn::supporting
