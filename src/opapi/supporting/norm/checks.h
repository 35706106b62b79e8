// SPDX-License-Identifier: Apache-2.0
// Checks of the tensors beside those that are normalised.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>

#include "supporting/norm/grouping.h"

namespace openaclnn::supporting {

/// As many elements as there are, wherever it is given.
inline void CheckCount(const Operand& operand, size_t count, Checker& checker) {
  checker.That(!operand.present() || operand.count() == static_cast<int64_t>(count), [&] {
    return Concat(operand.name(), " shape is ", ShapeText(operand), ", expected ", count,
                  " elements");
  });
}

using Tensors = std::initializer_list<std::reference_wrapper<const Tensor>>;

inline void CheckWeights(const Grouping& groups, Tensors tensors, Checker& checker) {
  for (const Tensor& tensor : tensors) CheckCount(tensor, groups.weights, checker);
}

inline void CheckMoments(const Grouping& groups, Tensors tensors, Checker& checker) {
  for (const Tensor& tensor : tensors) {
    CheckCount(tensor, static_cast<size_t>(groups.rows), checker);
  }
}

/// gamma has the last dimensions of x.
inline void CheckGamma(const Tensor& gamma, const Tensor& x, Checker& checker) {
  const Shape shape = ShapeOf(x), last = ShapeOf(gamma);
  const bool fits = gamma.rank() > 0 && last.size() <= shape.size() &&
                    std::equal(last.begin(), last.end(), shape.end() - last.size());
  checker.That(fits, [&] {
    return Concat("gamma shape is ", ShapeText(gamma), ", expected the last dimensions of ",
                  x.name(), ", ", ShapeText(x));
  });
}

}  // namespace openaclnn::supporting
