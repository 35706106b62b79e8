// SPDX-License-Identifier: Apache-2.0
// Numbers along one dimension.
#include "supporting/axis_numbers.h"

namespace openaclnn::supporting {

AxisNumbers::AxisNumbers(const Tensor& numbers, const Shape& shape, uint32_t axis, double missing)
    : elements_(numbers, missing),
      missing_(missing),
      present_(numbers.present() && !numbers.empty()),
      one_(!present_ || numbers.count() == 1),
      each_(!one_ && axis + 1 == shape.size()) {
  width_ = shape.back();
  length_ = shape[axis];
  for (size_t i = axis + 1; i + 1 < shape.size(); ++i) below_ = WrappingProduct(below_, shape[i]);
}

std::vector<double> AxisNumbers::All(const Buffers& buffers) const {
  return present_ ? elements_.All(buffers) : std::vector<double>{missing_};
}

void AxisNumbers::Multiply(const std::vector<double>& all, int64_t row, double* values) const {
  if (!present_) return;
  each_ ? DoubleRows().multiply(values, all.data(), width_)
        : DoubleRows().scale(values, 0, Of(all, row), width_);
}

void AxisNumbers::Divide(const std::vector<double>& all, int64_t row, double* values) const {
  if (!present_) return;
  if (!each_) return DoubleRows().divide(values, Of(all, row), width_);
  for (int64_t i = 0; i < width_; ++i) values[i] /= all[static_cast<size_t>(i)];
}

void AxisNumbers::Add(const std::vector<double>& all, int64_t row, double* values) const {
  if (!present_) return;
  each_ ? DoubleRows().sum.join(all.data(), width_, values)
        : DoubleRows().move(values, 1, Of(all, row), width_);
}

void CheckAlong(const Tensor& numbers, const Shape& shape, uint32_t axis, Checker& checker) {
  if (!checker.ok() || !numbers.present()) return;
  const uint32_t rank = numbers.rank();
  const bool vector = rank == 1;
  bool fits = vector || rank == shape.size();
  for (uint32_t i = 0; fits && i < rank; ++i) {
    const bool along = vector || i == axis;
    fits = numbers.dim(i) == 1 || (along && numbers.dim(i) == shape[axis]);
  }
  checker.That(fits, [&] {
    return Concat(numbers.name(), " shape is ", ShapeText(numbers), ", expected 1 or ", shape[axis],
                  " elements along dimension ", axis, " of ",
                  ShapeText(shape.data(), static_cast<uint32_t>(shape.size())));
  });
}

}  // namespace openaclnn::supporting
