// SPDX-License-Identifier: Apache-2.0
// Operators along one dimension: softmax, its logarithm, their gradients, and where extremes are.
#include "supporting/along.h"

#include <cmath>

namespace openaclnn::supporting {
namespace {

/// out row = f(row, or two rows). Inputs are the first operands, out the last.
template <class Function>
Plan MakeAlong(const Params& p, const Function& function) {
  const Extent extent = ExtentOf(p.tensors[0], p.integers[0]);
  const size_t inputs = p.tensors.size() - 1;
  std::vector<Rows> rows;
  for (const Operand& tensor : p.tensors) rows.emplace_back(tensor, extent.dim);
  std::vector<LoadRow<double>> load;
  for (const Operand& tensor : p.tensors) load.push_back(LoaderOf<double>(tensor.dtype()));
  const auto store = StorerOf<double>(p.out().dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            if (extent.width == 0) return {};
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              std::vector<double> values(static_cast<size_t>(extent.width) * (inputs + 1));
              const auto line = [&](size_t k) {
                return values.data() + k * static_cast<size_t>(extent.width);
              };
              for (size_t k = 0; k < inputs; ++k) {
                load[k](rows[k].At(buffers.As<std::byte>(k), row), rows[k].step, extent.width,
                        line(k));
              }
              function(line(0), line(1), line(inputs), extent.width);
              store(line(inputs), extent.width, rows[inputs].At(buffers.As<std::byte>(inputs), row),
                    rows[inputs].step);
            });
            return {};
          }};
}

double MaxOf(const double* x, int64_t n) {
  double max = x[0];
  for (int64_t i = 1; i < n; ++i) max = x[i] > max || x[i] != x[i] ? x[i] : max;
  return max;
}

template <class Term>
double Sum(int64_t n, const Term& term) {
  TreeSum<double> sum;
  for (int64_t i = 0; i < n; ++i) sum.Add(term(i));
  return sum.Total();
}

/// Where the extreme of each row is; `values`: out holds the extremes and indices follow it.
template <bool kLargest>
Plan MakeExtremeAt(const Params& p, bool with_values) {
  const Extent extent = ExtentOf(p.tensors[0], p.integers[0]);
  const Rows self(p.tensors[0], extent.dim);
  const size_t indices_at = p.tensors.size() - 1;
  const Offsets to(p.out(), p.out().rank());
  const Offsets at(p.tensors[indices_at], p.tensors[indices_at].rank());
  const auto load = LoaderOf<double>(p.tensors[0].dtype());
  const auto store = StorerOf<double>(p.out().dtype());
  const auto store_index = StorerOf<int64_t>(p.tensors[indices_at].dtype());
  const int64_t out_bytes = BytesOf(p.out());
  const int64_t index_bytes = BytesOf(p.tensors[indices_at]);
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              std::vector<double> x(static_cast<size_t>(extent.width));
              load(self.At(buffers.As<std::byte>(0), row), self.step, extent.width, x.data());
              int64_t best = 0;
              for (int64_t i = 1; i < extent.width && x[best] == x[best]; ++i) {
                if (x[i] != x[i] || (kLargest ? x[i] > x[best] : x[i] < x[best])) best = i;
              }
              if (with_values) {
                store(&x[best], 1, buffers.As<std::byte>(1) + to(row) * out_bytes, 0);
              }
              store_index(&best, 1, buffers.As<std::byte>(indices_at) + at(row) * index_bytes, 0);
            });
            return {};
          }};
}

}  // namespace

void CheckAlong(const Params& p, Checker& checker) {
  CheckDim(p.tensors[0], p.integers[0], checker);
  for (size_t i = 1; i < p.tensors.size(); ++i) {
    CheckShape(p.tensors[i], ShapeOf(p.tensors[0]), checker);
  }
}

void CheckExtremeAt(const Params& p, Checker& checker) {
  CheckDim(p.tensors[0], p.integers[0], checker);
  if (!checker.ok()) return;
  const Extent extent = ExtentOf(p.tensors[0], p.integers[0]);
  Shape shape = ShapeOf(p.tensors[0]);
  if (p.integers[1] != 0 && !shape.empty()) {
    shape[extent.dim] = 1;
  } else if (!shape.empty()) {
    shape.erase(shape.begin() + extent.dim);
  }
  for (size_t i = 1; i < p.tensors.size(); ++i) CheckShape(p.tensors[i], shape, checker);
  checker.That(extent.width > 0 || extent.rows == 0, [&] {
    return Concat(p.tensors[0].name(), " shape is ", ShapeText(p.tensors[0]),
                  ", expected elements to take the extreme of");
  });
  const Operand& indices = p.tensors.back();
  checker.That(indices.dtype() == ACL_INT64 || indices.dtype() == ACL_INT32,
               [&] { return DtypeIs(indices, "INT32, INT64"); });
}

