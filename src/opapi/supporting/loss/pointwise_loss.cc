// SPDX-License-Identifier: Apache-2.0
// Losses of one element each, left so, summed or averaged, and their gradients.
#include <algorithm>

#include "generated/loss.h"
#include "kernels/move/broadcast.h"
#include "kernels/rows/double_rows.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "kernels/work/scratch.h"
#include "supporting/complex.h"
#include "supporting/elementwise.h"
#include "supporting/loss/reduction.h"
#include "supporting/loss/whole_loss.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

constexpr size_t kMaxInputs = 5;

Shape CommonShape(const Params& p, Checker* checker) {
  Shape shape;
  for (const Operand& tensor : p.tensors) {
    if (tensor.role() == OPENACLNN_OUTPUT || !tensor.present()) continue;
    MeetShape(tensor, &shape, checker);
  }
  return shape;
}

/// Ones, in place of an input that is left out.
template <class T>
alignas(64) constexpr auto kOnes = [] {
  std::array<T, Walk::kRun> ones{};
  ones.fill(1);
  return ones;
}();

/// Whether float has the numbers of all inputs.
bool AreFloats(const Params& p) {
  for (const Operand& tensor : p.tensors) {
    if (tensor.role() == OPENACLNN_OUTPUT || !tensor.present()) continue;
    if (DomainOf(tensor.dtype()) != Domain::kFloat) return false;
  }
  return true;
}

/// The inputs, of type T where they are not yet, and the formula's values, in double.
template <class T>
struct Elements {
  using Loop = void (*)(const T* const* in, const double* scalars, int64_t n, double* out);
  static constexpr int32_t kDtype = std::is_same_v<T, float> ? ACL_FLOAT : ACL_DOUBLE;

  explicit Elements(const Params& p) : inputs(static_cast<size_t>(p.row.expression()->inputs)) {
    const Expression& expression = *p.row.expression();
    if constexpr (kDtype == ACL_FLOAT) {
      loop = expression.widened;
    } else {
      loop = expression.float64;
    }
    const Shape shape = CommonShape(p, nullptr);
    std::vector<Steps> steps;
    std::vector<int32_t> dtypes;
    for (size_t i = 0; i < p.tensors.size(); ++i) {
      const Operand& tensor = p.tensors[i];
      if (tensor.role() == OPENACLNN_OUTPUT || !tensor.present()) continue;
      steps.emplace_back(shape, tensor);
      dtypes.push_back(tensor.dtype());
      given.push_back(i);
    }
    out = p.first_output().place;
    if (ShapeOf(p.first_output()) == shape) {
      steps.emplace_back(shape, p.first_output());
      has_out = true;
    }
    walk = Walk(shape, steps);
    for (size_t k = 0; k < given.size(); ++k) {
      const bool dense = dtypes[k] == kDtype && walk.step(k) == sizeof(T);
      if (!dense) load[k] = LoaderOf<T>(dtypes[k]);
    }
    round = inputs - given.size() == expression.optional ? expression.plain : expression.rounded;
    for (size_t i = 0; i < p.values.size(); ++i) scalars[i] = p.values[i].number;
  }

  Walk::Pointers Origins(const Buffers& buffers) const {
    Walk::Pointers origins{};
    for (size_t k = 0; k < given.size(); ++k) origins[k] = buffers.As<std::byte>(given[k]);
    if (has_out) origins[given.size()] = out(buffers);
    return origins;
  }

  /// Computes at most kRun elements.
  void Compute(const Walk::Pointers& at, int64_t n, double* values) const {
    WithInputs(at, n, [&](const T* const* in) { loop(in, scalars.data(), n, values); });
  }

  /// Computes at most kRun elements, divided and rounded.
  void Round(const Walk::Pointers& at, int64_t n, double divisor, float* values) const {
    WithInputs(at, n, [&](const T* const* in) { round(in, scalars.data(), divisor, n, values); });
  }

  template <class Body>
  void WithInputs(const Walk::Pointers& at, int64_t n, const Body& body) const {
    alignas(64) T rows[kMaxInputs][Walk::kRun];
    const T* in[kMaxInputs];
    size_t k = 0;
    for (size_t i = 0; i < inputs; ++i) {
      if (k == given.size() || given[k] != i) {
        in[i] = kOnes<T>.data();
      } else if (load[k] == nullptr) {
        in[i] = reinterpret_cast<const T*>(at[k++]);
      } else {
        load[k](at[k], walk.step(k), n, rows[i]);
        in[i] = rows[i];
        ++k;
      }
    }
    body(in);
  }

  size_t inputs;  // of the formula
  Loop loop;
  Expression::Rounding round;
  Walk walk;
  std::vector<size_t> given;                  // inputs by their place in the call
  std::array<LoadRow<T>, kMaxInputs> load{};  // none where the formula reads the view itself
  Scalars<double> scalars{};
  Place out;
  bool has_out = false;  // the walk goes over the output too
};

