// SPDX-License-Identifier: Apache-2.0
// CrossEntropyLoss by class and its gradient, with weights and smoothing.
//
// loss_n = -(1 - s) * w[t] * l[t] - s / C * sum w * l, l = log softmax(x_n), t = target_n
#include <span>
#include <string_view>

#include "generated/loss.h"
#include "kernels/rows/double_rows.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"
#include "supporting/elements.h"
#include "supporting/loss/reduction.h"
#include "supporting/softmax_row.h"

namespace openaclnn::supporting {
namespace {

Reduction ReductionOf(const char* name) {
  const std::string_view given = name == nullptr ? "" : name;
  return given == "none" ? kNone : given == "sum" ? kSum : kMean;
}

/// The operands that both directions have.
struct ClassTensors {
  const Tensor &scores, &target, &weight;
  double smoothing, scale_of_zloss;
};

void CheckClasses(const ClassTensors& of, Checker& checker) {
  checker.Rank(of.scores, 2);
  CheckIndexType(of.target, checker);
  if (!checker.ok()) return;
  CheckShape(of.target, {of.scores.dim(0)}, checker);
  if (of.weight.present()) CheckShape(of.weight, {of.scores.dim(1)}, checker);
  checker.That(of.scores.dim(1) > 0, [&] {
    return Concat(of.scores.name(), " shape is ", ShapeText(of.scores),
                  ", expected a class at least");
  });
  checker.That(of.smoothing >= 0 && of.smoothing < 1, [&] {
    return Concat("labelSmoothing value is ", of.smoothing, ", expected 0 <= value < 1");
  });
  checker.That(of.scale_of_zloss == 0, [&] {
    return Concat("lseSquareScaleForZloss value is ", of.scale_of_zloss,
                  ", expected 0: there is no z-loss");
  });
}

/// A loss for each row, or one.
void CheckLosses(const Tensor& loss, const Tensor& scores, Reduction reduction, Checker& checker) {
  if (!checker.ok()) return;
  if (reduction == kNone) return CheckShape(loss, {scores.dim(0)}, checker);
  checker.That(loss.count() == 1, [&] {
    return Concat(loss.name(), " shape is ", ShapeText(loss), ", expected one element");
  });
}

/// The operands beside the scores, as a task reads them.
struct Classes {
  Classes(const ClassTensors& of, int64_t ignored_target)
      : rows(of.scores.dim(0)),
        count(of.scores.dim(1)),
        ignored(ignored_target),
        smoothing(of.smoothing),
        target(of.target, 0),
        weight(of.weight, 1) {}

  /// Values in memory, read once for all rows.
  struct Given {
    /// The weight of a row's class; 0 if it is ignored.
    double WeightOf(int64_t row) const { return factors[static_cast<size_t>(row)]; }
    int64_t TargetOf(int64_t row) const { return targets[static_cast<size_t>(row)]; }

    std::vector<int64_t> targets;
    std::vector<double> weights, factors;  // of classes, and of rows
    double total = 0;                      // the sum of the factors
  };

  Status Read(const Buffers& buffers, Given* given) const {
    given->targets = target.AllWhole(buffers);
    given->weights = weight.All(buffers);
    given->weights.resize(static_cast<size_t>(count), 1);  // what is absent
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t value = given->TargetOf(i);
      const bool used = value != ignored;
      if (used && (value < 0 || value >= count)) {
        return Status(507035, Concat("target value ", i, " is ", value, ", expected 0 <= value < ",
                                     count, ", or ", ignored, ", which is ignored"));
      }
      given->factors.push_back(used ? given->weights[static_cast<size_t>(value)] : 0);
    }
    given->total = SumOf(given->factors);
    return {};
  }

  static double SumOf(const std::vector<double>& values) {
    const auto n = static_cast<int64_t>(values.size());
    return OPENACLNN_TARGET_SELECT(kDoubleRowKernels)->sum.row(values.data(), n);
  }

  int64_t rows, count, ignored;
  double smoothing;
  Elements target, weight;
};

/// Rows of a tensor in double.
struct Scores {
  explicit Scores(const Tensor& tensor)
      : rows(tensor, 1),
        width(tensor.dim(1)),
        place(tensor.place),
        load_row(LoaderOf<double>(tensor.dtype())),
        store_row(StorerOf<double>(tensor.dtype())) {}

  void Load(const Buffers& buffers, int64_t row, std::vector<double>* values) const {
    load_row(rows.At(place(buffers), row), rows.step, width, values->data());
  }
  void Store(const Buffers& buffers, int64_t row, const std::vector<double>& values) const {
    store_row(values.data(), width, rows.At(place(buffers), row), rows.step);
  }

