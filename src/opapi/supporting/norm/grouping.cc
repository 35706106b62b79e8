// SPDX-License-Identifier: Apache-2.0
// Tensors as groups of elements.
#include "supporting/norm/grouping.h"

#include <utility>

namespace openaclnn::supporting {

void Grouping::Finish() {
  for (const Axis& axis : kept) rows = WrappingProduct(rows, axis.length);
  for (const Axis& axis : grouped) width = WrappingProduct(width, axis.length);
}

Grouping Grouping::Layers(const Operand& x, uint32_t count) {
  Grouping groups;
  for (uint32_t d = 0; d < x.rank(); ++d) {
    (d + count < x.rank() ? groups.kept : groups.grouped).push_back({d, x.dim(d), 1});
  }
  groups.Finish();
  groups.weights = static_cast<size_t>(groups.width);
  return groups;
}

Grouping Grouping::Groups(const Operand& x, int64_t count) {
  Grouping groups;
  const int64_t channels = x.dim(1) / count;
  groups.kept = {{0, x.dim(0), 1}, {1, count, channels}};
  groups.grouped = {{1, channels, 1}};
  for (uint32_t d = 2; d < x.rank(); ++d) groups.grouped.push_back({d, x.dim(d), 1});
  groups.Finish();
  groups.weights = static_cast<size_t>(x.dim(1));
  groups.parts = count;
  groups.part_weights = channels;
  groups.weight_elements = channels == 0 ? 1 : std::max<int64_t>(groups.width / channels, 1);
  return groups;
}

Grouping Grouping::Channels(const Operand& x) {
  Grouping groups;
  groups.kept = {{1, x.dim(1), 1}};
  groups.grouped = {{0, x.dim(0), 1}};
  for (uint32_t d = 2; d < x.rank(); ++d) groups.grouped.push_back({d, x.dim(d), 1});
  groups.Finish();
  groups.weights = static_cast<size_t>(x.dim(1));
  groups.parts = std::max<int64_t>(x.dim(1), 1);
  groups.part_weights = 1;
  groups.weight_elements = std::max<int64_t>(groups.width, 1);
  return groups;
}

namespace {

/// Whether the elements along the axes follow each other.
bool IsDense(const Shape& strides, const std::vector<Grouping::Axis>& axes) {
  int64_t step = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i].length == 1) continue;
    if (strides[axes[i].dim] != step) return false;
    step = WrappingProduct(step, axes[i].length);
  }
  return true;
}

/// In elements; those of a dense tensor where it is copied.
Shape StridesOf(const Operand& operand, bool copied) {
  Shape strides = ShapeOf(operand);
  int64_t step = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    const int64_t dim = std::exchange(strides[i], copied ? step : operand.tensor().strides[i]);
    step = WrappingProduct(step, dim);
  }
  return strides;
}

}  // namespace

GroupedView::GroupedView(const Tensor& operand, const Grouping& groups, ScratchParts* parts)
    : place_(operand.place) {
  if (!operand.present()) return;
  if (parts != nullptr && operand.rank() > 0) dense_ = DenseInput(operand);
  if (dense_.copied()) copy_at_ = parts->Take(dense_.bytes());
  const Shape strides = StridesOf(operand, dense_.copied());
  bytes_ = BytesOf(operand);
  load_ = LoaderOf<double>(operand.dtype());
  store_ = StorerOf<double>(operand.dtype());
  load_floats_ = LoaderOf<float>(operand.dtype());
  store_floats_ = StorerOf<float>(operand.dtype());
  floats_ = operand.dtype() != ACL_DOUBLE;
  narrow_ = floats_ && operand.dtype() != ACL_FLOAT;
  direct_ = operand.dtype() == ACL_FLOAT && IsDense(strides, groups.grouped);
  const auto split = [&](const std::vector<Grouping::Axis>& axes, int64_t unit) {
    std::pair<Shape, Shape> parts;
    for (const Grouping::Axis& axis : axes) {
      parts.first.push_back(axis.length);
      const int64_t step = WrappingProduct(strides[axis.dim], axis.factor);
      parts.second.push_back(WrappingProduct(step, unit));
    }
    return parts;
  };
  const auto [kept, kept_steps] = split(groups.kept, 1);
  rows_ = Offsets(kept.data(), kept_steps.data(), static_cast<uint32_t>(kept.size()));
  const auto [grouped, grouped_steps] = split(groups.grouped, bytes_);
  elements_ = Walk(grouped, std::vector<Steps>{Steps(grouped_steps)});
}

std::vector<double> GroupedView::Load(const Buffers& buffers, int64_t row) const {
  std::vector<double> values(static_cast<size_t>(elements_.count()));
  LoadFrom(RowAt(buffers, row), load_, values.data());
  return values;
}

const float* GroupedView::LoadFloats(const Buffers& buffers, int64_t row,
                                     std::vector<float>* room) const {
  std::byte* const at = RowAt(buffers, row);
  if (direct_) return reinterpret_cast<const float*>(at);
  room->resize(static_cast<size_t>(elements_.count()));
  LoadFrom(at, load_floats_, room->data());
  return room->data();
}

void GroupedView::Store(const Buffers& buffers, int64_t row,
                        const std::vector<double>& values) const {
  StoreTo(RowAt(buffers, row), store_, values.data());
}

}  // namespace openaclnn::supporting
