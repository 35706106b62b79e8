// SPDX-License-Identifier: Apache-2.0
// MultilabelMarginLoss: how far the classes that targets name are above all others.
#include <algorithm>
#include <vector>

#include "generated/loss.h"
#include "kernels/move/strided.h"
#include "supporting/along.h"
#include "supporting/loss/reduction.h"

namespace openaclnn::supporting {
namespace {

int64_t ClassesOf(const Tensor& self) { return self.rank() > 0 ? self.last_dim() : 1; }

/// Targets of a row up to the first that is -1.
Status LoadTargets(const Rows& rows, LoadRow<int64_t> load, std::byte* origin, int64_t row,
                   std::vector<int64_t>* targets) {
  const auto classes = static_cast<int64_t>(targets->size());
  load(rows.At(origin, row), rows.step, classes, targets->data());
  for (int64_t i = 0; i < classes; ++i) {
    const int64_t value = (*targets)[static_cast<size_t>(i)];
    if (value == -1) {
      targets->resize(static_cast<size_t>(i));
      return {};
    }
    if (value >= 0 && value < classes) continue;
    return Status(507035, Concat("target value ", row * classes + i, " is ", value,
                                 ", expected 0 <= value < ", classes, ", or -1, which ends a row"));
  }
  return {};
}

/// The sum over targets and all that are none, before it is divided by the number of classes.
double LossOf(const std::vector<double>& scores, const std::vector<int64_t>& targets,
              const std::vector<double>& is_target) {
  TreeSum<double> sum;
  for (const int64_t target : targets) {
    const double least = scores[static_cast<size_t>(target)];
    for (size_t i = 0; i < scores.size(); ++i) {
      if (is_target[i] != 0) continue;
      const double short_of = 1 - least + scores[i];
      sum.Add(short_of > 0 || IsNan(short_of) ? short_of : 0);
    }
  }
  return sum.Total();
}

}  // namespace

void CheckMultilabelMargin(const MultilabelMarginParams& p, Checker& checker) {
  checker.RankBetween(p.self, 0, 2).SameDtype(p.out, p.self).SameDtype(p.isTarget, p.self);
  checker.That(Contains(kRealTypes, p.self.dtype()),
               [&] { return DtypeIs(p.self, DtypesText(kRealTypes)); });
  CheckIndexType(p.target, checker);
  if (!checker.ok()) return;
  CheckShape(p.target, ShapeOf(p.self), checker);
  checker.That(ClassesOf(p.self) > 0, [&] {
    return Concat("self shape is ", ShapeText(p.self), ", expected a class at least");
  });
  const bool each = p.reduction == kNone && p.self.rank() == 2;
  CheckShape(p.out, each ? Shape{p.self.dim(0)} : Shape{}, checker);
  CheckShape(p.isTarget, ShapeOf(p.self), checker);
}

Plan PlanMultilabelMargin(const MultilabelMarginParams& p, const Product&) {
  const uint32_t last = std::max<uint32_t>(p.self.rank(), 1) - 1;
  const Rows scores(p.self, last), targets(p.target, last), told(p.isTarget, last);
  const Offsets to(p.out, p.out.rank());
  return {0,
          [=, rows = p.self.rank() == 2 ? p.self.dim(0) : 1, classes = ClassesOf(p.self),
           reduction = p.reduction, self = p.self.place, target = p.target.place, out = p.out.place,
           is_target = p.isTarget.place, bytes = BytesOf(p.out),
           load = LoaderOf<double>(p.self.dtype()), read = LoaderOf<int64_t>(p.target.dtype()),
           store = StorerOf<double>(p.out.dtype())](const Buffers& buffers) -> Status {
            std::vector<std::vector<int64_t>> named;  // by row, before anything is written
            for (int64_t row = 0; row < rows; ++row) {
              auto& own = named.emplace_back(static_cast<size_t>(classes));
              Status status = LoadTargets(targets, read, target(buffers), row, &own);
              if (!status.ok()) return status;
            }
            std::vector<double> losses(static_cast<size_t>(rows));
            ParallelRows(rows, classes * classes, [&](int64_t row) {
              const auto count = static_cast<size_t>(classes);
              std::vector<double> values(count), flags(count);
              load(scores.At(self(buffers), row), scores.step, classes, values.data());
              for (const int64_t each : named[static_cast<size_t>(row)]) {
                flags[static_cast<size_t>(each)] = 1;
              }
              store(flags.data(), classes, told.At(is_target(buffers), row), told.step);
              losses[static_cast<size_t>(row)] =
                  LossOf(values, named[static_cast<size_t>(row)], flags) /
                  static_cast<double>(classes);
            });
            if (reduction == kNone) {
              for (int64_t row = 0; row < rows; ++row) {
                store(&losses[static_cast<size_t>(row)], 1, out(buffers) + to(row) * bytes, 0);
              }
              return {};
            }
            TreeSum<double> sum;
            for (const double loss : losses) sum.Add(loss);
            const double total = sum.Total() / (reduction == kMean ? static_cast<double>(rows) : 1);
            store(&total, 1, out(buffers), 0);
            return {};
          }};
}

}  // namespace openaclnn::supporting
