// SPDX-License-Identifier: Apache-2.0
// Batches of points, which are rows of numbers.
#pragma once

#include <vector>

#include "generated/reduce.h"
#include "kernels/move/broadcast.h"
#include "kernels/rows/rows.h"

namespace openaclnn::supporting {

/// Rows of a tensor's last dimension, those before the last two broadcast to a shape.
class Points {
 public:
  Points(const Tensor& tensor, Shape batch)
      : place_(tensor.place), width_(tensor.last_dim()), load_(LoaderOf<double>(tensor.dtype())) {
    const auto outer = static_cast<uint32_t>(batch.size());
    Shape shape = batch;
    shape.push_back(tensor.dim(tensor.rank() - 2));
    shape.push_back(width_);
    const Steps steps(shape, tensor);
    batches_ = Offsets(batch.data(), steps.bytes.data(), outer);
    row_step_ = steps.bytes[outer];
    step_ = steps.bytes[outer + 1];
  }

  void Load(const Buffers& buffers, int64_t batch, int64_t row, std::vector<double>* to) const {
    to->resize(static_cast<size_t>(width_));
    load_(place_(buffers) + batches_(batch) + row * row_step_, step_, width_, to->data());
  }

 private:
  Place place_;
  int64_t width_, row_step_ = 0, step_ = 0;  // in bytes
  Offsets batches_;
  LoadRow<double> load_;
};

inline void CheckOrder(double order, Checker& checker) {
  checker.That(order >= 0,
               [&] { return Concat("p value is ", order, ", expected one that is not negative"); });
}

inline Shape BatchOf(const Operand& operand) {
  return {operand.tensor().dims, operand.tensor().dims + operand.rank() - 2};
}

}  // namespace openaclnn::supporting
