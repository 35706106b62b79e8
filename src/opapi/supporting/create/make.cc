// SPDX-License-Identifier: Apache-2.0
// Tensors that are made: Eye, Linspace, LogSpace, OneHot, and a diagonal that is filled.
#include <algorithm>
#include <cmath>

#include "generated/create.h"
#include "kernels/move/strided.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"
#include "supporting/complex.h"
#include "supporting/create/numbers.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

void CheckSteps(int64_t steps, const Tensor& out, Checker& checker) {
  checker.That(steps >= 0, [&] {
    return Concat("steps value is ", steps, ", expected one that is not negative");
  });
  CheckShape(out, {steps}, checker);
}

/// Numbers from start to end, computed from both ends, so that these are exact.
struct Line {
  /// An integer output has start and end without their fractions.
  Line(const Tensor& out, double from, double to, int64_t number) : count(number) {
    const bool whole = DomainOf(PartOf(out.dtype())) == Domain::kInteger;
    start = whole ? std::trunc(from) : from;
    end = whole ? std::trunc(to) : to;
    step = count > 1 ? (end - start) / static_cast<double>(count - 1) : 0;
  }

  double operator()(int64_t i) const {
    return i < count / 2 || count == 1 ? start + step * static_cast<double>(i)
                                       : end - step * static_cast<double>(count - 1 - i);
  }

  int64_t count;
  double start, end, step;
};

/// Writes number(i), of T, to each element of a vector.
template <class T, class Number>
Plan MakeSteps(const Tensor& out, const Number& number) {
  return MakeNumbers<T>(out, [=](int64_t begin, int64_t n, T* numbers) {
    for (int64_t i = 0; i < n; ++i) numbers[i] = number(begin + i);
  });
}

}  // namespace

void CheckEye(const EyeParams& p, Checker& checker) {
  checker.That(p.n >= 0 && p.m >= 0, [&] {
    return Concat("n value is ", std::min(p.n, p.m), ", expected one that is not negative");
  });
  CheckShape(p.out, {p.n, p.m}, checker);
}

Plan PlanEye(const EyeParams& p, const Product&) {
  const Tensor& out = p.out;
  if (out.empty()) return Nothing();  // of any number of rows
  const int64_t bytes = BytesOf(out), rows = out.dim(0), columns = out.dim(1);
  const RowView view(out);
  const auto one = ElementOf(out.dtype(), Value(int64_t{1}));
  const Place out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(rows, columns, [&](int64_t row) {
              std::byte* const to = view.Row(out_at(buffers), row);
              ZeroStrided(to, view.step, columns, bytes);
              if (row < columns)
                CopyStrided(one.data(), 1, to + row * view.step * bytes, 1, 1, bytes);
            });
            return {};
          }};
}

void CheckLinspace(const LinspaceParams& p, Checker& checker) {
  CheckSteps(p.steps, p.out, checker);
  for (const Value* value : {&p.start, &p.end}) {
    checker.That(!value->complex() || IsComplex(p.out), [&] {
      return Concat(value->name, " dtype is ", DtypeText(value->dtype), ", expected a real type");
    });
  }
}

Plan PlanLinspace(const LinspaceParams& p, const Product&) {
  const Line real(p.out, p.start.number, p.end.number, p.steps);
  if (!IsComplex(p.out)) return MakeSteps<double>(p.out, real);
  const Line imaginary(p.out, p.start.imaginary, p.end.imaginary, p.steps);
  return MakeSteps<Pair>(p.out, [=](int64_t i) { return Pair(real(i), imaginary(i)); });
}

void CheckLogSpace(const LogSpaceParams& p, Checker& checker) {
  CheckSteps(p.steps, p.out, checker);
}

Plan PlanLogSpace(const LogSpaceParams& p, const Product&) {
  const Line line(p.out, p.start.number, p.end.number, p.steps);
  return MakeSteps<double>(p.out,
                           [=, base = p.base](int64_t i) { return std::pow(base, line(i)); });
}

