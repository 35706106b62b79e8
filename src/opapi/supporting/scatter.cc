// SPDX-License-Identifier: Apache-2.0
// Operators that write to places which an index names: Scatter, ScatterAdd, IndexAdd, IndexCopy,
// IndexFill and MaskedScatter.
#include "supporting/operators.h"
#include "supporting/places.h"
#include "supporting/reduction.h"

namespace openaclnn::supporting {
namespace {

/// Of a call whose output begins as its first tensor. In place it is that tensor.
struct Target {
  explicit Target(const Params& p) : out(p.in_place() ? 0 : p.tensors.size() - 1) {
    if (out != 0) begin.emplace(p.tensors[0], p.tensors[out]);
  }

  std::byte* Prepare(const Buffers& buffers) const {
    if (begin) (*begin)(buffers.As<std::byte>(0), buffers.As<std::byte>(out));
    return buffers.As<std::byte>(out);
  }

  size_t out;
  std::optional<Transfer> begin;
};

/// Places along a dimension: those of a shape with each coordinate of the dimension replaced.
struct Along {
  Along(const Operand& out, const Shape& shape, uint32_t dim) {
    Shape steps(out.tensor().strides, out.tensor().strides + out.rank());
    if (out.rank() > 0) {
      step = std::exchange(steps[dim], 0);
      limit = out.dim(dim);
    }
    base = Offsets(shape.data(), steps.data(), static_cast<uint32_t>(shape.size()));
    count = CountOf(shape);
  }

  Offsets base;
  int64_t step = 0, limit = 1, count = 0;
};

const Operand& OutOf(const Params& p) { return p.in_place() ? p.tensors[0] : p.tensors.back(); }

void CheckDim(const Params& p, Checker& checker) {
  checker.That(WrapDim(p.integers[0], p.tensors[0].rank()).has_value(), [&] {
    return Concat("dim value is ", p.integers[0], ", expected a dimension of ", p.tensors[0].name(),
                  ", ", ShapeText(p.tensors[0]));
  });
}

uint32_t DimOf(const Params& p) { return *WrapDim(p.integers[0], p.tensors[0].rank()); }

/// index: at most self's shape apart from the dimension, and at most the shape of the values.
void CheckScattered(const Params& p, const Operand* values, Checker& checker) {
  const Operand &self = p.tensors[0], &index = p.tensors[1];
  CheckDim(p, checker);
  CheckIndexType(index, checker);
  checker.SameShapeAndDtype(OutOf(p), self);
  const bool none = index.empty();
  checker.That(none || index.rank() == self.rank() || self.rank() + index.rank() == 1, [&] {
    return Concat("index shape is ", ShapeText(index), ", expected the rank of ", self.name(), ", ",
                  ShapeText(self));
  });
  for (uint32_t d = 0; checker.ok() && !none && d < index.rank(); ++d) {
    const bool in_self = d == DimOf(p) || self.rank() == 0 || index.dim(d) <= self.dim(d);
    const bool in_values =
        values == nullptr ||
        (values->rank() == index.rank() ? index.dim(d) <= values->dim(d) : index.count() == 1);
    checker.That(in_self && in_values, [&] {
      return Concat("index shape is ", ShapeText(index), ", expected at most ", self.name(), "'s, ",
                    ShapeText(self), ", and that of the values");
    });
  }
  if (values != nullptr) checker.SameDtype(*values, self);
}

Plan MakeScatter(const Params& p, Placer placer) {
  const Operand& index = p.tensors[1];
  const Target target(p);
  const Shape shape = ShapeOf(index);
  if (index.empty()) {
    return {0, [=](const Buffers& buffers) -> Status {
              target.Prepare(buffers);
              return {};
            }};
  }
  const Operand& out = OutOf(p);
  // An index of one element into a scalar.
  const Along along(out, out.rank() == 0 ? Shape() : shape, DimOf(p));
  const IndexReader reader(index, shape);
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> places;
            Status status = reader.Read(buffers.As<std::byte>(1), along.limit, false, &places);
            if (!status.ok()) return status;
            for (int64_t i = 0; i < along.count; ++i) {
              int64_t& place = places[static_cast<size_t>(i)];
              place = along.base(i) + place * along.step;
            }
            std::byte* const out_at = target.Prepare(buffers);
            placer(places, buffers.As<std::byte>(2), out_at);
            return {};
          }};
}

