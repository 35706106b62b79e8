// SPDX-License-Identifier: Apache-2.0
// Operators that move elements to another place: IndexSelect, Gather, Stack, Tril, Triu, Repeat and
// Nonzero.
#include <algorithm>

#include "kernels/broadcast.h"
#include "kernels/rows.h"
#include "supporting/operators.h"
#include "supporting/places.h"
#include "supporting/reduction.h"

namespace openaclnn::supporting {
namespace {

/// A copy of all elements of one view to those of another.
struct Copier {
  Walk walk;
  int64_t bytes;

  void operator()(std::byte* from, std::byte* to) const {
    walk.ForRuns({from, to}, [&](const Walk::Pointers& at, int64_t n) {
      CopyStrided(at[0], walk.step(0) / bytes, at[1], walk.step(1) / bytes, n, bytes);
    });
  }
};

void CheckDim(const Params& p, const Operand& self, Checker& checker) {
  checker.That(WrapDim(p.integers[0], self.rank()).has_value(), [&] {
    return Concat("dim value is ", p.integers[0], ", expected a dimension of ", self.name(), ", ",
                  ShapeText(self));
  });
}

/// Rows of matrices of which the part below or above a diagonal stays.
Plan PlanTriangle(const Params& p, bool lower) {
  const Operand &self = p.tensors[0], &out = p.out();
  const int64_t diagonal = p.integers[0], height = self.dim(self.rank() - 2);
  const int64_t width = self.last_dim(), rows = width == 0 ? 0 : *self.count() / width;
  const RowView from(self), to(out);
  const size_t out_at = p.tensors.size() - 1;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(rows, width, [&](int64_t row) {
              const int64_t i = row % height;
              // Columns from here on lie above the diagonal.
              const int64_t edge = std::clamp<int64_t>(i + diagonal + (lower ? 1 : 0), 0, width);
              const int64_t begin = lower ? 0 : edge, end = lower ? edge : width;
              const int64_t bytes = from.element_bytes;
              std::byte* const x = from.Row(buffers.As<std::byte>(0), row);
              std::byte* const y = to.Row(buffers.As<std::byte>(out_at), row);
              if (out_at != 0) {
                CopyStrided(x + begin * from.step * bytes, from.step, y + begin * to.step * bytes,
                            to.step, end - begin, bytes);
              }
              ZeroStrided(y, to.step, begin, bytes);
              ZeroStrided(y + end * to.step * bytes, to.step, width - end, bytes);
            });
            return {};
          }};
}

}  // namespace

// self, index; out.
void CheckIndexSelect(const Params& p, Checker& checker) {
  const Operand &self = p.tensors[0], &index = p.tensors[1];
  CheckDim(p, self, checker);
  checker.RankBetween(index, 0, 1).SameDtype(p.out(), self);
  CheckIndexType(index, checker);
  if (!checker.ok()) return;
  Shape shape = ShapeOf(self);
  if (!shape.empty()) shape[*WrapDim(p.integers[0], self.rank())] = *index.count();
  CheckShape(p.out(), shape, checker);
}

Plan PlanIndexSelect(const Params& p) {
  const Operand &self = p.tensors[0], &index = p.tensors[1], &out = p.out();
  const uint32_t dim = *WrapDim(p.integers[0], self.rank());
  Shape slice = ShapeOf(self);
  const int64_t limit = self.rank() > 0 ? slice[dim] : 1;
  if (self.rank() > 0) slice[dim] = 1;
  const Steps from(ShapeOf(self), self), to(ShapeOf(out), out);
  const int64_t from_step = self.rank() > 0 ? from.bytes[dim] : 0;
  const int64_t to_step = out.rank() > 0 ? to.bytes[dim] : 0;
  const Copier copy = {Walk(slice, {from, to}), BytesOf(self)};
  const IndexReader reader(index, ShapeOf(index));
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> rows;
            Status status = reader.Read(buffers.As<std::byte>(1), limit, false, &rows);
            if (!status.ok()) return status;
            for (size_t k = 0; k < rows.size(); ++k) {
              copy(buffers.As<std::byte>(0) + rows[k] * from_step,
                   buffers.As<std::byte>(2) + static_cast<int64_t>(k) * to_step);
            }
            return {};
          }};
}

// self, index; out: out[…, i, …] = self[…, index[…, i, …], …].
void CheckGather(const Params& p, Checker& checker) {
  const Operand &self = p.tensors[0], &index = p.tensors[1];
  CheckDim(p, self, checker);
  checker.Rank(index, self.rank()).SameDtype(p.out(), self);
  CheckIndexType(index, checker);
  CheckShape(p.out(), ShapeOf(index), checker);
  for (uint32_t i = 0; checker.ok() && i < self.rank(); ++i) {
    checker.That(i == *WrapDim(p.integers[0], self.rank()) || index.dim(i) <= self.dim(i), [&] {
      return Concat("index shape is ", ShapeText(index), ", expected at most that of self, ",
                    ShapeText(self));
    });
  }
}

