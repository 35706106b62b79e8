// SPDX-License-Identifier: Apache-2.0
// Operators that write to places which an index names: Scatter, ScatterAdd, IndexAdd, IndexCopy,
// IndexFill and MaskedScatter.
#include "generated/index.h"
#include "kernels/copy.h"
#include "supporting/along.h"
#include "supporting/places.h"

namespace openaclnn::supporting {
namespace {

/// Of a call whose output begins as self. In place it is that tensor.
struct Target {
  explicit Target(const ScatterParams& p) : self(p.self.place), out(p.out.place) {
    if (!p.in_place()) begin.emplace(p.self, p.out);
  }

  std::byte* Prepare(const Buffers& buffers) const {
    if (begin) (*begin)(self(buffers), out(buffers));
    return out(buffers);
  }

  Place self, out;
  std::optional<Copy> begin;
};

/// Places along a dimension: those of a shape with each coordinate of the dimension replaced.
struct Along {
  Along(const Operand& out, const Shape& shape, uint32_t dim) {
    Shape steps(out.tensor().strides, out.tensor().strides + out.rank());
    if (out.rank() == 0) {
      steps.assign(shape.size(), 0);
    } else {
      step = std::exchange(steps[dim], 0);
      limit = out.dim(dim);
    }
    base = Offsets(shape.data(), steps.data(), static_cast<uint32_t>(shape.size()));
    count = CountOf(shape);
  }

  Offsets base;
  int64_t step = 0, limit = 1, count = 0;
};

uint32_t DimOf(const ScatterParams& p) { return *WrapDim(p.dim, p.self.rank()); }

/// A scalar is a vector of one.
Shape AtLeastVector(const Operand& operand) {
  return operand.rank() == 0 ? Shape{1} : ShapeOf(operand);
}

/// The part of the values that is taken: as much as the index has, which is at most all.
Shape TakenShape(const ScatterParams& p) {
  return p.index.empty() ? ShapeOf(p.src) : AtLeastVector(p.index);
}

/// index: at most self's shape apart from the dimension, and at most the shape of the values.
void CheckScattered(const ScatterParams& p, Checker& checker) {
  const Tensor &self = p.self, &index = p.index, &values = p.src;
  CheckDim(self, p.dim, checker);
  CheckIndexType(index, checker);
  checker.SameShapeAndDtype(p.out, self);
  const bool none = index.empty();
  checker.That(none || index.rank() == self.rank() || self.rank() + index.rank() == 1, [&] {
    return Concat("index shape is ", ShapeText(index), ", expected the rank of ", self.name(), ", ",
                  ShapeText(self));
  });
  const Shape places = AtLeastVector(index), given = AtLeastVector(values);
  for (uint32_t d = 0; checker.ok() && !none && d < places.size(); ++d) {
    const bool in_self = d == DimOf(p) || self.rank() == 0 || places[d] <= self.dim(d);
    const bool in_values =
        !values.present() || (given.size() == places.size() && places[d] <= given[d]);
    checker.That(in_self && in_values, [&] {
      return Concat("index shape is ", ShapeText(index), ", expected at most ", self.name(), "'s, ",
                    ShapeText(self), ", and that of the values");
    });
  }
  if (values.present()) checker.SameDtype(values, self);
}

Plan MakeScatter(const ScatterParams& p, const Placer& placer) {
  const Tensor& index = p.index;
  const Target target(p);
  const Shape shape = ShapeOf(index);
  if (index.empty()) {
    return {0, [=](const Buffers& buffers) -> Status {
              target.Prepare(buffers);
              return {};
            }};
  }
  const Tensor& out = p.out;
  const Along along(out, shape, DimOf(p));
  const IndexReader reader(index, shape);
  const Place index_at = index.place, src_at = p.src.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> places;
            Status status = reader.Read(index_at(buffers), along.limit, false, &places);
            if (!status.ok()) return status;
            for (int64_t i = 0; i < along.count; ++i) {
              int64_t& place = places[static_cast<size_t>(i)];
              place = along.base(i) + place * along.step;
            }
            std::byte* const out_at = target.Prepare(buffers);
            placer(places, src_at(buffers), out_at);
            return {};
          }};
}

/// self's shape with the length of the index in the dimension.
Shape SliceShape(const ScatterParams& p, int64_t length) {
  Shape shape = AtLeastVector(p.self);
  shape[DimOf(p)] = length;
  return shape;
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
int64_t InnerOf(const ScatterParams& p) {
  int64_t inner = 1;
  for (uint32_t d = DimOf(p) + 1; d < p.self.rank(); ++d) inner *= p.self.dim(d);
  return inner;
}

Plan MakeSlices(const ScatterParams& p, const Placer& placer) {
  const Tensor& index = p.index;
  const Target target(p);
  const int64_t length = *index.count(), inner = InnerOf(p);
  const Along along(p.out, SliceShape(p, length), DimOf(p));
  const IndexReader reader(index, ShapeOf(index));
  const Place index_at = index.place, src_at = p.src.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> rows;
            Status status = reader.Read(index_at(buffers), along.limit, true, &rows);
            if (!status.ok()) return status;
            std::byte* const out = target.Prepare(buffers);
            if (!rows.empty()) placer(PlacesOf(along, inner, rows), src_at(buffers), out);
            return {};
          }};
}

}  // namespace

