// SPDX-License-Identifier: Apache-2.0
// Broadcasting: common shapes, and the joint walk over views.
#include "kernels/broadcast.h"

#include <stdexcept>

namespace openaclnn {

bool BroadcastShape(const Operand& operand, Shape* shape) {
  const Shape other = ShapeOf(operand);
  if (other.size() > shape->size()) shape->insert(shape->begin(), other.size() - shape->size(), 1);
  const size_t lead = shape->size() - other.size();
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& dim = (*shape)[lead + i];
    if (dim == 1) {
      dim = other[i];
    } else if (other[i] != 1 && other[i] != dim) {
      return false;
    }
  }
  return true;
}

Steps::Steps(const Shape& shape, const Operand& operand) : bytes(shape.size()) {
  if (operand.rank() > shape.size()) throw std::logic_error("a view of more dimensions");
  const size_t lead = shape.size() - operand.rank();
  const auto element = static_cast<int64_t>(FindDataType(operand.dtype())->bytes);
  for (uint32_t i = 0; i < operand.rank(); ++i) {
    if (operand.dim(i) != 1)
      bytes[lead + i] = WrappingProduct(operand.tensor().strides[i], element);
  }
}

Walk::Walk(const Shape& shape, std::span<const Operand* const> operands) {
  std::vector<Steps> views;
  for (const Operand* operand : operands) views.emplace_back(shape, *operand);
  *this = Walk(shape, views);
}

Walk::Walk(const Shape& shape, const std::vector<Steps>& views)
    : views_(views.size()), rank_(0), count_(CountOf(shape)) {
  if (shape.size() > kMaxRank || views_ > kMaxViews) throw std::logic_error("too much to walk");
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t dim = shape[i];
    if (dim == 1) continue;
    bool joins = rank_ > 0;
    for (size_t view = 0; joins && view < views_; ++view) {
      joins = steps_[view][rank_ - 1] == WrappingProduct(views[view].bytes[i], dim);
    }
    if (!joins) dims_[rank_++] = 1;
    dims_[rank_ - 1] = WrappingProduct(dims_[rank_ - 1], dim);
    for (size_t view = 0; view < views_; ++view) steps_[view][rank_ - 1] = views[view].bytes[i];
  }
  if (rank_ == 0) dims_[rank_++] = 1;
}

Walk::Pointers Walk::PointersAt(int64_t row, int64_t column, const Pointers& origins) const {
  Pointers pointers = origins;
  for (size_t view = 0; view < views_; ++view) pointers[view] += column * steps_[view][rank_ - 1];
  for (uint32_t i = rank_ - 1; i-- > 0;) {
    const int64_t index = row % dims_[i];
    row /= dims_[i];
    for (size_t view = 0; view < views_; ++view) pointers[view] += index * steps_[view][i];
  }
  return pointers;
}

}  // namespace openaclnn
