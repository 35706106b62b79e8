// SPDX-License-Identifier: Apache-2.0
// Tensors that are made: Eye, Linspace, OneHot, and a diagonal that is filled.
#include <algorithm>

#include "kernels/rows.h"
#include "kernels/strided.h"
#include "supporting/along.h"
#include "supporting/operators.h"

namespace openaclnn::supporting {
namespace {

/// A value as an element of a type.
using Element = std::array<std::byte, 8>;

Element ElementOf(int32_t dtype, const Value& value) {
  Element element{};
  if (DomainOf(dtype) == Domain::kInteger) {
    StorerOf<int64_t>(dtype)(&value.integer, 1, element.data(), 0);
  } else {
    StorerOf<double>(dtype)(&value.number, 1, element.data(), 0);
  }
  return element;
}

}  // namespace

// n, m.
void CheckEye(const Params& p, Checker& checker) {
  checker.That(p.integers[0] >= 0 && p.integers[1] >= 0, [&] {
    return Concat("n value is ", std::min(p.integers[0], p.integers[1]),
                  ", expected one that is not negative");
  });
  CheckShape(p.out(), {p.integers[0], p.integers[1]}, checker);
}

Plan PlanEye(const Params& p) {
  const Operand& out = p.out();
  const int64_t bytes = BytesOf(out), rows = out.dim(0), columns = out.dim(1);
  const RowView view(out);
  const Element one = ElementOf(out.dtype(), Value(int64_t{1}));
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(rows, columns, [&](int64_t row) {
              std::byte* const to = view.Row(buffers.As<std::byte>(0), row);
              ZeroStrided(to, view.step, columns, bytes);
              if (row < columns)
                CopyStrided(one.data(), 1, to + row * view.step * bytes, 1, 1, bytes);
            });
            return {};
          }};
}

void CheckLinspace(const Params& p, Checker& checker) {
  checker.That(p.integers[0] >= 0, [&] {
    return Concat("steps value is ", p.integers[0], ", expected one that is not negative");
  });
  CheckShape(p.out(), {p.integers[0]}, checker);
}

// From both ends, so that they are exact.
Plan PlanLinspace(const Params& p) {
  const Operand& out = p.out();
  const double start = p.values[0].number, end = p.values[1].number;
  const int64_t steps = p.integers[0], bytes = BytesOf(out);
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  const Offsets to(out, out.rank());
  const auto store = StorerOf<double>(out.dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(steps, 1, [&](int64_t i) {
              const double value = i < steps / 2 || steps == 1
                                       ? start + step * static_cast<double>(i)
                                       : end - step * static_cast<double>(steps - 1 - i);
              store(&value, 1, buffers.As<std::byte>(0) + to(i) * bytes, 0);
            });
            return {};
          }};
}

// self, onValue, offValue; out. numClasses, axis, where the new dimension is.
void CheckOneHot(const Params& p, Checker& checker) {
  const Operand &self = p.tensors[0], &out = p.out();
  const int64_t classes = p.integers[0];
  checker.That(Contains(kIntegerTypes, self.dtype()),
               [&] { return DtypeIs(self, DtypesText(kIntegerTypes)); });
  for (size_t i = 1; i < 3; ++i) {
    const Operand& value = p.tensors[i];
    checker.SameDtype(value, out).That(value.count() == 1, [&] {
      return Concat(value.name(), " shape is ", ShapeText(value), ", expected one element");
    });
  }
  const auto axis = WrapDim(p.integers[1], self.rank() + 1);
  checker.That(classes >= 0 && axis, [&] {
    return Concat(classes < 0 ? "numClasses value is " : "axis value is ",
                  classes < 0 ? classes : p.integers[1], ", expected ",
                  classes < 0 ? "one that is not negative" : "a dimension of out");
  });
  if (!checker.ok()) return;
  Shape shape = ShapeOf(self);
  shape.insert(shape.begin() + *axis, classes);
  CheckShape(out, shape, checker);
}

// A class that is none has no place, as one_hot of the graph operators has it.
Plan PlanOneHot(const Params& p) {
  const Operand &self = p.tensors[0], &out = p.out();
  const int64_t classes = p.integers[0], bytes = BytesOf(out), self_bytes = BytesOf(self);
  const Extent extent = ExtentOf(out, p.integers[1]);
  const Rows to(out, extent.dim);
  const Offsets from(self, self.rank());
  const auto load = LoaderOf<int64_t>(self.dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(extent.rows, classes, [&](int64_t row) {
              int64_t chosen = 0;
              load(buffers.As<std::byte>(0) + from(row) * self_bytes, 0, 1, &chosen);
              std::byte* const at = to.At(buffers.As<std::byte>(3), row);
              for (int64_t i = 0; i < classes; ++i) {
                CopyStrided(buffers.As<std::byte>(i == chosen ? 1 : 2), 1, at + i * to.step, 1, 1,
                            bytes);
              }
            });
            return {};
          }};
}

// In place. The value; whether a tall matrix has a diagonal again below the first.
void CheckFillDiagonal(const Params& p, Checker& checker) {
  const Operand& self = p.out();
  checker.RankBetween(self, 2, kMaxRank);
  for (uint32_t d = 1; self.rank() > 2 && d < self.rank(); ++d) {
    checker.That(self.dim(d) == self.dim(0), [&] {
      return Concat("selfRef shape is ", ShapeText(self), ", expected equal dimensions");
    });
  }
}

Plan PlanFillDiagonal(const Params& p) {
  const Operand& self = p.out();
  const int64_t bytes = BytesOf(self), rows = self.dim(0), columns = self.dim(1);
  int64_t step = 0;
  for (uint32_t d = 0; d < self.rank(); ++d) step += self.tensor().strides[d];
  const bool wraps = p.integers[0] != 0 && self.rank() == 2;
  const int64_t row_step = self.tensor().strides[0], column_step = self.tensor().strides[1];
  const Element value = ElementOf(self.dtype(), p.values[0]);
  return {0, [=](const Buffers& buffers) -> Status {
            auto* const to = buffers.As<std::byte>(0);
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
