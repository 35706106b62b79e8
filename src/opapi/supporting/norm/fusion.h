// SPDX-License-Identifier: Apache-2.0
// Sums before a normalisation and swish after it.
#pragma once

#include <optional>
#include <vector>

#include "kernels/simd/target.h"
#include "supporting/norm/grouping.h"

namespace openaclnn::supporting {

/// Groups of a tensor of x's shape, or one group that stands for all.
class Term {
 public:
  static Term OfGroups(const Tensor& tensor, const Grouping& groups) {
    return {GroupedView(tensor, groups), true};
  }
  static Term OfElements(const Tensor& tensor) {
    return {GroupedView(tensor, Grouping::Layers(tensor, tensor.rank())), false};
  }

  /// row += the term's group.
  void AddTo(const Buffers& buffers, int64_t row, std::vector<double>* values) const;

 private:
  Term(GroupedView view, bool has_groups) : view_(view), has_groups_(has_groups) {}

  GroupedView view_;
  bool has_groups_;
};

/// The group that is normalised is factor * x + terms.
struct Fusion {
  /// x's group becomes what is normalised.
  void Sum(const Buffers& buffers, int64_t row, std::vector<double>* x) const;

  double factor = 1;
  std::vector<Term> terms;
  std::optional<GroupedView> sum;  // an output: what is normalised
  std::optional<double> swish;     // its scale: y = z / (1 + e^(-scale * z))

  // Gradients.
  std::optional<Term> later;              // is added to the gradient by what is normalised
  std::optional<GroupedView> by_operand;  // an output: factor * that gradient
};

}  // namespace openaclnn::supporting

namespace openaclnn {

/// The loops that are compiled for each instruction set.
struct SwishKernels {
  /// z = z / (1 + e^(-scale * z))
  void (*swish)(double* z, double scale, int64_t n);
  /// g = g * the slope of swish at z
  void (*gradient)(double* g, const double* z, double scale, int64_t n);
};
OPENACLNN_TARGET_DECLARE(extern const SwishKernels kSwishKernels)

inline const SwishKernels& Swishes() { return *OPENACLNN_TARGET_SELECT(kSwishKernels); }

}  // namespace openaclnn
