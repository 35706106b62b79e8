// SPDX-License-Identifier: Apache-2.0
// Broadcasting: common shapes, and the joint walk over views.
#include "kernels/move/broadcast.h"

#include <stdexcept>

namespace openaclnn {

bool BroadcastShape(const Operand& operand, Shape* shape) {
  const uint32_t rank = operand.rank();
  if (rank > shape->size()) shape->insert(shape->begin(), rank - shape->size(), 1);
  int64_t* const dims = shape->end() - rank;
  for (uint32_t i = 0; i < rank; ++i) {
    const int64_t other = operand.tensor().dims[i];
    if (dims[i] == 1) {
      dims[i] = other;
    } else if (other != 1 && other != dims[i]) {
      return false;
    }
  }
  return true;
}

namespace {

/// Along dimension i of a shape that begins with `lead` dimensions more.
int64_t StepAlong(const Operand& operand, size_t lead, size_t i) {
  if (i < lead || operand.tensor().dims[i - lead] == 1) return 0;
  const auto element = static_cast<int64_t>(FindDataType(operand.dtype())->bytes);
  return WrappingProduct(operand.tensor().strides[i - lead], element);
}

size_t LeadOf(const Shape& shape, const Operand& operand) {
  if (operand.rank() > shape.size()) throw std::logic_error("a view of more dimensions");
  return shape.size() - operand.rank();
}

uint64_t Magnitude(int64_t step) {
  return step < 0 ? -static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
}

/// Whether no dimension has a longer step than one outside of it.
bool IsInOrder(const Operand& operand) {
  const auto& tensor = operand.tensor();
  uint64_t outer = UINT64_MAX;
  for (uint32_t i = 0; i < operand.rank(); ++i) {
    if (tensor.dims[i] == 1) continue;
    const uint64_t own = Magnitude(tensor.strides[i]);
    if (own > outer) return false;
    outer = own;
  }
  return true;
}

/// The numbers of the dimensions, those of the longest steps first.
std::array<size_t, kMaxRank> OrderOf(std::span<const int64_t> steps) {
  std::array<size_t, kMaxRank> order{};
  for (size_t i = 0; i < steps.size(); ++i) {
    size_t at = i;
    for (; at > 0 && Magnitude(steps[order[at - 1]]) < Magnitude(steps[i]); --at) {
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
  return order;
}

}  // namespace

Steps::Steps(const Shape& shape, const Operand& operand) : bytes(shape.size()) {
  const size_t lead = LeadOf(shape, operand);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = StepAlong(operand, lead, i);
}

Walk::Walk(const Shape& shape, std::span<const Operand* const> operands) : views_(operands.size()) {
  for (const Operand* operand : operands) (void)LeadOf(shape, *operand);
  const auto step_of = [&](size_t view, size_t i) {
    return StepAlong(*operands[view], shape.size() - operands[view]->rank(), i);
  };
  if (IsInOrder(*operands.back())) {
    Join(shape, step_of);
    return;
  }
  std::array<int64_t, kMaxRank> steps{};
  const size_t rank = std::min<size_t>(shape.size(), kMaxRank);
  for (size_t i = 0; i < rank; ++i) steps[i] = shape[i] == 1 ? 0 : step_of(views_ - 1, i);
  const std::array<size_t, kMaxRank> order = OrderOf({steps.data(), rank});
  Shape moved = shape;
  for (size_t i = 0; i < rank; ++i) moved[i] = shape[order[i]];
  Join(moved, [&](size_t view, size_t i) { return step_of(view, order[i]); });
}

Walk::Walk(const Shape& shape, const std::vector<Steps>& views) : views_(views.size()) {
  Join(shape, [&](size_t view, size_t i) { return views[view].bytes[i]; });
}

template <class StepOf>
void Walk::Join(const Shape& shape, const StepOf& step_of) {
  if (shape.size() > kMaxRank || views_ > kMaxViews) throw std::logic_error("too much to walk");
  count_ = CountOf(shape);
  rank_ = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t dim = shape[i];
    if (dim == 1) continue;
    bool joins = rank_ > 0;
    for (size_t view = 0; joins && view < views_; ++view) {
      joins = steps_[view][rank_ - 1] == WrappingProduct(step_of(view, i), dim);
    }
    if (!joins) dims_[rank_++] = 1;
    dims_[rank_ - 1] = WrappingProduct(dims_[rank_ - 1], dim);
    for (size_t view = 0; view < views_; ++view) steps_[view][rank_ - 1] = step_of(view, i);
  }
  if (rank_ == 0) dims_[rank_++] = 1;
}

std::optional<uint32_t> Walk::Across(size_t view, int64_t element_bytes) const {
  const std::array<int64_t, kMaxRank>& steps = steps_[view];
  if (Magnitude(steps[rank_ - 1]) <= static_cast<uint64_t>(element_bytes)) return std::nullopt;
  for (uint32_t i = 0; i + 1 < rank_; ++i) {
    if (steps[i] == element_bytes) return i;
  }
  return std::nullopt;
}

Walk::Pointers Walk::PointersAt(int64_t row, int64_t column, const Pointers& origins,
                                uint32_t without) const {
  Pointers pointers = origins;
  for (size_t view = 0; view < views_; ++view) pointers[view] += column * steps_[view][rank_ - 1];
  for (uint32_t i = rank_ - 1; i-- > 0;) {
    if (i == without) continue;
    const int64_t index = row % dims_[i];
    row /= dims_[i];
    for (size_t view = 0; view < views_; ++view) pointers[view] += index * steps_[view][i];
  }
  return pointers;
}

}  // namespace openaclnn
