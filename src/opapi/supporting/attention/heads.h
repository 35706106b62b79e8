// SPDX-License-Identifier: Apache-2.0
// What operators of attention share: heads of tensors in any layout, and what goes with their
// scores.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/attention.h"
#include "kernels/broadcast.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// q, k, v and tensors of their shapes as (batch, head, row, element).
struct Heads {
  Heads() = default;
  /// `given` is that of the operand's layout, by the letters of BNSD, BSND, BSH and SBH.
  Heads(const Tensor& operand, std::string_view layout, int64_t width)
      : place(operand.place),
        lie{.batch_step = 0,
            .head_step = 0,
            .row_step = 0,
            .element_step = 0,
            .bytes = BytesOf(operand),
            .floats = operand.dtype() == ACL_FLOAT,
            .load = LoaderOf<float>(operand.dtype()),
            .store = StorerOf<float>(operand.dtype())} {
    const auto axis = [&](char letter) { return static_cast<uint32_t>(layout.find(letter)); };
    const auto step_of = [&](uint32_t d) { return operand.tensor().strides[d]; };
    batches = operand.dim(axis('B'));
    rows = operand.dim(axis('S'));
    elements = width;
    lie.batch_step = step_of(axis('B'));
    lie.row_step = step_of(axis('S'));
    if (layout.size() == 4) {
      heads = operand.dim(axis('N'));
      lie.head_step = step_of(axis('N'));
      lie.element_step = step_of(axis('D'));
    } else {
      const int64_t all = operand.dim(axis('H'));
      heads = width == 0 || all % width != 0 ? 0 : all / width;  // 0: no number of heads
      lie.element_step = step_of(axis('H'));
      // Of a view that is not checked yet.
      lie.head_step = WrappingProduct(lie.element_step, width);
    }
  }

  Place place;
  int64_t batches = 0, heads = 0, rows = 0, elements = 0;
  AttentionHeads lie{};
};

inline constexpr std::array<std::string_view, 4> kLayouts = {"BNSD", "BSND", "BSH", "SBH"};

/// One of these by its name, for longer than the caller's.
inline std::string_view LayoutOf(const char* name) {
  return *std::find(kLayouts.begin(), kLayouts.end(), std::string_view(name));
}

/// A number, or copies of one, for each row of each head: (batch, head, row, copy).
inline AttentionHeads NumbersOf(const Tensor& tensor) {
  return Heads(tensor, "BNSD", tensor.last_dim()).lie;
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
      // Of a view that is not checked yet.
      lie.steps[to] =
          dims[to] == 1 ? 0 : WrappingProduct(tensor.tensor().strides[d], BytesOf(tensor));
    }
  }

  bool Fits(const Shape& shape) const {
    bool fits = true;
    for (size_t i = 0; i < 4; ++i) fits = fits && (dims[i] == 1 || dims[i] == shape[i]);
    return fits;
  }

  Place place;
  std::array<int64_t, 4> dims{};
  AttentionScores lie{};
};

/// Of query, key and value.
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

/// A call whose batches are sequences of one length, all of whose keys are seen; what else it has
/// stays as it is without.
inline Attention AttentionOf(const Heads& q, const Heads& k, const Heads& v, double scale) {
  Attention attention = {};
  attention.heads = q.heads;
  attention.kv_heads = k.heads;
  attention.width = k.elements;
  attention.value_width = v.elements;
  attention.q = q.lie;
  attention.k = k.lie;
  attention.v = v.lie;
  attention.scale = static_cast<float>(scale);
  for (int64_t batch = 0; batch < q.batches; ++batch) {
    attention.sequences.push_back({.rows = q.rows,
                                   .keys = k.rows,
                                   .batch = batch,
                                   .first_row = 0,
                                   .first_key = 0,
                                   .before = INT64_MAX,
                                   .after = INT64_MAX,
                                   .prefix = 0});
    attention.dropout.bits.push_back(batch * q.heads * q.rows * k.rows);
  }
  return attention;
}

/// Row i of each sequence sees keys i - before to i + after.
inline void SetWindow(int64_t before, int64_t after, Attention* attention) {
  for (AttentionSequence& of : attention->sequences) {
    of.before = before;
    of.after = after;
  }
}

}  // namespace openaclnn::supporting
