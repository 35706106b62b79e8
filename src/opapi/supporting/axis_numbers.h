// SPDX-License-Identifier: Apache-2.0
// Numbers that belong to the places along one dimension, or one number for all.
#pragma once

#include <vector>

#include "kernels/rows/double_rows.h"
#include "supporting/elements.h"

namespace openaclnn::supporting {

/// Numbers along the dimension `axis` of a shape, as rows along the last dimension meet them. One
/// that is absent is `missing` everywhere.
class AxisNumbers {
 public:
  AxisNumbers(const Tensor& numbers, const Shape& shape, uint32_t axis, double missing);

  /// All of them, to be read once for all rows; one where it is one for all.
  std::vector<double> All(const Buffers& buffers) const;

  // These change a row of values. A row has one number, or one for each element.
  void Multiply(const std::vector<double>& all, int64_t row, double* values) const;
  void Divide(const std::vector<double>& all, int64_t row, double* values) const;
  void Add(const std::vector<double>& all, int64_t row, double* values) const;

  bool present() const { return present_; }

 private:
  double Of(const std::vector<double>& all, int64_t row) const {
    return all[one_ ? 0 : static_cast<size_t>(row / below_ % length_)];
  }

  Elements elements_;
  double missing_;
  bool present_, one_, each_;
  int64_t width_ = 1, length_ = 1, below_ = 1;  // rows between neighbours along the axis
};

/// Refuses numbers that are neither one nor one for each place along the dimension: in a vector, or
/// in as many dimensions as the shape has, of which the others are 1.
void CheckAlong(const Tensor& numbers, const Shape& shape, uint32_t axis, Checker& checker);

}  // namespace openaclnn::supporting