Placing PlacingOf(const Params& p) { return static_cast<Placing>(p.integers[1]); }

/// self's shape with the length of the index in the dimension.
Shape SliceShape(const Params& p, int64_t length) {
  Shape shape = ShapeOf(p.tensors[0]);
  if (!shape.empty()) shape[DimOf(p)] = length;
  return shape;
}

void CheckSlices(const Params& p, const Operand& index, Checker& checker) {
  CheckDim(p, checker);
  checker.RankBetween(index, 0, 1).SameShapeAndDtype(OutOf(p), p.tensors[0]);
  CheckIndexType(index, checker);
}

/// The places of slices of self that `rows` names.
std::vector<int64_t> PlacesOf(const Along& along, int64_t inner, const std::vector<int64_t>& rows) {
  std::vector<int64_t> places(static_cast<size_t>(along.count));
  const auto length = static_cast<int64_t>(rows.size());
  for (int64_t i = 0; i < along.count; ++i) {
    const int64_t row = rows[static_cast<size_t>(i / inner % length)];
    places[static_cast<size_t>(i)] = along.base(i) + row * along.step;
  }
  return places;
}

/// Elements of self behind each index of the dimension.
int64_t InnerOf(const Params& p) {
  int64_t inner = 1;
  for (uint32_t d = DimOf(p) + 1; d < p.tensors[0].rank(); ++d) inner *= p.tensors[0].dim(d);
  return inner;
}

Plan MakeSlices(const Params& p, Placer placer) {
  const Operand& index = p.tensors[1];
  const Target target(p);
  const int64_t length = *index.count(), inner = InnerOf(p);
  const Along along(OutOf(p), SliceShape(p, length), DimOf(p));
  const IndexReader reader(index, ShapeOf(index));
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> rows;
            Status status = reader.Read(buffers.As<std::byte>(1), along.limit, true, &rows);
            if (!status.ok()) return status;
            std::byte* const out = target.Prepare(buffers);
            if (!rows.empty()) placer(PlacesOf(along, inner, rows), buffers.As<std::byte>(2), out);
            return {};
          }};
}

}  // namespace

// self, index, (src); out. dim, reduction: none (0), add (1), multiply (2).
void CheckScatter(const Params& p, Checker& checker) {
  CheckScattered(p, p.values.empty() ? &p.tensors[2] : nullptr, checker);
  checker.That(p.integers[1] >= 0 && p.integers[1] <= 2, [&] {
    return Concat("reduction value is ", p.integers[1],
                  ", expected none (0), add (1) or multiply (2)");
  });
}

Plan PlanScatter(const Params& p) {
  const Shape shape = ShapeOf(p.tensors[1]);
  return MakeScatter(p, p.values.empty() ? Placer(OutOf(p), PlacingOf(p), p.tensors[2], shape)
                                         : Placer(OutOf(p), PlacingOf(p), p.values[0]));
}

void CheckScatterAdd(const Params& p, Checker& checker) {
  CheckScattered(p, &p.tensors[2], checker);
}

Plan PlanScatterAdd(const Params& p) {
  return MakeScatter(p, Placer(OutOf(p), Placing::kAdd, p.tensors[2], ShapeOf(p.tensors[1])));
}

// self, index, source; out.
void CheckIndexCopy(const Params& p, Checker& checker) {
  CheckSlices(p, p.tensors[1], checker);
  if (!checker.ok()) return;
  const Operand& source = p.tensors[2];
  checker.SameDtype(source, p.tensors[0]);
  const bool scalar = p.tensors[0].rank() == 0 || source.rank() == 0;
  if (scalar) {
    checker.That(source.count() == p.tensors[1].count(), [&] {
      return Concat("source shape is ", ShapeText(source), ", expected ", *p.tensors[1].count(),
                    " elements");
    });
  } else {
    CheckShape(source, SliceShape(p, *p.tensors[1].count()), checker);
  }
}

