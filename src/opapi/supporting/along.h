// SPDX-License-Identifier: Apache-2.0
// Views as rows along one dimension.
#pragma once

#include "kernels/move/broadcast.h"
#include "kernels/rows/rows.h"
#include "supporting/family.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

/// Views as rows along one dimension; the others in row-major order.
struct Rows {
  Rows(const Operand& operand, uint32_t dim) : bytes(BytesOf(operand)) {
    Shape dims, steps;
    for (uint32_t i = 0; i < operand.rank(); ++i) {
      if (i == dim) continue;
      dims.push_back(operand.dim(i));
      steps.push_back(operand.tensor().strides[i]);
    }
    offsets = Offsets(dims.data(), steps.data(), static_cast<uint32_t>(dims.size()));
    step = operand.rank() > 0 ? operand.tensor().strides[dim] * bytes : 0;
  }

  std::byte* At(std::byte* origin, int64_t row) const { return origin + offsets(row) * bytes; }

  Offsets offsets;
  int64_t bytes, step;
};

/// NaN counts as the largest.
template <class T>
bool Less(T a, T b) {
  return IsNan(b) ? !IsNan(a) : a < b;
}

struct Extent {
  uint32_t dim;
  int64_t rows, width;
};

inline Extent ExtentOf(const Operand& self, int64_t dim) {
  Extent extent = {*WrapDim(dim, self.rank()), 1, 1};
  for (uint32_t i = 0; i < self.rank(); ++i) {
    int64_t& length = i == extent.dim ? extent.width : extent.rows;
    length = WrappingProduct(length, self.dim(i));
  }
  return extent;
}

/// Whether elements follow each other in row-major order.
inline bool IsDense(const Operand& operand) {
  if (operand.empty()) return true;
  int64_t step = 1;
  for (uint32_t d = operand.rank(); d-- > 0; step *= operand.dim(d)) {
    if (operand.dim(d) > 1 && operand.tensor().strides[d] != step) return false;
  }
  return true;
}

/// Refuses what is not IsDense, by its strides: its shape may be right.
inline void CheckContiguous(const Operand& operand, Checker& checker) {
  checker.That(IsDense(operand), [&] {
    return Concat(operand.name(), " strides are ",
                  ShapeText(operand.given_strides(), operand.rank()), " for shape ",
                  ShapeText(operand), ", expected a contiguous tensor");
  });
}

inline void CheckDim(const Operand& self, int64_t dim, Checker& checker) {
  checker.That(WrapDim(dim, self.rank()).has_value(), [&] {
    return Concat("dim value is ", dim, ", expected a dimension of ", self.name(), ", ",
                  ShapeText(self));
  });
}

}  // namespace openaclnn::supporting
