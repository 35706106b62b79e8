// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of matrices: what the operator and its gradients share.
#pragma once

#include <algorithm>

#include "generated/window.h"
#include "kernels/gemm/gemm.h"
#include "kernels/work/scratch.h"
#include "supporting/axis.h"

namespace openaclnn::supporting {

/// The parameters of a convolution, whichever of its tensors are asked for.
struct Filter {
  const Tensor &input, &weight;
  const IntList &stride, &padding, &dilation, &outputPadding;
  bool transposed;
  int64_t groups;
  int8_t cubeMathType;
};

template <class P>
Filter FilterOf(const P& p) {
  return {p.input,         p.weight,     p.stride,          p.padding,     p.dilation,
          p.outputPadding, p.transposed, int64_t{p.groups}, p.cubeMathType};
}

/// Ranks, types, lists, groups and the weight's shape.
void CheckFilter(const Filter& p, Checker& checker);

struct Geometry {
  explicit Geometry(const Filter& p);

  /// That of the gradient by the input, which is a convolution of the output's gradient with the
  /// same weight: transposed if this one is not.
  Geometry Adjoint() const;

  int64_t terms() const { return in_channels * windows.tap_count(); }

  int64_t batches, groups, in_channels, out_channels;  // channels of a group
  Windows windows;
};

Shape OutShape(const Geometry& g);

/// The tensors of a convolution; there may be no bias.
struct Convolved {
  const Tensor &input, &weight, &bias, &output;
  bool transposed;  // the weight is (in, out / groups, taps …)
  int8_t cubeMathType;
};

/// Output channels of one input channel up to which lines and lanes are faster than a product.
inline constexpr int64_t kMostMultiplier = 4;

/// An axis as products read windows along it.
GemmAxis AlongAxis(const WindowAxis& axis);
/// Windows over an image's last dimensions, as few as may be.
GemmWindows WindowsOf(std::vector<GemmAxis> axes, const Tensor& image);
/// C's columns are the elements of a view, in the order of their indices.
void SetColumns(const Shape& shape, const Shape& steps, Gemm* gemm);
/// Bytes that the scratch of products should have: a tenth of the operands', and a MiB at least.
uint64_t MostScratch(std::initializer_list<const Operand*> operands);

Plan PlanConvolved(const Convolved& p, const Geometry& g, const Product& product);

/// The size of its workspace, at most, without the part for products; INT64_MAX: more than a number
/// holds.
uint64_t LeastBytes(const Convolved& p, const Geometry& g);
/// Offsets in the workspace must not wrap.
void CheckBytes(const Operand& weight, uint64_t bytes, Checker& checker);

inline RowView DenseRows(int64_t rows, int64_t width, int64_t bytes) {
  RowView view;
  view.rows = Offsets(&rows, &width, 1);
  view.step = 1;
  view.element_bytes = bytes;
  return view;
}

/// A matrix with elements like those of a tensor, in the workspace.
inline TapMatrix DenseMatrix(const Operand& like, int8_t math_type, const Product& product,
                             int64_t rows, int64_t width) {
  return {.view = DenseRows(rows, width, BytesOf(like)),
          .dtype = like.dtype(),
          .rounding = RoundingOf(like.dtype(), math_type, product).value_or(Rounding::kNone),
          .width = std::max<int64_t>(width, 1),
          .shift = 0,
          .step = 0,
          .transposed = false};
}

/// At least INT64_MAX where a number does not hold them: a product of three may leave __int128.
inline __int128 BytesOfRows(int64_t rows, int64_t width, int64_t bytes) {
  return __int128{ScratchBytes(__int128{rows} * width)} * bytes;
}

}  // namespace openaclnn::supporting