Plan PlanIndexCopy(const Params& p) {
  const Shape shape = SliceShape(p, *p.tensors[1].count());
  return MakeSlices(p, Placer(OutOf(p), Placing::kSet, p.tensors[2], shape));
}

// The same with alpha.
void CheckIndexAdd(const Params& p, Checker& checker) { CheckIndexCopy(p, checker); }

Plan PlanIndexAdd(const Params& p) {
  const Shape shape = SliceShape(p, *p.tensors[1].count());
  Placer placer(OutOf(p), Placing::kAdd, p.tensors[2], shape);
  placer.Scale(p.values[0]);
  return MakeSlices(p, placer);
}

// self, index; out.
void CheckIndexFill(const Params& p, Checker& checker) { CheckSlices(p, p.tensors[1], checker); }

Plan PlanIndexFill(const Params& p) {
  return MakeSlices(p, Placer(OutOf(p), Placing::kSet, p.values[0]));
}

// self; out. The index is an array.
void CheckIndexFillAt(const Params& p, Checker& checker) {
  CheckDim(p, checker);
  checker.SameShapeAndDtype(OutOf(p), p.tensors[0]);
  if (!checker.ok()) return;
  const Operand& self = p.tensors[0];
  const int64_t limit = self.rank() == 0 ? 1 : self.dim(DimOf(p));
  for (const int64_t row : p.arrays[0].values()) {
    checker.That(-limit <= row && row < limit, [&] {
      return Concat("index value is ", row, ", expected ", -limit, " <= value < ", limit);
    });
  }
}

Plan PlanIndexFillAt(const Params& p) {
  const Target target(p);
  std::vector<int64_t> rows(p.arrays[0].values().begin(), p.arrays[0].values().end());
  const Along along(OutOf(p), SliceShape(p, static_cast<int64_t>(rows.size())), DimOf(p));
  for (int64_t& row : rows) row += row < 0 ? along.limit : 0;
  const Placer placer(OutOf(p), Placing::kSet, p.values[0]);
  const int64_t inner = InnerOf(p);
  return {0, [=](const Buffers& buffers) -> Status {
            std::byte* const out = target.Prepare(buffers);
            if (!rows.empty()) placer(PlacesOf(along, inner, rows), nullptr, out);
            return {};
          }};
}

// self, mask, source; in place.
void CheckMaskedScatter(const Params& p, Checker& checker) {
  const Operand &self = p.tensors[0], &mask = p.tensors[1], &source = p.tensors[2];
  checker.That(mask.dtype() == ACL_BOOL, [&] { return DtypeIs(mask, "BOOL"); });
  checker.SameDtype(source, self);
  Shape shape = ShapeOf(self);
  checker.That(BroadcastShape(mask, &shape) && shape == ShapeOf(self), [&] {
    return Concat("mask shape is ", ShapeText(mask), ", expected one that can be broadcast to ",
                  ShapeText(self));
  });
}

// In order, since each element's place depends on those before it.
Plan PlanMaskedScatter(const Params& p) {
  const Operand &self = p.tensors[0], &mask = p.tensors[1], &source = p.tensors[2];
  const Shape shape = ShapeOf(self);
  const Walk walk(shape, {Steps(shape, self), Steps(shape, mask)});
  const Offsets from(source, source.rank());
  const int64_t bytes = BytesOf(self), count = *source.count();
  return {0, [=](const Buffers& buffers) -> Status {
            const Walk::Pointers origins = {buffers.As<std::byte>(0), buffers.As<std::byte>(1)};
            const auto each = [&](auto&& visit) {
              walk.ForRunsInOrder(origins, [&](const Walk::Pointers& at, int64_t n) {
                for (int64_t i = 0; i < n; ++i) {
                  if (at[1][i * walk.step(1)] != std::byte{0}) visit(at[0] + i * walk.step(0));
                }
              });
            };
            int64_t chosen = 0;
            each([&](std::byte*) { ++chosen; });
            if (chosen > count) {
              return Status(
                  507035, Concat("mask value is true ", chosen, " times, expected at most ", count,
                                 ", the elements of source"));
            }
            int64_t next = 0;
            each([&](std::byte* to) {
              CopyStrided(buffers.As<std::byte>(2) + from(next++) * bytes, 1, to, 1, 1, bytes);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