/// Every value, divided, to an output of floats, in one loop.
Plan RoundValues(const Elements<float>& elements, double divisor) {
  return {0, [=](const Buffers& buffers) -> Status {
            elements.walk.ForRuns(
                elements.Origins(buffers), [&](const Walk::Pointers& at, int64_t n) {
                  auto* const out = reinterpret_cast<float*>(at[elements.given.size()]);
                  elements.Round(at, n, divisor, out);
                });
            return {};
          }};
}

/// Every value, divided, to the output.
template <class T>
Plan MakeValues(const Params& p, double divisor) {
  const Elements<T> elements(p);
  const int32_t dtype = p.first_output().dtype();
  if constexpr (std::is_same_v<T, float>) {
    const bool dense = elements.walk.step(elements.given.size()) == sizeof(float);
    if (dtype == ACL_FLOAT && dense) return RoundValues(elements, divisor);
  }
  const auto divide = OPENACLNN_TARGET_SELECT(kDoubleRowKernels)->divide;
  const auto store = StorerOf<double>(dtype);
  return {0, [=](const Buffers& buffers) -> Status {
            const Walk& walk = elements.walk;
            walk.ForRuns(elements.Origins(buffers), [&](const Walk::Pointers& at, int64_t n) {
              double values[Walk::kRun];
              elements.Compute(at, n, values);
              if (divisor != 1) divide(values, divisor, n);
              const size_t out = elements.given.size();
              store(values, n, at[out], walk.step(out));
            });
            return {};
          }};
}

/// The sum of all values, which is the tree of a row of them, divided.
template <class T>
Plan MakeSum(const Params& p, double divisor) {
  const Elements<T> elements(p);
  const auto store = StorerOf<double>(p.first_output().dtype());
  const RowFold<double>& sum = OPENACLNN_TARGET_SELECT(kDoubleRowKernels)->sum;
  const int64_t count = elements.walk.count(), blocks = DivideUp(count, kRowBlock);
  return {ScratchBytes(__int128{blocks} * sizeof(double)), [=](const Buffers& buffers) -> Status {
            auto* const totals = static_cast<double*>(buffers.workspace);
            const Walk::Pointers origins = elements.Origins(buffers);
            ParallelRows(blocks, kRowBlock, [&](int64_t block) {
              const int64_t begin = block * kRowBlock, end = std::min(begin + kRowBlock, count);
              double values[kRowBlock];
              int64_t done = 0;
              elements.walk.ForRunsOf(begin, end, Walk::kRun, origins,
                                      [&](const Walk::Pointers& at, int64_t n) {
                                        elements.Compute(at, n, values + done);
                                        done += n;
                                      });
              totals[block] = sum.row(values, end - begin);
            });
            const auto total_of = [totals](int64_t block) { return totals[block]; };
            const double total = (blocks > 0 ? SumParts(0, blocks, total_of) : 0) / divisor;
            store(&total, 1, elements.out(buffers), 0);
            return {};
          }};
}

Plan PlanValues(const Params& p, double divisor) {
  return AreFloats(p) ? MakeValues<float>(p, divisor) : MakeValues<double>(p, divisor);
}

Plan PlanTotal(const Params& p, double divisor) {
  return AreFloats(p) ? MakeSum<float>(p, divisor) : MakeSum<double>(p, divisor);
}

/// The divisor of a mean.
double Divisor(const Params& p, int64_t reduction) {
  return reduction == kMean ? static_cast<double>(CountOf(CommonShape(p, nullptr))) : 1.0;
}

}  // namespace

void CheckLoss(const LossParams& p, Checker& checker) {
  const Shape shape = CommonShape(p, &checker);
  const Tensor& out = p.first_output();
  for (const Tensor& tensor : p.tensors) {
    if (tensor.role() != OPENACLNN_OUTPUT && tensor.present()) CheckHolds(tensor, out, checker);
  }
  if (p.reduction == kNone) return CheckShape(out, shape, checker);
  const Tensor& self = p.tensors[0];
  // No tensor has this shape.
  checker.That(ElementCount(shape.data(), static_cast<uint32_t>(shape.size())).has_value(), [&] {
    return Concat(self.name(), " shape is ", ShapeText(self), ", expected a result below 2^63 ",
                  "elements where all are broadcast to ",
                  ShapeText(shape.data(), static_cast<uint32_t>(shape.size())));
  });
  checker.That(out.count() == 1, [&] {
    return Concat(out.name(), " shape is ", ShapeText(out), ", expected one element");
  });
}

Plan PlanLoss(const LossParams& p, const Product&) {
  if (Plan plan = PlanWholeLoss(p); plan.work) return plan;
  return p.reduction == kNone ? PlanValues(p, 1) : PlanTotal(p, Divisor(p, p.reduction));
}

void CheckLossGradient(const LossGradientParams& p, Checker& checker) {
  const Shape shape = CommonShape(p, &checker);
  if (checker.ok()) CheckShape(p.first_output(), shape, checker);
}

Plan PlanLossGradient(const LossGradientParams& p, const Product&) {
  return PlanValues(p, Divisor(p, p.reduction));
}

}  // namespace openaclnn::supporting