// axis: where the new dimension is.
void CheckOneHot(const OneHotParams& p, Checker& checker) {
  const Tensor &self = p.self, &out = p.out;
  const int64_t classes = p.numClasses;
  checker.That(Contains(kIntegerTypes, self.dtype()),
               [&] { return DtypeIs(self, DtypesText(kIntegerTypes)); });
  for (const Tensor* value : {&p.onValue, &p.offValue}) {
    checker.SameDtype(*value, out).That(value->count() == 1, [&] {
      return Concat(value->name(), " shape is ", ShapeText(*value), ", expected one element");
    });
  }
  const auto axis = WrapDim(p.axis, self.rank() + 1);
  checker.That(classes >= 0 && axis, [&] {
    return Concat(classes < 0 ? "numClasses value is " : "axis value is ",
                  classes < 0 ? classes : p.axis, ", expected ",
                  classes < 0 ? "one that is not negative" : "a dimension of out");
  });
  if (!checker.ok()) return;
  Shape shape = ShapeOf(self);
  shape.insert(shape.begin() + *axis, classes);
  CheckShape(out, shape, checker);
}

// A class that is none has no place, as one_hot of the graph operators has it.
Plan PlanOneHot(const OneHotParams& p, const Product&) {
  const Tensor &self = p.self, &out = p.out;
  if (out.empty()) return Nothing();  // of any number of rows
  const int64_t classes = p.numClasses, bytes = BytesOf(out), self_bytes = BytesOf(self);
  const Extent extent = ExtentOf(out, p.axis);
  const Rows to(out, extent.dim);
  const Offsets from(self, self.rank());
  const auto load = LoaderOf<int64_t>(self.dtype());
  const Place self_at = self.place, out_at = out.place;
  const Place on = p.onValue.place, off = p.offValue.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(extent.rows, classes, [&](int64_t row) {
              int64_t chosen = 0;
              load(self_at(buffers) + from(row) * self_bytes, 0, 1, &chosen);
              std::byte* const at = to.At(out_at(buffers), row);
              for (int64_t i = 0; i < classes; ++i) {
                CopyStrided((i == chosen ? on : off)(buffers), 1, at + i * to.step, 1, 1, bytes);
              }
            });
            return {};
          }};
}

void CheckFillDiagonal(const FillDiagonalParams& p, Checker& checker) {
  const Tensor& self = p.selfRef;
  checker.RankBetween(self, 2, kMaxRank);
  for (uint32_t d = 1; self.rank() > 2 && d < self.rank(); ++d) {
    checker.That(self.dim(d) == self.dim(0), [&] {
      return Concat("selfRef shape is ", ShapeText(self), ", expected equal dimensions");
    });
  }
}

// wrap: whether a tall matrix has a diagonal again below the first.
Plan PlanFillDiagonal(const FillDiagonalParams& p, const Product&) {
  const Tensor& self = p.selfRef;
  if (self.empty()) return Nothing();  // of any number of rows
  const int64_t bytes = BytesOf(self), rows = self.dim(0), columns = self.dim(1);
  int64_t step = 0;
  for (uint32_t d = 0; d < self.rank(); ++d) step += self.tensor().strides[d];
  const bool wraps = p.wrap && self.rank() == 2;
  const int64_t row_step = self.tensor().strides[0], column_step = self.tensor().strides[1];
  const auto value = ElementOf(self.dtype(), p.fillValue);
  const Place self_at = self.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::byte* const to = self_at(buffers);
            for (int64_t row = 0; row < (wraps ? rows : std::min(rows, columns)); ++row) {
              const int64_t column = row % (columns + 1);
              if (column == columns) continue;
              const int64_t offset = wraps ? row * row_step + column * column_step : row * step;
              CopyStrided(value.data(), 1, to + offset * bytes, 1, 1, bytes);
            }
            return {};
          }};
}

}  // namespace openaclnn::supporting
