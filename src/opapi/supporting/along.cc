// SPDX-License-Identifier: Apache-2.0
// Operators along one dimension: softmax, its logarithm, their gradients, and where extremes are.
#include <cmath>

#include "kernels/rows.h"
#include "supporting/reduction.h"

namespace openaclnn::supporting {
namespace {

/// Views as rows along one dimension; the others in row-major order.
struct Rows {
  Rows(const Operand& operand, uint32_t dim) : bytes(BytesOf(operand)) {
    Shape dims, steps;
    for (uint32_t i = 0; i < operand.rank(); ++i) {
      if (i == dim) continue;
      dims.push_back(operand.dim(i));
      steps.push_back(operand.tensor().strides[i]);
    }
    offsets = Offsets(dims.data(), steps.data(), static_cast<uint32_t>(dims.size()));
    step = operand.rank() > 0 ? operand.tensor().strides[dim] * bytes : 0;
  }

  static int64_t BytesOf(const Operand& operand) {
    return static_cast<int64_t>(FindDataType(operand.dtype())->bytes);
  }

  std::byte* At(std::byte* origin, int64_t row) const { return origin + offsets(row) * bytes; }

  Offsets offsets;
  int64_t bytes, step;
};

struct Extent {
  uint32_t dim;
  int64_t rows, width;
};

Extent ExtentOf(const Params& p) {
  const Operand& self = p.tensors[0];
  Extent extent = {*WrapDim(p.integers[0], self.rank()), 1, 1};
  for (uint32_t i = 0; i < self.rank(); ++i) {
    int64_t& length = i == extent.dim ? extent.width : extent.rows;
    length = WrappingProduct(length, self.dim(i));
  }
  return extent;
}

/// out row = f(row, or two rows). Inputs are the first operands, out the last.
template <class Function>
Plan MakeAlong(const Params& p, const Function& function) {
  const Extent extent = ExtentOf(p);
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
  const Extent extent = ExtentOf(p);
  const Rows self(p.tensors[0], extent.dim);
  const size_t indices_at = p.tensors.size() - 1;
  const Offsets to(p.out(), p.out().rank());
  const Offsets at(p.tensors[indices_at], p.tensors[indices_at].rank());
  const auto load = LoaderOf<double>(p.tensors[0].dtype());
  const auto store = StorerOf<double>(p.out().dtype());
  const auto store_index = StorerOf<int64_t>(p.tensors[indices_at].dtype());
  const int64_t out_bytes = Rows::BytesOf(p.out());
  const int64_t index_bytes = Rows::BytesOf(p.tensors[indices_at]);
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

void CheckDim(const Params& p, Checker& checker) {
  const Operand& self = p.tensors[0];
  checker.That(WrapDim(p.integers[0], self.rank()).has_value(), [&] {
    return Concat("dim value is ", p.integers[0], ", expected a dimension of ", self.name(), ", ",
                  ShapeText(self));
  });
}

}  // namespace

void CheckAlong(const Params& p, Checker& checker) {
  CheckDim(p, checker);
  for (size_t i = 1; i < p.tensors.size(); ++i) {
    CheckShape(p.tensors[i], ShapeOf(p.tensors[0]), checker);
  }
}

void CheckExtremeAt(const Params& p, Checker& checker) {
  CheckDim(p, checker);
  if (!checker.ok()) return;
  const Extent extent = ExtentOf(p);
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

}  // namespace openaclnn::supporting
