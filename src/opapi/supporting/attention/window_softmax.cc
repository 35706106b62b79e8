// SPDX-License-Identifier: Apache-2.0
// MaskedSoftmaxWithRelPosBias: the softmax of attention within windows (Swin Transformer).
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "generated/attention.h"
#include "kernels/rows/rows.h"
#include "supporting/attention/heads.h"
#include "supporting/in_turn.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

/// Rows of a tensor by (batch, window, head, row); 0 steps where it is broadcast.
struct RowView {
  Place place;
  std::array<int64_t, 4> steps{};  // in bytes
  int64_t element_step = 0;
  LoadRow<double> load = nullptr;

  const std::byte* At(const Buffers& buffers, const std::array<int64_t, 4>& at) const {
    int64_t offset = 0;
    for (size_t i = 0; i < at.size(); ++i) offset += at[i] * steps[i];
    return place(buffers) + offset;
  }
};

int64_t StepOf(const Tensor& tensor, uint32_t dim) {
  return tensor.tensor().strides[dim] * BytesOf(tensor);
}

/// The rows of a mask or a bias. Its dimension `dim` has windows (`own` is 1) or heads (2). Its
/// other dimensions before rows and columns are 1.
RowView Broadcast(const Tensor& tensor, size_t own, uint32_t dim) {
  RowView view = {.place = tensor.place, .load = LoaderOf<double>(tensor.dtype())};
  view.steps[own] = StepOf(tensor, dim);
  view.steps[3] = StepOf(tensor, tensor.rank() - 2);
  view.element_step = StepOf(tensor, tensor.rank() - 1);
  return view;
}

/// x of four dimensions has the windows of all batches in its first one.
RowView Scores(const Tensor& x, int64_t windows) {
  RowView view = {.place = x.place, .load = LoaderOf<double>(x.dtype())};
  const uint32_t head = x.rank() - 3;
  view.steps = {x.rank() == 5 ? StepOf(x, 0) : WrappingProduct(StepOf(x, 0), windows),
                StepOf(x, head - 1), StepOf(x, head), StepOf(x, head + 1)};
  view.element_step = StepOf(x, head + 2);
  return view;
}

/// The dimension of a mask that has the windows W: (W, S1, S2), (W, 1, S1, S2) or (1, W, 1, S1,
/// S2).
uint32_t WindowDim(const Tensor& mask) { return mask.rank() == 5 ? 1 : 0; }

int64_t WindowsOf(const MaskedSoftmaxWithRelPosBiasParams& p) {
  if (p.x.rank() == 5) return p.x.dim(1);
  const Tensor& mask = p.attenMaskOptional;
  return mask.present() ? mask.dim(WindowDim(mask)) : 1;
}

/// The shape of a mask or a bias of `rank` dimensions: `count` in dimension `dim`, 1 in others,
/// then x's rows and columns.
Shape BroadcastShapeOf(const Tensor& x, uint32_t rank, int64_t count, uint32_t dim) {
  Shape shape;
  for (uint32_t i = 0; i + 2 < rank; ++i) shape.push_back(i == dim ? count : 1);
  shape.push_back(x.dim(x.rank() - 2));
  shape.push_back(x.last_dim());
  return shape;
}

}  // namespace

void CheckMaskedSoftmaxWithRelPosBias(const MaskedSoftmaxWithRelPosBiasParams& p,
                                      Checker& checker) {
  const Tensor &x = p.x, &mask = p.attenMaskOptional, &bias = p.relativePosBias;
  checker.RankBetween(x, 4, 5).RankBetween(bias, 3, 5);
  if (mask.present()) checker.RankBetween(mask, 3, 5).SameDtype(mask, x);
  CheckType(x, checker);
  checker.SameDtype(bias, x).SameShapeAndDtype(p.out, x);
  if (!checker.ok()) return;
  CheckShape(bias, BroadcastShapeOf(x, bias.rank(), x.dim(x.rank() - 3), bias.rank() - 3), checker);
  if (!mask.present()) return;
  const int64_t windows = WindowsOf(p);
  CheckShape(mask, BroadcastShapeOf(x, mask.rank(), windows, WindowDim(mask)), checker);
  checker.That(x.rank() == 5 || (windows > 0 && x.dim(0) % windows == 0), [&] {
    return Concat("x shape is ", ShapeText(x), ", expected batches of ", windows,
                  " windows, those of ", mask.name());
  });
}

namespace {

struct WindowSoftmax {
  explicit WindowSoftmax(const MaskedSoftmaxWithRelPosBiasParams& p)
      : x(Scores(p.x, WindowsOf(p))),
        bias(Broadcast(p.relativePosBias, 2, p.relativePosBias.rank() - 3)),
        out(Scores(p.out, WindowsOf(p))),
        masked(p.attenMaskOptional.present()),
        scale(p.scaleValue),
        windows(WindowsOf(p)),
        heads(p.x.dim(p.x.rank() - 3)),
        rows(p.x.dim(p.x.rank() - 2)),
        width(p.x.last_dim()),
        store(StorerOf<double>(p.out.dtype())) {
    if (masked) mask = Broadcast(p.attenMaskOptional, 1, WindowDim(p.attenMaskOptional));
  }

  /// Rows [begin, end) of all, in double.
  void Run(const Buffers& buffers, int64_t begin, int64_t end) const {
    std::vector<double> scores(static_cast<size_t>(width)), added(scores.size());
    for (int64_t i = begin; i < end; ++i) {
      const std::array<int64_t, 4> at = {i / rows / heads / windows, i / rows / heads % windows,
                                         i / rows % heads, i % rows};
      x.load(x.At(buffers, at), x.element_step, width, scores.data());
      for (double& score : scores) score *= scale;
      if (masked) Add(mask, buffers, at, added.data(), &scores);
      Add(bias, buffers, at, added.data(), &scores);
      const double top = *std::max_element(scores.begin(), scores.end());
      TreeSum<double> sum;
      for (double& score : scores) sum.Add(score = std::exp(score - top));
      const double total = sum.Total();
      for (double& score : scores) score /= total;
      store(scores.data(), width, const_cast<std::byte*>(out.At(buffers, at)), out.element_step);
    }
  }

  RowView x, bias, out, mask;
  bool masked;
  double scale;
  int64_t windows, heads, rows, width;
  StoreRow<double> store;

 private:
  static void Add(const RowView& of, const Buffers& buffers, const std::array<int64_t, 4>& at,
                  double* row, std::vector<double>* scores) {
    of.load(of.At(buffers, at), of.element_step, static_cast<int64_t>(scores->size()), row);
    for (size_t i = 0; i < scores->size(); ++i) (*scores)[i] += row[i];
  }
};

}  // namespace

Plan PlanMaskedSoftmaxWithRelPosBias(const MaskedSoftmaxWithRelPosBiasParams& p, const Product&) {
  if (p.out.empty()) {
    return Nothing();
  }
  int64_t rows = 1;
  for (uint32_t i = 0; i + 1 < p.out.rank(); ++i) rows *= p.out.dim(i);
  return {0, [rows, softmax = WindowSoftmax(p)](const Buffers& buffers) -> Status {
            ParallelRowBlocks(rows, softmax.width, [&](int64_t begin, int64_t end) {
              softmax.Run(buffers, begin, end);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