void CheckScatter(const ScatterParams& p, Checker& checker) {
  CheckScattered(p, checker);
  checker.That(p.reduce >= 0 && p.reduce <= 2, [&] {
    return Concat("reduction value is ", p.reduce, ", expected none (0), add (1) or multiply (2)");
  });
}

Plan PlanScatter(const ScatterParams& p, const Product&) {
  const auto placing = static_cast<Placing>(p.reduce);
  return MakeScatter(p, p.src.present() ? Placer(p.out, placing, p.src, TakenShape(p))
                                        : Placer(p.out, placing, p.value));
}

void CheckScatterAdd(const ScatterParams& p, Checker& checker) { CheckScattered(p, checker); }

Plan PlanScatterAdd(const ScatterParams& p, const Product&) {
  return MakeScatter(p, Placer(p.out, Placing::kAdd, p.src, TakenShape(p)));
}

void CheckIndexFill(const ScatterParams& p, Checker& checker) {
  CheckDim(p.self, p.dim, checker);
  checker.RankBetween(p.index, 0, 1).SameShapeAndDtype(p.out, p.self);
  CheckIndexType(p.index, checker);
}

Plan PlanIndexFill(const ScatterParams& p, const Product&) {
  return MakeSlices(p, Placer(p.out, Placing::kSet, p.value));
}

void CheckIndexCopy(const ScatterParams& p, Checker& checker) {
  CheckIndexFill(p, checker);
  if (!checker.ok()) return;
  checker.SameDtype(p.src, p.self);
  if (p.self.rank() > 0 && p.src.rank() > 0) {
    return CheckShape(p.src, SliceShape(p, *p.index.count()), checker);
  }
  checker.That(p.src.rank() <= 1 && p.src.count() == p.index.count(), [&] {
    return Concat("source shape is ", ShapeText(p.src), ", expected ", *p.index.count(),
                  " elements");
  });
}

Plan PlanIndexCopy(const ScatterParams& p, const Product&) {
  const Shape shape = SliceShape(p, *p.index.count());
  return MakeSlices(p, Placer(p.out, Placing::kSet, p.src, shape));
}

void CheckIndexAdd(const ScatterParams& p, Checker& checker) { CheckIndexCopy(p, checker); }

Plan PlanIndexAdd(const ScatterParams& p, const Product&) {
  Placer placer(p.out, Placing::kAdd, p.src, SliceShape(p, *p.index.count()));
  placer.Scale(p.alpha);
  return MakeSlices(p, placer);
}

// The index is an array.
void CheckIndexFillAt(const ScatterParams& p, Checker& checker) {
  CheckDim(p.self, p.dim, checker);
  checker.SameShapeAndDtype(p.out, p.self);
  if (!checker.ok()) return;
  const int64_t limit = p.self.rank() == 0 ? 1 : p.self.dim(DimOf(p));
  for (const int64_t row : p.rows.values()) {
    checker.That(-limit <= row && row < limit, [&] {
      return Concat("index value is ", row, ", expected ", -limit, " <= value < ", limit);
    });
  }
}

Plan PlanIndexFillAt(const ScatterParams& p, const Product&) {
  const Target target(p);
  std::vector<int64_t> rows(p.rows.values().begin(), p.rows.values().end());
  const Along along(p.out, SliceShape(p, static_cast<int64_t>(rows.size())), DimOf(p));
  for (int64_t& row : rows) row += row < 0 ? along.limit : 0;
  const Placer placer(p.out, Placing::kSet, p.value);
  const int64_t inner = InnerOf(p);
  return {0, [=](const Buffers& buffers) -> Status {
            std::byte* const out = target.Prepare(buffers);
            if (!rows.empty()) placer(PlacesOf(along, inner, rows), nullptr, out);
            return {};
          }};
}

void CheckMaskedScatter(const MaskedScatterParams& p, Checker& checker) {
  const Tensor &self = p.selfRef, &mask = p.mask, &source = p.source;
  checker.That(mask.dtype() == ACL_BOOL, [&] { return DtypeIs(mask, "BOOL"); });
  checker.SameDtype(source, self);
  Shape shape = ShapeOf(self);
  checker.That(BroadcastShape(mask, &shape) && shape == ShapeOf(self), [&] {
    return Concat("mask shape is ", ShapeText(mask), ", expected one that can be broadcast to ",
                  ShapeText(self));
  });
}

// In order, since each element's place depends on those before it.
Plan PlanMaskedScatter(const MaskedScatterParams& p, const Product&) {
  const Tensor &self = p.selfRef, &mask = p.mask, &source = p.source;
  const Shape shape = ShapeOf(self);
  const Walk walk(shape, {Steps(shape, self), Steps(shape, mask)});
  const Offsets from(source, source.rank());
  const int64_t bytes = BytesOf(self), count = *source.count();
  const Place self_at = self.place, mask_at = mask.place, source_at = source.place;
  return {0, [=](const Buffers& buffers) -> Status {
            const Walk::Pointers origins = {self_at(buffers), mask_at(buffers)};
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
              CopyStrided(source_at(buffers) + from(next++) * bytes, 1, to, 1, 1, bytes);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