  Rows rows;
  int64_t width;
  Place place;
  LoadRow<double> load_row;
  StoreRow<double> store_row;
};

ClassTensors TensorsOf(const CrossEntropyParams& p) {
  return {p.input, p.target, p.weightOptional, p.labelSmoothing, p.lseSquareScaleForZloss};
}

ClassTensors TensorsOf(const CrossEntropyGradientParams& p) {
  return {p.logProb, p.target, p.weightOptional, p.labelSmoothing, p.lseSquareScaleForZloss};
}

}  // namespace

void CheckCrossEntropy(const CrossEntropyParams& p, Checker& checker) {
  CheckClasses(TensorsOf(p), checker);
  CheckShape(p.logProbOut, ShapeOf(p.input), checker);
  CheckLosses(p.lossOut, p.input, ReductionOf(p.reductionOptional), checker);
  checker.That(!p.returnZloss, [] {
    return Concat("returnZloss value is true, expected false: there is no z-loss");
  });
}

Plan PlanCrossEntropy(const CrossEntropyParams& p, const Product&) {
  const Classes classes(TensorsOf(p), p.ignoreIndex);
  const Scores scores(p.input), logarithms(p.logProbOut);
  const Elements loss(p.lossOut, 0);
  const Reduction reduction = ReductionOf(p.reductionOptional);
  return {0, [=](const Buffers& buffers) -> Status {
            Classes::Given given;
            Status status = classes.Read(buffers, &given);
            if (!status.ok()) return status;
            std::vector<double> losses(given.targets.size());
            ParallelRows(classes.rows, classes.count, [&](int64_t i) {
              SoftmaxRow row(classes.count);
              scores.Load(buffers, i, &row.x);
              row.TakeLogarithms();
              logarithms.Store(buffers, i, row.x);
              const int64_t target = given.TargetOf(i);
              if (target == classes.ignored) return;
              const double s = classes.smoothing;
              double value = -(1 - s) * given.WeightOf(i) * row.x[static_cast<size_t>(target)];
              if (s != 0) {
                value -= s / static_cast<double>(classes.count) * row.Products(given.weights);
              }
              losses[static_cast<size_t>(i)] = value;
            });
            if (reduction == kNone) {
              loss.SetAll(buffers, losses);
            } else {
              const double sum = Classes::SumOf(losses);
              loss.Set(buffers, 0, reduction == kMean ? sum / given.total : sum);
            }
            return {};
          }};
}

void CheckCrossEntropyGradient(const CrossEntropyGradientParams& p, Checker& checker) {
  CheckClasses(TensorsOf(p), checker);
  CheckShape(p.out, ShapeOf(p.logProb), checker);
  CheckLosses(p.gradLoss, p.logProb, ReductionOf(p.reductionOptional), checker);
}

// By x_j: g * ((1 - s) * w[t] * (p_j - [j = t]) + s / C * (p_j * sum w - w[j])), p = softmax(x).
Plan PlanCrossEntropyGradient(const CrossEntropyGradientParams& p, const Product&) {
  const Classes classes(TensorsOf(p), p.ignoreIndex);
  const Scores logarithms(p.logProb), slopes(p.out);
  const Elements grad(p.gradLoss, 0);
  const Reduction reduction = ReductionOf(p.reductionOptional);
  return {0, [=](const Buffers& buffers) -> Status {
            Classes::Given given;
            Status status = classes.Read(buffers, &given);
            if (!status.ok()) return status;
            const double smooth = classes.smoothing / static_cast<double>(classes.count);
            const double all = Classes::SumOf(given.weights);
            ParallelRows(classes.rows, classes.count, [&](int64_t i) {
              SoftmaxRow row(classes.count);
              const int64_t target = given.TargetOf(i);
              if (target == classes.ignored) return slopes.Store(buffers, i, row.powers);
              logarithms.Load(buffers, i, &row.x);
              const double shift = std::max(row.Largest(), 0.0);  // logarithms above 0 are none
              row.TakePowers(shift);
              const double scale = std::exp(shift);
              double g = grad.Get(buffers, reduction == kNone ? i : 0);
              if (reduction == kMean) g /= given.total;
              const double own = g * (1 - classes.smoothing) * given.WeightOf(i);
              const double more = g * smooth;
              for (size_t j = 0; j < row.powers.size(); ++j) {
                const double power = row.powers[j] * scale;
                const double hit = static_cast<int64_t>(j) == target ? power - 1 : power;
                row.powers[j] = own * hit;
                if (more != 0) row.powers[j] += more * (power * all - given.weights[j]);
              }
              slopes.Store(buffers, i, row.powers);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