Plan PlanMaxDim(const Params& p) { return MakeExtremeAt<true>(p, true); }

Plan PlanMinDim(const Params& p) { return MakeExtremeAt<false>(p, true); }

Plan PlanArgMax(const Params& p) { return MakeExtremeAt<true>(p, false); }

Plan PlanArgMin(const Params& p) { return MakeExtremeAt<false>(p, false); }

// y = exp(x - max) / sum exp(x - max)
Plan PlanSoftmax(const Params& p) {
  return MakeAlong(p, [](const double* x, const double*, double* y, int64_t n) {
    const double max = MaxOf(x, n);
    for (int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i] - max);
    const double sum = Sum(n, [&](int64_t i) { return y[i]; });
    for (int64_t i = 0; i < n; ++i) y[i] /= sum;
  });
}

// y = x - max - log sum exp(x - max)
Plan PlanLogSoftmax(const Params& p) {
  return MakeAlong(p, [](const double* x, const double*, double* y, int64_t n) {
    const double max = MaxOf(x, n);
    const double sum = std::log(Sum(n, [&](int64_t i) { return std::exp(x[i] - max); }));
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] - max - sum;
  });
}

// dx = y * (g - sum g*y)
Plan PlanSoftmaxGradient(const Params& p) {
  return MakeAlong(p, [](const double* g, const double* y, double* dx, int64_t n) {
    const double sum = Sum(n, [&](int64_t i) { return g[i] * y[i]; });
    for (int64_t i = 0; i < n; ++i) dx[i] = y[i] * (g[i] - sum);
  });
}

// dx = g - exp(y) * sum g
Plan PlanLogSoftmaxGradient(const Params& p) {
  return MakeAlong(p, [](const double* g, const double* y, double* dx, int64_t n) {
    const double sum = Sum(n, [&](int64_t i) { return g[i]; });
    for (int64_t i = 0; i < n; ++i) dx[i] = g[i] - std::exp(y[i]) * sum;
  });
}

namespace {

/// Rows of an even width and what is half as wide.
Shape HalfShape(const Params& p, const Operand& self, Checker& checker) {
  CheckDim(self, p.integers[0], checker);
  if (!checker.ok()) return {};
  Shape shape = ShapeOf(self);
  const uint32_t dim = *WrapDim(p.integers[0], self.rank());
  const bool even = self.rank() > 0 && shape[dim] % 2 == 0;
  checker.That(even, [&] {
    return Concat(self.name(), " shape is ", ShapeText(self), ", expected an even length in dim");
  });
  if (even) shape[dim] /= 2;
  return shape;
}

/// out row = f(rows of the inputs); `self` is the one that is twice as wide.
template <class Function>
Plan MakeGated(const Params& p, const Operand& self, const Function& function) {
  const Extent extent = ExtentOf(self, p.integers[0]);
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

// self; out.
void CheckGlu(const Params& p, Checker& checker) {
  const Shape shape = HalfShape(p, p.tensors[0], checker);
  if (checker.ok()) CheckShape(p.out(), shape, checker);
}

Plan PlanGlu(const Params& p) {
  return MakeGated(p, p.tensors[0], [](std::vector<std::vector<double>>& values) {
    const size_t half = values[1].size();
    for (size_t i = 0; i < half; ++i) values[1][i] = values[0][i] * Sigmoid(values[0][half + i]);
  });
}

// gradOut, self; out.
void CheckGluGradient(const Params& p, Checker& checker) {
  const Shape shape = HalfShape(p, p.tensors[1], checker);
  if (!checker.ok()) return;
  CheckShape(p.tensors[0], shape, checker);
  CheckShape(p.out(), ShapeOf(p.tensors[1]), checker);
}

Plan PlanGluGradient(const Params& p) {
  return MakeGated(p, p.tensors[1], [](std::vector<std::vector<double>>& values) {
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
