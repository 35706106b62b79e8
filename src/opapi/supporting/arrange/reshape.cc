// SPDX-License-Identifier: Apache-2.0
// ConfusionTranspose: dimensions in another order, and another shape. UnfoldGrad: the sums of what
// windows gave.
#include <algorithm>
#include <span>
#include <vector>

#include "generated/arrange.h"
#include "kernels/move/strided.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"
#include "supporting/arrange/view.h"
#include "supporting/in_turn.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

Shape ListOf(const IntList& list) { return {list.values().begin(), list.values().end()}; }

/// shape[perm[i]] as dimension i.
Shape Permuted(const Shape& shape, std::span<const int64_t> perm) {
  Shape permuted;
  for (const int64_t dim : perm) permuted.push_back(shape[static_cast<size_t>(dim)]);
  return permuted;
}

bool IsOrderOf(std::span<const int64_t> perm, size_t rank) {
  std::vector<bool> seen(rank);
  for (const int64_t dim : perm) {
    if (dim < 0 || static_cast<size_t>(dim) >= rank || seen[static_cast<size_t>(dim)]) return false;
    seen[static_cast<size_t>(dim)] = true;
  }
  return perm.size() == rank;
}

constexpr int64_t kAtOnce = 1024;  // elements that a thread copies at once

}  // namespace

void CheckConfusionTranspose(const ConfusionTransposeParams& p, Checker& checker) {
  const Shape shape = ListOf(p.shape);
  const auto perm = p.perm.values();
  const auto count = ElementCount(shape.data(), static_cast<uint32_t>(shape.size()));
  const bool positive =
      std::all_of(shape.begin(), shape.end(), [](int64_t length) { return length >= 0; });
  checker.SameDtype(p.y, p.x).That(
      shape.size() <= kMaxRank && positive && count == p.x.count(), [&] {
        return Concat("shape value is ",
                      ShapeText(shape.data(), static_cast<uint32_t>(shape.size())),
                      ", expected one of ", *p.x.count(), " elements, as x has, ", ShapeText(p.x));
      });
  const size_t rank = p.transposeFirst ? p.x.rank() : shape.size();
  checker.That(IsOrderOf(perm, rank), [&] {
    return Concat("perm value is ", ShapeText(perm.data(), static_cast<uint32_t>(perm.size())),
                  ", expected the ", rank, " dimensions of ", p.transposeFirst ? "x" : "shape",
                  ", each once");
  });
  if (checker.ok()) CheckShape(p.y, p.transposeFirst ? shape : Permuted(shape, perm), checker);
}

// Elements follow each other in the shape that one side has first: x with its dimensions in their
// new order, or y with them in their old one.
Plan PlanConfusionTranspose(const ConfusionTransposeParams& p, const Product&) {
  const Tensor &x = p.x, &y = p.y;
  if (y.empty()) return Nothing();
  const auto perm = p.perm.values();
  const int64_t bytes = BytesOf(x), count = *x.count();
  Shape dims = p.transposeFirst ? ShapeOf(x) : ShapeOf(y);
  Shape steps = p.transposeFirst ? StepsOf(x) : StepsOf(y);
  if (p.transposeFirst) {
    dims = Permuted(dims, perm);
    steps = Permuted(steps, perm);
  } else {
    const Shape moved_dims = dims, moved_steps = steps;
    for (size_t i = 0; i < perm.size(); ++i) {
      dims[static_cast<size_t>(perm[i])] = moved_dims[i];
      steps[static_cast<size_t>(perm[i])] = moved_steps[i];
    }
  }
  const Offsets ordered(dims.data(), steps.data(), static_cast<uint32_t>(dims.size()));
  const Tensor& other = p.transposeFirst ? y : x;
  const Shape other_dims = ShapeOf(other), other_steps = StepsOf(other);
  const Offsets plain(other_dims.data(), other_steps.data(), other.rank());
  const Offsets from = p.transposeFirst ? ordered : plain, to = p.transposeFirst ? plain : ordered;
  return {0, [=, in = x.place, out = y.place](const Buffers& buffers) -> Status {
            ParallelRows((count + kAtOnce - 1) / kAtOnce, kAtOnce, [&](int64_t part) {
              const int64_t end = std::min(count, (part + 1) * kAtOnce);
              for (int64_t i = part * kAtOnce; i < end; ++i) {
                CopyStrided(in(buffers) + from(i), 1, out(buffers) + to(i), 1, 1, bytes);
              }
            });
            return {};
          }};
}

void CheckUnfoldGrad(const UnfoldGradParams& p, Checker& checker) {
  const Shape sizes = ListOf(p.inputSizes);
  const Tensor &grad = p.gradOut, &out = p.gradIn;
  checker.RankBetween(out, 1, kMaxRank - 1).SameDtype(out, grad);
  CheckDim(out, p.dim, checker);
  CheckShape(out, sizes, checker);
  if (!checker.ok()) return;
  const uint32_t dim = *WrapDim(p.dim, out.rank());
  checker.That(0 < p.size && p.size <= out.dim(dim), [&] {
    return Concat("size value is ", p.size, ", expected 1 to ", out.dim(dim),
                  ", the length of the dimension");
  });
  checker.That(p.step > 0,
               [&] { return Concat("step value is ", p.step, ", expected one above 0"); });
  if (!checker.ok()) return;
  Shape shape = sizes;
  shape[dim] = (out.dim(dim) - p.size) / p.step + 1;
  shape.push_back(p.size);
  CheckShape(grad, shape, checker);
}

// Each element gathers what the windows that hold it have of it, in their order.
Plan PlanUnfoldGrad(const UnfoldGradParams& p, const Product&) {
  const Tensor &grad = p.gradOut, &out = p.gradIn;
  if (out.empty()) return Nothing();
  const uint32_t dim = *WrapDim(p.dim, out.rank());
  const Extent extent = ExtentOf(out, dim);
  const Rows to(out, dim);
  const int64_t bytes = BytesOf(grad), windows = grad.dim(dim), size = p.size, step = p.step;
  // Where the windows of a row are: the last dimension is within a window.
  Shape dims, steps;
  for (uint32_t d = 0; d < out.rank(); ++d) {
    if (d == dim) continue;
    dims.push_back(grad.dim(d));
    steps.push_back(grad.tensor().strides[d]);
  }
  const Offsets rows(dims.data(), steps.data(), static_cast<uint32_t>(dims.size()));
  const int64_t window_step = grad.tensor().strides[dim];
  const int64_t inside = grad.tensor().strides[out.rank()];
  return {0,
          [=, load = LoaderOf<double>(grad.dtype()), store = StorerOf<double>(out.dtype()),
           in = grad.place, at = out.place](const Buffers& buffers) -> Status {
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              const std::byte* const from = in(buffers) + rows(row) * bytes;
              for (int64_t i = 0; i < extent.width; ++i) {
                const int64_t first = i < size ? 0 : (i - size) / step + 1;
                const int64_t last = std::min(i / step, windows - 1);
                TreeSum<double> sum;
                for (int64_t w = first; w <= last; ++w) {
                  double value = 0;
                  load(from + (w * window_step + (i - w * step) * inside) * bytes, 0, 1, &value);
                  sum.Add(value);
                }
                const double total = sum.Total();
                store(&total, 1, to.At(at(buffers), row) + i * to.step, 0);
              }
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