Plan PlanGather(const Params& p) {
  const Operand &self = p.tensors[0], &index = p.tensors[1], &out = p.out();
  const uint32_t dim = *WrapDim(p.integers[0], self.rank());
  const Shape shape = ShapeOf(index);
  Shape steps(shape.size());
  const int64_t bytes = BytesOf(self);
  for (uint32_t i = 0; i < self.rank(); ++i) {
    steps[i] = i == dim ? 0 : WrappingProduct(self.tensor().strides[i], bytes);
  }
  const int64_t along = self.rank() > 0 ? self.tensor().strides[dim] * bytes : 0;
  const int64_t limit = self.rank() > 0 ? self.dim(dim) : 1;
  const IndexReader reader(index, shape);
  const Walk walk(shape, {Steps(steps), Steps(shape, index), Steps(shape, out)});
  const auto load = LoaderOf<int64_t>(index.dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> checked;
            Status status = reader.Read(buffers.As<std::byte>(1), limit, false, &checked);
            if (!status.ok()) return status;
            const Walk::Pointers origins = {buffers.As<std::byte>(0), buffers.As<std::byte>(1),
                                            buffers.As<std::byte>(2)};
            walk.ForRuns(origins, [&](const Walk::Pointers& at, int64_t n) {
              int64_t rows[Walk::kRun];
              load(at[1], walk.step(1), n, rows);
              for (int64_t i = 0; i < n; ++i) {
                CopyStrided(at[0] + i * walk.step(0) + rows[i] * along, 1, at[2] + i * walk.step(2),
                            1, 1, bytes);
              }
            });
            return {};
          }};
}

void CheckStack(const Params& p, Checker& checker) {
  const Operand& out = p.out();
  CheckDim(p, out, checker);
  checker.RankBetween(out, 1, kMaxRank);
  if (!checker.ok()) return;
  Shape shape = ShapeOf(out);
  const uint32_t dim = *WrapDim(p.integers[0], out.rank());
  checker.That(shape[dim] == static_cast<int64_t>(p.lists[0].size), [&] {
    return Concat("out shape is ", ShapeText(out), ", expected ", p.lists[0].size, " in dimension ",
                  dim);
  });
  shape.erase(shape.begin() + dim);
  for (const Operand& tensor : p.tensors) {
    if (&tensor == &out) continue;
    CheckShape(tensor, shape, checker);
    checker.SameDtype(tensor, out);
  }
}

Plan PlanStack(const Params& p) {
  const Operand& out = p.out();
  const uint32_t dim = *WrapDim(p.integers[0], out.rank());
  Steps to(ShapeOf(out), out);
  const int64_t step = out.tensor().strides[dim] * BytesOf(out);
  to.bytes.erase(to.bytes.begin() + dim);
  std::vector<Copier> copies;
  for (const Operand& tensor : p.tensors) {
    if (&tensor == &out) continue;
    const Shape shape = ShapeOf(tensor);
    copies.push_back({Walk(shape, {Steps(shape, tensor), to}), BytesOf(out)});
  }
  return {0, [=](const Buffers& buffers) -> Status {
            for (size_t k = 0; k < copies.size(); ++k) {
              copies[k](buffers.As<std::byte>(k),
                        buffers.As<std::byte>(copies.size()) + static_cast<int64_t>(k) * step);
            }
            return {};
          }};
}

void CheckTriangle(const Params& p, Checker& checker) {
  checker.RankBetween(p.tensors[0], 2, kMaxRank).SameShapeAndDtype(p.out(), p.tensors[0]);
}

Plan PlanTril(const Params& p) { return PlanTriangle(p, true); }

Plan PlanTriu(const Params& p) { return PlanTriangle(p, false); }

// self; out, the repeats in the list.
void CheckRepeat(const Params& p, Checker& checker) {
  const Operand& self = p.tensors[0];
  const auto repeats = p.arrays[0].values();
  const bool fits = repeats.size() >= self.rank() && repeats.size() <= kMaxRank &&
                    std::all_of(repeats.begin(), repeats.end(), [](int64_t n) { return n >= 0; });
  checker.That(fits, [&] {
    return Concat("repeats value is ", ShapeText(repeats.data(), repeats.size()),
                  ", expected at least ", self.rank(), " and at most 8 numbers, none negative");
  });
  if (!fits) return;
  Shape shape(repeats.begin(), repeats.end());
  const size_t lead = shape.size() - self.rank();
  bool holds = true;
  for (uint32_t i = 0; i < self.rank(); ++i) {
    holds = holds && !__builtin_mul_overflow(shape[lead + i], self.dim(i), &shape[lead + i]);
  }
  checker.That(holds, [&] {
    return Concat("repeats value is ", ShapeText(repeats.data(), repeats.size()),
                  ", expected a result below 2^63 elements");
  });
  checker.SameDtype(p.out(), self);
  CheckShape(p.out(), shape, checker);
}

