// SPDX-License-Identifier: Apache-2.0
// Softmax, its logarithm and gates along one dimension, and their gradients.
#include <algorithm>
#include <cmath>

#include "generated/activation.h"
#include "kernels/double_rows.h"
#include "supporting/along.h"

namespace openaclnn::supporting {
namespace {

/// Elements of a row that are computed at once: whole blocks of the tree of a sum. They stay in the
/// second-level cache, and on the stack, where no memory can be short.
constexpr int64_t kPiece = 4 * kRowBlock;

/// A row of a tensor, a piece at a time.
struct Line {
  std::byte* first;
  int64_t step, width;
  LoadRow<double> load_piece;
  StoreRow<double> store_piece;

  int64_t pieces() const { return (width + kPiece - 1) / kPiece; }
  int64_t Length(int64_t piece) const { return std::min(kPiece, width - piece * kPiece); }
  int64_t Load(int64_t piece, double* x) const {
    load_piece(first + piece * kPiece * step, step, Length(piece), x);
    return Length(piece);
  }
  void Store(int64_t piece, const double* x) const {
    store_piece(x, Length(piece), first + piece * kPiece * step, step);
  }
};

/// out row = f(row, or two rows). Inputs are the first operands, out the last.
template <class Function>
Plan MakeAlong(const AlongParams& p, const Function& function) {
  constexpr size_t kMostTensors = 3;
  const Extent extent = ExtentOf(p.tensors[0], p.dim);
  const size_t count = p.tensors.size();
  std::vector<Rows> rows;
  std::vector<Line> lines;
  for (const Operand& tensor : p.tensors) {
    rows.emplace_back(tensor, extent.dim);
    lines.push_back({nullptr, rows.back().step, extent.width, LoaderOf<double>(tensor.dtype()),
                     StorerOf<double>(tensor.dtype())});
  }
  const DoubleRowKernels& kernels = *OPENACLNN_TARGET_SELECT(kDoubleRowKernels);
  return {0, [=, &kernels](const Buffers& buffers) -> Status {
            if (extent.width == 0) return {};
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              Line own[kMostTensors];
              for (size_t k = 0; k < count; ++k) {
                own[k] = lines[k];
                own[k].first = rows[k].At(buffers.As<std::byte>(k), row);
              }
              function(kernels, own);
            });
            return {};
          }};
}

/// Sums by the tree of a row: pieces [begin, end) of a line, split at the largest power of two.
template <class Term>
double SumPieces(int64_t begin, int64_t end, const Term& term) {
  if (end - begin == 1) return term(begin);
  const int64_t half = LeftHalf(end - begin);
  const double left = SumPieces(begin, begin + half, term);
  return left + SumPieces(begin + half, end, term);
}

/// Rows that would not fill the lanes of a kernel.
constexpr int64_t kNarrow = 16;

double MaxOf(const DoubleRowKernels& kernels, const Line& x, double* values) {
  double max = kernels.largest.nothing;
  if (x.width < kNarrow) {
    x.Load(0, values);
    for (int64_t i = 0; i < x.width; ++i) max = Less(max, values[i]) ? values[i] : max;
    return max;
  }
  for (int64_t i = 0; i < x.pieces(); ++i) {
    const int64_t n = x.Load(i, values);
    const double piece = kernels.largest.row(values, n);
    kernels.largest.join(&piece, 1, &max);
  }
  return max;
}

/// Of e^(x - max). A row of one piece is in `values` before and after it.
double SumOfExp(const DoubleRowKernels& kernels, const Line& x, double max, double* values) {
  if (x.width < kNarrow) {
    double sum = 0;
    for (int64_t i = 0; i < x.width; ++i) sum += values[i] = std::exp(values[i] - max);
    return sum;
  }
  return SumPieces(0, x.pieces(), [&](int64_t i) {
    const int64_t n = x.pieces() == 1 ? x.width : x.Load(i, values);
    kernels.exp(values, max, n);
    return kernels.sum.row(values, n);
  });
}

}  // namespace

void CheckAlong(const AlongParams& p, Checker& checker) {
  CheckDim(p.tensors[0], p.dim, checker);
  for (size_t i = 1; i < p.tensors.size(); ++i) {
    CheckShape(p.tensors[i], ShapeOf(p.tensors[0]), checker);
  }
}

// y = exp(x - max) / sum exp(x - max)
Plan PlanSoftmax(const AlongParams& p, const Product&) {
  return MakeAlong(p, [](const DoubleRowKernels& kernels, const Line* lines) {
    const Line &x = lines[0], &y = lines[1];
    double values[kPiece];
    const double max = MaxOf(kernels, x, values);
    const double factor = 1 / SumOfExp(kernels, x, max, values);
    for (int64_t i = 0; i < x.pieces(); ++i) {
      if (x.pieces() > 1) kernels.exp(values, max, x.Load(i, values));
      kernels.scale(values, 0, factor, x.Length(i));
      y.Store(i, values);
    }
  });
}

