// SPDX-License-Identifier: Apache-2.0
// What operators of attention share: heads of tensors in any layout, softmax, sums of rows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/broadcast.h"
#include "supporting/family.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

/// q, k, v and tensors of their shapes as (batch, head, row, element).
struct Heads {
  Heads() = default;
  /// `given` is that of the operand's layout, by the letters of BNSD, BSND, BSH and SBH.
  Heads(const Tensor& operand, std::string_view layout, int64_t width)
      : place(operand.place),
        bytes(BytesOf(operand)),
        load(LoaderOf<double>(operand.dtype())),
        store(StorerOf<double>(operand.dtype())) {
    const auto axis = [&](char letter) { return static_cast<uint32_t>(layout.find(letter)); };
    const auto step_of = [&](uint32_t d) { return operand.tensor().strides[d]; };
    batches = operand.dim(axis('B'));
    rows = operand.dim(axis('S'));
    elements = width;
    batch_step = step_of(axis('B'));
    row_step = step_of(axis('S'));
    if (layout.size() == 4) {
      heads = operand.dim(axis('N'));
      head_step = step_of(axis('N'));
      element_step = step_of(axis('D'));
    } else {
      const int64_t all = operand.dim(axis('H'));
      heads = width == 0 || all % width != 0 ? 0 : all / width;  // 0: no number of heads
      element_step = step_of(axis('H'));
      head_step = WrappingProduct(element_step, width);  // of a view that is not checked yet
    }
  }

  std::byte* Row(const Buffers& buffers, int64_t batch, int64_t head, int64_t row) const {
    return place(buffers) + (batch * batch_step + head * head_step + row * row_step) * bytes;
  }
  /// All rows of a head, one after the other.
  std::vector<double> Load(const Buffers& buffers, int64_t batch, int64_t head) const {
    std::vector<double> values(static_cast<size_t>(rows * elements));
    for (int64_t row = 0; row < rows; ++row) {
      load(Row(buffers, batch, head, row), element_step * bytes, elements,
           values.data() + row * elements);
    }
    return values;
  }
  void Store(const Buffers& buffers, int64_t batch, int64_t head, const double* values) const {
    for (int64_t row = 0; row < rows; ++row) {
      store(values + row * elements, elements, Row(buffers, batch, head, row),
            element_step * bytes);
    }
  }

  Place place;
  int64_t batches = 0, heads = 0, rows = 0, elements = 0;
  int64_t batch_step = 0, head_step = 0, row_step = 0, element_step = 0;
  int64_t bytes = 0;
  LoadRow<double> load = nullptr;
  StoreRow<double> store = nullptr;
};

inline constexpr std::array<std::string_view, 4> kLayouts = {"BNSD", "BSND", "BSH", "SBH"};

/// One of these by its name, for longer than the caller's.
inline std::string_view LayoutOf(const char* name) {
  return *std::find(kLayouts.begin(), kLayouts.end(), std::string_view(name));
}

inline double Dot(const double* a, const double* b, int64_t n) {
  TreeSum<double> sum;
  for (int64_t i = 0; i < n; ++i) sum.Add(a[i] * b[i]);
  return sum.Total();
}

/// What softmax leaves behind for the gradient.
struct RowSums {
  double max = 0, sum = 0;
};

/// A row of scores becomes its softmax; one that is hidden whole becomes zeros, as does its sum.
inline RowSums Softmax(std::vector<double>* scores) {
  RowSums sums;
  if (scores->empty()) return sums;
  const double max = *std::max_element(scores->begin(), scores->end());
  if (max == -INFINITY) {
    std::fill(scores->begin(), scores->end(), 0.0);
    return sums;
  }
  sums.max = max;
  TreeSum<double> sum;
  for (double& score : *scores) {
    score = std::exp(score - max);
    sum.Add(score);
  }
  sums.sum = sum.Total();
  for (double& score : *scores) score /= sums.sum;
  return sums;
}

/// Factors, one for each row of a sum of rows, times a row.
struct Scaled {
  std::span<const double> factors, row;
};

/// Rows that a tree sums together.
struct SummedRows {
  std::vector<double> values;

  SummedRows& operator+=(const Scaled& term) {
    double* to = values.data();
    for (const double factor : term.factors) {
      for (const double element : term.row) *to++ += factor * element;
    }
    return *this;
  }
  friend SummedRows operator+(const SummedRows& left, SummedRows right) {
    for (size_t i = 0; i < right.values.size(); ++i) right.values[i] += left.values[i];
    return right;
  }
};

/// Of `count` elements.
inline TreeSum<SummedRows> SumOfRows(int64_t count) {
  return TreeSum<SummedRows>({std::vector<double>(static_cast<size_t>(count))});
}

inline std::span<const double> RowOf(const std::vector<double>& rows, int64_t row, int64_t n) {
  return std::span(rows).subspan(static_cast<size_t>(row * n), static_cast<size_t>(n));
}

}  // namespace openaclnn::supporting