Plan PlanRepeat(const Params& p) {
  const Operand &self = p.tensors[0], &out = p.out();
  const Shape repeats(p.arrays[0].values().begin(), p.arrays[0].values().end());
  const size_t lead = repeats.size() - self.rank();
  const Steps to(ShapeOf(out), out);
  Shape part_steps = to.bytes, shape(lead, 1);
  for (uint32_t i = 0; i < self.rank(); ++i) {
    part_steps[lead + i] = WrappingProduct(part_steps[lead + i], self.dim(i));
    shape.push_back(self.dim(i));
  }
  const int64_t parts = out.empty() ? 0 : CountOf(repeats);
  const Copier copy = {Walk(shape, {Steps(shape, self), to}), BytesOf(self)};
  const Offsets offsets(repeats.data(), part_steps.data(), static_cast<uint32_t>(repeats.size()));
  return {0, [=](const Buffers& buffers) -> Status {
            for (int64_t part = 0; part < parts; ++part) {
              copy(buffers.As<std::byte>(0), buffers.As<std::byte>(1) + offsets(part));
            }
            return {};
          }};
}

void CheckNonzero(const Params& p, Checker& checker) {
  const Operand &self = p.tensors[0], &out = p.out();
  checker.That(out.dtype() == ACL_INT64, [&] { return DtypeIs(out, "INT64"); });
  checker.That(out.rank() == 2 && out.dim(0) >= *self.count() && out.dim(1) == self.rank(), [&] {
    return Concat("out shape is ", ShapeText(out), ", expected (", *self.count(), ", ", self.rank(),
                  ")");
  });
}

// In order, since each row's place depends on those before it. The number of rows becomes out's
// shape.
Plan PlanNonzero(const Params& p) {
  const Operand &self = p.tensors[0], &out = p.out();
  const Shape shape = ShapeOf(self);
  const int64_t count = *self.count(), self_bytes = BytesOf(self);
  const Offsets from(self, self.rank());
  const int64_t row_step = out.tensor().strides[0], column_step = out.tensor().strides[1];
  const auto load = LoaderOf<double>(self.dtype());
  const aclTensor* handle = p.out_handles[0];
  return {0, [=](const Buffers& buffers) -> Status {
            auto* rows = buffers.As<int64_t>(1);
            int64_t found = 0;
            for (int64_t i = 0; i < count; ++i) {
              double value = 0;
              load(buffers.As<std::byte>(0) + from(i) * self_bytes, 0, 1, &value);
              if (value == 0) continue;
              int64_t rest = i;
              for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
                rows[found * row_step + static_cast<int64_t>(d) * column_step] = rest % shape[d];
              }
              ++found;
            }
            const int64_t dims[] = {found, static_cast<int64_t>(shape.size())};
            Meta()->set_view_shape(handle, dims, 2);
            return {};
          }};
}

// The same with a row for each dimension.
void CheckNonzeroV2(const Params& p, Checker& checker) {
  const Operand &self = p.tensors[0], &out = p.out();
  const int64_t count = *self.count();
  checker.That(out.dtype() == ACL_INT64, [&] { return DtypeIs(out, "INT64"); });
  checker.That(out.rank() == 2 && out.dim(0) == self.rank() && out.dim(1) >= count, [&] {
    return Concat("out shape is ", ShapeText(out), ", expected (", self.rank(), ", ", count, ")");
  });
  if (!checker.ok() || out.empty()) return;
  const int64_t* strides = out.tensor().strides;
  checker.That(strides[1] == 1 && (out.dim(0) == 1 || strides[0] == out.dim(1)), [&] {
    return Concat("out strides is ", ShapeText(strides, 2), ", expected a dense tensor");
  });
}

// The rows are as long as there are places, and follow each other.
Plan PlanNonzeroV2(const Params& p) {
  const Operand& self = p.tensors[0];
  const Shape shape = ShapeOf(self);
  const int64_t count = *self.count(), bytes = BytesOf(self);
  const Offsets from(self, self.rank());
  const auto load = LoaderOf<double>(self.dtype());
  const aclTensor* handle = p.out_handles[0];
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> places;
            for (int64_t i = 0; i < count; ++i) {
              double value = 0;
              load(buffers.As<std::byte>(0) + from(i) * bytes, 0, 1, &value);
              if (value != 0) places.push_back(i);
            }
            auto* to = buffers.As<int64_t>(1);
            int64_t behind = 1;
            for (size_t d = shape.size(); d-- > 0; behind *= shape[d]) {
              for (size_t i = 0; i < places.size(); ++i) {
                to[d * places.size() + i] = places[i] / behind % shape[d];
              }
            }
            const int64_t dims[] = {static_cast<int64_t>(shape.size()),
                                    static_cast<int64_t>(places.size())};
            Meta()->set_view_shape(handle, dims, 2);
            return {};
          }};
}

}  // namespace openaclnn::supporting