// y = x - max - log sum exp(x - max)
Plan PlanLogSoftmax(const AlongParams& p, const Product&) {
  return MakeAlong(p, [](const DoubleRowKernels& kernels, const Line* lines) {
    const Line &x = lines[0], &y = lines[1];
    double values[kPiece];
    const double max = MaxOf(kernels, x, values);
    const double sum = std::log(SumOfExp(kernels, x, max, values));
    for (int64_t i = 0; i < x.pieces(); ++i) {
      const int64_t n = x.Load(i, values);
      kernels.subtract(values, max, sum, n);
      y.Store(i, values);
    }
  });
}

// dx = y * (g - sum g*y)
Plan PlanSoftmaxGradient(const AlongParams& p, const Product&) {
  return MakeAlong(p, [](const DoubleRowKernels& kernels, const Line* lines) {
    const Line &g = lines[0], &y = lines[1], &dx = lines[2];
    double left[kPiece], right[kPiece];
    const double sum = SumPieces(0, g.pieces(), [&](int64_t i) {
      y.Load(i, right);
      return kernels.products(left, right, g.Load(i, left));
    });
    for (int64_t i = 0; i < g.pieces(); ++i) {
      if (g.pieces() > 1) {
        g.Load(i, left);
        y.Load(i, right);
      }
      kernels.softmax_gradient(left, right, sum, g.Length(i));
      dx.Store(i, left);
    }
  });
}

// dx = g - exp(y) * sum g
Plan PlanLogSoftmaxGradient(const AlongParams& p, const Product&) {
  return MakeAlong(p, [](const DoubleRowKernels& kernels, const Line* lines) {
    const Line &g = lines[0], &y = lines[1], &dx = lines[2];
    double left[kPiece], right[kPiece];
    const double sum =
        SumPieces(0, g.pieces(), [&](int64_t i) { return kernels.sum.row(left, g.Load(i, left)); });
    for (int64_t i = 0; i < g.pieces(); ++i) {
      if (g.pieces() > 1) g.Load(i, left);
      y.Load(i, right);
      kernels.log_softmax_gradient(left, right, sum, g.Length(i));
      dx.Store(i, left);
    }
  });
}

namespace {

/// Rows of an even width and what is half as wide.
Shape HalfShape(const Operand& self, int64_t along, Checker& checker) {
  CheckDim(self, along, checker);
  if (!checker.ok()) return {};
  Shape shape = ShapeOf(self);
  const uint32_t dim = *WrapDim(along, self.rank());
  const bool even = self.rank() > 0 && shape[dim] % 2 == 0;
  checker.That(even, [&] {
    return Concat(self.name(), " shape is ", ShapeText(self), ", expected an even length in dim");
  });
  if (even) shape[dim] /= 2;
  return shape;
}

/// out row = f(rows of the inputs); `self` is the one that is twice as wide.
template <class Function>
Plan MakeGated(const Params& p, const Operand& self, int64_t dim, const Function& function) {
  const Extent extent = ExtentOf(self, dim);
  struct Line {
    Rows rows;
    int64_t width;
    LoadRow<double> load;
    StoreRow<double> store;
  };
  std::vector<Line> lines;
  for (const Operand& tensor : p.tensors) {
    lines.push_back({Rows(tensor, extent.dim), tensor.dim(extent.dim),
                     LoaderOf<double>(tensor.dtype()), StorerOf<double>(tensor.dtype())});
  }
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              std::vector<std::vector<double>> values;
              for (size_t k = 0; k < lines.size(); ++k) {
                values.emplace_back(static_cast<size_t>(lines[k].width));
                if (k + 1 == lines.size()) continue;
                lines[k].load(lines[k].rows.At(buffers.As<std::byte>(k), row), lines[k].rows.step,
                              lines[k].width, values[k].data());
              }
              function(values);
              const size_t out = lines.size() - 1;
              lines[out].store(values[out].data(), lines[out].width,
                               lines[out].rows.At(buffers.As<std::byte>(out), row),
                               lines[out].rows.step);
            });
            return {};
          }};
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

void CheckGlu(const GluParams& p, Checker& checker) {
  const Shape shape = HalfShape(p.self, p.dim, checker);
  if (checker.ok()) CheckShape(p.out, shape, checker);
}

Plan PlanGlu(const GluParams& p, const Product&) {
  return MakeGated(p, p.self, p.dim, [](std::vector<std::vector<double>>& values) {
    const size_t half = values[1].size();
    for (size_t i = 0; i < half; ++i) values[1][i] = values[0][i] * Sigmoid(values[0][half + i]);
  });
}

void CheckGluGradient(const GluGradientParams& p, Checker& checker) {
  const Shape shape = HalfShape(p.self, p.dim, checker);
  if (!checker.ok()) return;
  CheckShape(p.gradOut, shape, checker);
  CheckShape(p.out, ShapeOf(p.self), checker);
}

Plan PlanGluGradient(const GluGradientParams& p, const Product&) {
  return MakeGated(p, p.self, p.dim, [](std::vector<std::vector<double>>& values) {
    const std::vector<double>&grad = values[0], &x = values[1];
    const size_t half = grad.size();
    for (size_t i = 0; i < half; ++i) {
      const double gate = Sigmoid(x[half + i]);
      values[2][i] = grad[i] * gate;
      values[2][half + i] = grad[i] * x[i] * gate * (1 - gate);
    }
  });
}

}  // namespace openaclnn::supporting
