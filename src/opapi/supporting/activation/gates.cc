// SPDX-License-Identifier: Apache-2.0
// Gates along one dimension, and their gradients.
#include "supporting/activation/gates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "generated/activation.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"

namespace openaclnn::supporting {
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

/// Rows of the outputs = f(rows of the inputs); `self` is the one that is twice as wide. The
/// function gets all rows by the places of their tensors.
template <class Function>
Plan MakeGated(const Params& p, const Operand& self, int64_t dim, const Function& function) {
  const Extent extent = ExtentOf(self, dim);
  struct Line {
    Rows rows;
    int64_t width;
    bool is_output;
    LoadRow<double> load;
    StoreRow<double> store;
  };
  std::vector<Line> lines;
  for (const Operand& tensor : p.tensors) {
    lines.push_back({Rows(tensor, extent.dim), tensor.dim(extent.dim),
                     tensor.role() == OPENACLNN_OUTPUT, LoaderOf<double>(tensor.dtype()),
                     StorerOf<double>(tensor.dtype())});
  }
  using Room = std::array<std::vector<double>, 4>;
  return {0, [=](const Buffers& buffers) -> Status {
            if (extent.width == 0) return {};
            ParallelRowsIn<Room>(extent.rows, extent.width, [&](int64_t row, Room* values) {
              for (size_t k = 0; k < lines.size(); ++k) {
                (*values)[k].resize(static_cast<size_t>(lines[k].width));
                if (lines[k].is_output) continue;
                lines[k].load(lines[k].rows.At(buffers.As<std::byte>(k), row), lines[k].rows.step,
                              lines[k].width, (*values)[k].data());
              }
              function(*values);
              for (size_t k = 0; k < lines.size(); ++k) {
                if (!lines[k].is_output) continue;
                lines[k].store((*values)[k].data(), lines[k].width,
                               lines[k].rows.At(buffers.As<std::byte>(k), row), lines[k].rows.step);
              }
            });
            return {};
          }};
}

/// By libm, to the last digits of DOUBLE.
void PassByGelu(const GateRows& rows, int64_t n, double* out, double* more) {
  for (int64_t i = 0; i < n; ++i) {
    const double a = rows.gate[i];
    more[i] = a * 0.5 * (1 + std::erf(a * M_SQRT1_2));
    out[i] = more[i] * rows.passed[i];
  }
}

/// The gradient of PassByGelu, with Gelu as the forward stored it.
void GeluGradient(const GateRows& rows, int64_t n, double* out, double* more) {
  for (int64_t i = 0; i < n; ++i) {
    const double a = rows.gate[i];
    const double density = std::exp(-a * a / 2) * (M_2_SQRTPI * M_SQRT1_2 / 2);
    out[i] = rows.grad[i] * rows.activated[i];
    more[i] = rows.grad[i] * rows.passed[i] * (0.5 * (1 + std::erf(a * M_SQRT1_2)) + a * density);
  }
}

bool AnyDouble(const Params& p) {
  return std::any_of(p.tensors.begin(), p.tensors.end(),
                     [](const Tensor& each) { return each.dtype() == ACL_DOUBLE; });
}

const GateKernels* Gates() { return OPENACLNN_TARGET_SELECT(kGateKernels); }

}  // namespace

void CheckGlu(const GluParams& p, Checker& checker) {
  const Shape shape = HalfShape(p.self, p.dim, checker);
  if (checker.ok()) CheckShape(p.out, shape, checker);
}

Plan PlanGlu(const GluParams& p, const Product&) {
  return MakeGated(p, p.self, p.dim, [kernel = Gates()->sigmoid](auto& values) {
    const auto half = static_cast<int64_t>(values[1].size());
    const double* const x = values[0].data();
    kernel({x, x + half, nullptr}, half, values[1].data(), nullptr);
  });
}

void CheckGluGradient(const GluGradientParams& p, Checker& checker) {
  const Shape shape = HalfShape(p.self, p.dim, checker);
  if (!checker.ok()) return;
  CheckShape(p.gradOut, shape, checker);
  CheckShape(p.out, ShapeOf(p.self), checker);
}

Plan PlanGluGradient(const GluGradientParams& p, const Product&) {
  return MakeGated(p, p.self, p.dim, [kernel = Gates()->sigmoid_gradient](auto& values) {
    const auto half = static_cast<int64_t>(values[0].size());
    const double* const x = values[1].data();
    double* const out = values[2].data();
    kernel({x, x + half, values[0].data()}, half, out, out + half);
  });
}

