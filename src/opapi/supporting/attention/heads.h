// SPDX-License-Identifier: Apache-2.0
// Heads of tensors in any layout, and masks and shifts of their scores, for operators of attention.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/move/broadcast.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

inline constexpr int64_t kAttentionCopies = 8;  // the API has 8 copies of each maximum and sum

/// Whether sequences lie one after another, without a dimension of batches.
inline bool IsPacked(std::string_view layout) { return layout.starts_with('T'); }
/// Whether heads and their elements have a dimension each.
inline bool HasWidth(std::string_view layout) { return layout.ends_with('D'); }

/// The elements of a head's row.
inline int64_t WidthOf(const Tensor& tensor, std::string_view layout, int64_t heads) {
  if (HasWidth(layout)) return tensor.last_dim();
  return heads == 0 ? 0 : tensor.last_dim() / heads;
}

inline bool IsGiven(const Tensor& tensor) { return tensor.present() && !tensor.empty(); }

/// q, k, v and tensors of their shapes as (batch, head, row, element).
struct Heads {
  Heads() = default;
  /// `layout` names the dimensions: B batches, S rows of each or T of all, N heads, D elements, or
  /// H elements of all heads. A tensor without B is one batch.
  Heads(const Tensor& operand, std::string_view layout, int64_t width)
      : place(operand.place),
        elements(width),
        lie{.batch_step = 0,
            .head_step = 0,
            .row_step = 0,
            .element_step = 0,
            .bytes = BytesOf(operand),
            .floats = operand.dtype() == ACL_FLOAT,
            .load = LoaderOf<float>(operand.dtype()),
            .store = StorerOf<float>(operand.dtype())} {
    const auto dim = [&](char letter, int64_t* step) -> int64_t {
      const size_t d = layout.find(letter);
      if (d == std::string_view::npos) return 1;
      *step = operand.tensor().strides[d];
      return operand.dim(static_cast<uint32_t>(d));
    };
    batches = dim('B', &lie.batch_step);
    rows = dim(layout.find('T') != std::string_view::npos ? 'T' : 'S', &lie.row_step);
    if (layout.find('N') != std::string_view::npos) {
      heads = dim('N', &lie.head_step);
      dim('D', &lie.element_step);
    } else {
      const int64_t all = dim('H', &lie.element_step);
      heads = width == 0 || all % width != 0 ? 0 : all / width;  // 0: no number of heads
      // The view is not checked yet, so the product may overflow.
      lie.head_step = WrappingProduct(lie.element_step, width);
    }
  }

  Place place;
  int64_t batches = 0, heads = 0, rows = 0, elements = 0;
  AttentionHeads lie{};
};

inline constexpr std::array<std::string_view, 5> kLayouts = {"BNSD", "BSND", "BSH", "SBH", "TND"};

/// A layout by its name. The result outlives the caller's string.
inline std::string_view LayoutOf(const char* name) {
  return *std::find(kLayouts.begin(), kLayouts.end(), std::string_view(name));
}

/// A mask or a shift of at most four dimensions that is broadcast to the scores. `of_batches`: the
/// first dimension is that of batches, whatever the rank is.
struct ScoreView {
  ScoreView() = default;
  ScoreView(const Tensor& tensor, bool of_batches) : place(tensor.place) {
    dims.fill(1);
    lie.given = true;
    const bool bytes =
        tensor.dtype() == ACL_BOOL || tensor.dtype() == ACL_UINT8 || tensor.dtype() == ACL_INT8;
    lie.load = bytes ? nullptr : LoaderOf<float>(tensor.dtype());
    const uint32_t rank = tensor.rank();
    for (uint32_t d = 0; d < rank; ++d) {
      const uint32_t to = of_batches && d == 0 ? 0 : d + 4 - rank;
      dims[to] = tensor.dim(d);
      // The view is not checked yet, so the product may overflow.
      lie.steps[to] =
          dims[to] == 1 ? 0 : WrappingProduct(tensor.tensor().strides[d], BytesOf(tensor));
    }
  }

  bool Fits(const Shape& shape) const {
    bool fits = true;
    for (size_t i = 0; i < 4; ++i) fits = fits && (dims[i] == 1 || dims[i] == shape[i]);
    return fits;
  }

  /// Whether it fits or has more rows and keys than the shape. These are not read.
  bool Covers(const Shape& shape) const {
    bool covers = true;
    for (size_t i = 0; i < 4; ++i) {
      covers = covers && (dims[i] == 1 || dims[i] == shape[i] || (i >= 2 && dims[i] > shape[i]));
    }
    return covers;
  }

  Place place;
  std::array<int64_t, 4> dims{};
  AttentionScores lie{};
};

/// Checks the type of query, key and value.
inline void CheckType(const Tensor& query, Checker& checker) {
  const int32_t type = query.dtype();
  checker.That(type == ACL_FLOAT || type == ACL_FLOAT16 || type == ACL_BF16,
               [&] { return DtypeIs(query, "FLOAT, FLOAT16, BFLOAT16"); });
}

inline void CheckWidth(const Heads& query, Checker& checker) {
  checker.That(query.elements <= kAttentionWidth, [&] {
    return Concat("query width of heads is ", query.elements, ", expected at most ",
                  kAttentionWidth);
  });
}

/// Checks that there are at most `most` batches, as the vendor's pages say. Each is a sequence of
/// the plan.
inline void CheckBatches(const Tensor& query, const Heads& heads, int64_t most, Checker& checker) {
  checker.That(heads.batches <= most, [&] {
    return Concat("query shape is ", ShapeText(query), ", expected at most ", most, " batches");
  });
}

/// A plan for these sequences, without mask, shift and dropout.
inline Attention AttentionOf(const Heads& q, const Heads& k, const Heads& v, double scale,
                             std::vector<AttentionSequence> sequences) {
  Attention attention = {};
  attention.heads = q.heads;
  attention.kv_heads = k.heads;
  attention.width = k.elements;
  attention.value_width = v.elements;
  attention.q = q.lie;
  attention.k = k.lie;
  attention.v = v.lie;
  attention.scale = static_cast<float>(scale);
  attention.sequences = std::move(sequences);
  attention.shift_factor = 1;
  return attention;
}

}  // namespace openaclnn::supporting
