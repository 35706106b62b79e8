// SPDX-License-Identifier: Apache-2.0
// Softmax, its logarithm and gates along one dimension, and their gradients.
#include <cmath>

#include "generated/activation.h"
#include "supporting/along.h"

namespace openaclnn::supporting {
namespace {

/// out row = f(row, or two rows). Inputs are the first operands, out the last.
template <class Function>
Plan MakeAlong(const AlongParams& p, const Function& function) {
  const Extent extent = ExtentOf(p.tensors[0], p.dim);
  const size_t inputs = p.tensors.size() - 1;
  std::vector<Rows> rows;
  for (const Operand& tensor : p.tensors) rows.emplace_back(tensor, extent.dim);
  std::vector<LoadRow<double>> load;
  for (const Operand& tensor : p.tensors) load.push_back(LoaderOf<double>(tensor.dtype()));
  const auto store = StorerOf<double>(p.tensors.back().dtype());
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

}  // namespace

void CheckAlong(const AlongParams& p, Checker& checker) {
  CheckDim(p.tensors[0], p.dim, checker);
  for (size_t i = 1; i < p.tensors.size(); ++i) {
    CheckShape(p.tensors[i], ShapeOf(p.tensors[0]), checker);
  }
}

// y = exp(x - max) / sum exp(x - max)
Plan PlanSoftmax(const AlongParams& p, const Product&) {
  return MakeAlong(p, [](const double* x, const double*, double* y, int64_t n) {
    const double max = MaxOf(x, n);
    for (int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i] - max);
    const double sum = Sum(n, [&](int64_t i) { return y[i]; });
    for (int64_t i = 0; i < n; ++i) y[i] /= sum;
  });
}

// y = x - max - log sum exp(x - max)
Plan PlanLogSoftmax(const AlongParams& p, const Product&) {
  return MakeAlong(p, [](const double* x, const double*, double* y, int64_t n) {
    const double max = MaxOf(x, n);
    const double sum = std::log(Sum(n, [&](int64_t i) { return std::exp(x[i] - max); }));
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] - max - sum;
  });
}

// dx = y * (g - sum g*y)
Plan PlanSoftmaxGradient(const AlongParams& p, const Product&) {
  return MakeAlong(p, [](const double* g, const double* y, double* dx, int64_t n) {
    const double sum = Sum(n, [&](int64_t i) { return g[i] * y[i]; });
    for (int64_t i = 0; i < n; ++i) dx[i] = y[i] * (g[i] - sum);
  });
}

// dx = g - exp(y) * sum g
Plan PlanLogSoftmaxGradient(const AlongParams& p, const Product&) {
  return MakeAlong(p, [](const double* g, const double* y, double* dx, int64_t n) {
    const double sum = Sum(n, [&](int64_t i) { return g[i]; });
    for (int64_t i = 0; i < n; ++i) dx[i] = g[i] - std::exp(y[i]) * sum;
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