void CheckSwiGlu(const SwiGluParams& p, Checker& checker) {
  const Shape shape = HalfShape(p.x, p.dim, checker);
  if (checker.ok()) CheckShape(p.out, shape, checker);
}

Plan PlanSwiGlu(const SwiGluParams& p, const Product&) {
  return MakeGated(p, p.x, p.dim, [kernel = Gates()->silu](auto& values) {
    const auto half = static_cast<int64_t>(values[1].size());
    const double* const x = values[0].data();
    kernel({x + half, x, nullptr}, half, values[1].data(), nullptr);
  });
}

void CheckSwiGluGradient(const SwiGluGradientParams& p, Checker& checker) {
  const Shape shape = HalfShape(p.x, p.dim, checker);
  if (!checker.ok()) return;
  CheckShape(p.yGrad, shape, checker);
  CheckShape(p.out, ShapeOf(p.x), checker);
}

Plan PlanSwiGluGradient(const SwiGluGradientParams& p, const Product&) {
  return MakeGated(p, p.x, p.dim, [kernel = Gates()->silu_gradient](auto& values) {
    const auto half = static_cast<int64_t>(values[0].size());
    const double* const x = values[1].data();
    double* const out = values[2].data();
    kernel({x + half, x, values[0].data()}, half, out + half, out);
  });
}

void CheckGeluMul(const GeluMulParams& p, Checker& checker) {
  checker.RankBetween(p.input, 1, kMaxRank);
  if (!checker.ok()) return;
  const Shape shape = HalfShape(p.input, -1, checker);
  if (checker.ok()) CheckShape(p.out, shape, checker);
}

Plan PlanGeluMul(const GeluMulParams& p, const Product&) {
  const bool by_tanh = std::string_view(p.approximate) == "tanh";
  const auto kernel = by_tanh ? Gates()->gelu_by_tanh : AnyDouble(p) ? PassByGelu : Gates()->gelu;
  return MakeGated(p, p.input, -1, [=](auto& values) {
    const auto half = static_cast<int64_t>(values[1].size());
    const double* const x = values[0].data();
    values[2].resize(values[1].size());  // Gelu itself, which is not wanted
    kernel({x + half, x, nullptr}, half, values[1].data(), values[2].data());
  });
}

void CheckGeGlu(const GeGluParams& p, Checker& checker) {
  const Shape shape = HalfShape(p.self, p.dim, checker);
  if (!checker.ok()) return;
  CheckShape(p.out, shape, checker);
  CheckShape(p.outGelu, shape, checker);
}

Plan PlanGeGlu(const GeGluParams& p, const Product&) {
  const bool left = p.activateLeft;
  const auto kernel = p.approximate == 1 ? Gates()->gelu_by_tanh
                      : AnyDouble(p)     ? PassByGelu
                                         : Gates()->gelu;
  return MakeGated(p, p.self, p.dim, [=](auto& values) {
    const auto half = static_cast<int64_t>(values[1].size());
    const double* const x = values[0].data();
    kernel({left ? x + half : x, left ? x : x + half, nullptr}, half, values[1].data(),
           values[2].data());
  });
}

void CheckGeGluGradient(const GeGluGradientParams& p, Checker& checker) {
  const Shape shape = HalfShape(p.self, p.dim, checker);
  if (!checker.ok()) return;
  CheckShape(p.gradOutput, shape, checker);
  CheckShape(p.gelu, shape, checker);
  CheckShape(p.gradInput, ShapeOf(p.self), checker);
}

Plan PlanGeGluGradient(const GeGluGradientParams& p, const Product&) {
  const bool left = p.activateLeft;
  const auto kernel = p.approximate == 1 ? Gates()->gelu_by_tanh_gradient
                      : AnyDouble(p)     ? GeluGradient
                                         : Gates()->gelu_gradient;
  return MakeGated(p, p.self, p.dim, [=](auto& values) {
    const auto half = static_cast<int64_t>(values[0].size());
    const int64_t gate = left ? 0 : half, passed = half - gate;
    const double* const x = values[1].data();
    double* const out = values[3].data();
    kernel({x + passed, x + gate, values[0].data(), values[2].data()}, half, out + passed,
           out + gate);
  });
}

}  // namespace openaclnn::supporting
