// SPDX-License-Identifier: Apache-2.0
// Shapes of factors of quantised keys, values and results.
#include "supporting/attention/scale_shape.h"

#include <algorithm>
#include <string_view>

#include "supporting/attention/infer_keys.h"

namespace openaclnn::supporting {
namespace {

/// Without dimensions of one element.
ScaleAxes Squeezed(const ScaleAxes& axes) {
  ScaleAxes some;
  for (const auto& axis : axes) {
    if (axis.first != 1) some.push_back(axis);
  }
  return some;
}

/// Sets the step of what a letter names: N heads, D elements, H elements of all heads, B batches, S
/// their rows, P blocks, R their rows. Returns whether the dimension is that of the letter.
bool Take(char letter, const std::pair<int64_t, int64_t>& axis, const ScaleSizes& sizes,
          AttentionNumbers* numbers) {
  const auto& [dim, step] = axis;
  switch (letter) {
    case 'N':
      numbers->head_step = step;
      return dim == sizes.heads;
    case 'D':
      numbers->element_step = step;
      return dim == sizes.width;
    case 'H':
      numbers->head_step = WrappingProduct(step, sizes.width);
      numbers->element_step = step;
      return dim == WrappingProduct(sizes.heads, sizes.width);
    case 'B':
      numbers->batch_step = step;
      return dim == sizes.batches;
    case 'S':
      numbers->row_step = step;
      return dim >= sizes.rows;
    case 'P':
      numbers->batch_step = step;
      numbers->in_pages = true;
      return dim == sizes.blocks;
    default:
      numbers->row_step = step;
      return dim == sizes.block_rows;
  }
}

bool Fits(const ScaleAxes& axes, std::string_view letters, const ScaleSizes& sizes,
          AttentionNumbers* numbers) {
  if (axes.size() != letters.size()) return false;
  AttentionNumbers found = *numbers;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!Take(letters[i], axes[i], sizes, &found)) return false;
  }
  *numbers = found;
  return true;
}

}  // namespace

ScaleAxes AxesOf(const Tensor& tensor, uint32_t first) {
  ScaleAxes axes;
  for (uint32_t d = first; d < tensor.rank(); ++d) {
    axes.emplace_back(tensor.dim(d), tensor.tensor().strides[d] * BytesOf(tensor));
  }
  return axes;
}

bool Belongs(const ScaleAxes& axes, ScaleMode mode, const ScaleSizes& sizes,
             AttentionNumbers* numbers) {
  // The first dimension of rows of batches may be one of 1.
  const bool led = axes.size() == 3 && axes[0].first == 1;
  switch (mode) {
    case ScaleMode::kChannel: {
      const ScaleAxes some = Squeezed(axes);
      return Fits(some, "", sizes, numbers) || Fits(some, "H", sizes, numbers) ||
             Fits(some, "ND", sizes, numbers);
    }
    case ScaleMode::kRow:
      return Fits(led ? ScaleAxes(axes.begin() + 1, axes.end()) : axes, "BS", sizes, numbers);
    case ScaleMode::kHead:
      return Fits(axes, "N", sizes, numbers);
    case ScaleMode::kHeadRow:
      return Fits(axes, "BNS", sizes, numbers);
    case ScaleMode::kPage:
      return Fits(axes, "PR", sizes, numbers);
    case ScaleMode::kHeadPage:
      return Fits(axes, "PNR", sizes, numbers);
  }
  return false;
}

std::string ShapesOf(ScaleMode mode, const ScaleSizes& sizes) {
  const int64_t heads = sizes.heads, width = sizes.width;
  switch (mode) {
    case ScaleMode::kChannel:
      return Concat("(1), (", WrappingProduct(heads, width), ") or (", heads, ", ", width,
                    "), with any dimensions of 1");
    case ScaleMode::kRow:
      return Concat("(", sizes.batches, ", S), S at least ", sizes.rows);
    case ScaleMode::kHead:
      return Concat("(", heads, ")");
    case ScaleMode::kHeadRow:
      return Concat("(", sizes.batches, ", ", heads, ", S), S at least ", sizes.rows);
    case ScaleMode::kPage:
      return Concat("(", sizes.blocks, ", ", sizes.block_rows, ")");
    case ScaleMode::kHeadPage:
      return Concat("(", sizes.blocks, ", ", heads, ", ", sizes.block_rows, ")");
  }
  return "another mode";
}

ScaleSizes SizesOf(const InferCall& call, bool of_key) {
  const Heads& heads = of_key ? call.k : call.v;
  ScaleSizes sizes = {.heads = call.served, .width = heads.elements, .batches = call.batches()};
  if (call.paged) {
    sizes.blocks = heads.batches;
    sizes.block_rows = heads.rows;
    sizes.rows = WrappingProduct(call.of.table.dim(1), heads.rows);
  } else {
    sizes.rows = MostKeys(call);
  }
  return sizes;
}

ScaleSizes SizesOfResult(const InferCall& call) {
  return {.heads = call.q.heads, .width = call.v.elements};
}

bool BelongsToRows(const Tensor& tensor, const InferCall& call, AttentionNumbers* numbers) {
  const ScaleAxes axes = AxesOf(tensor, 0);
  size_t at = 0;
  for (const char letter : call.layout.operands) {
    if (letter == 'D') continue;
    if (at == axes.size()) return false;
    const auto& [dim, step] = axes[at++];
    const bool of_batch = letter == 'B', of_head = letter == 'N' || letter == 'H';
    (of_batch ? numbers->batch_step : of_head ? numbers->head_step : numbers->row_step) = step;
    const int64_t wanted = of_batch ? call.q.batches : of_head ? call.q.heads : call.q.rows;
    if (dim != wanted) return false;
  }
  return at == axes.size();
}

}  // namespace openaclnn::supporting
