// SPDX-License-Identifier: Apache-2.0
// Operators that write to places which an index names: Scatter, ScatterAdd, ScatterReduce,
// IndexAdd, IndexCopy, IndexFill and MaskedScatter.
#include "generated/index.h"
#include "kernels/move/copy.h"
#include "supporting/along.h"
#include "supporting/index/row_placer.h"
#include "supporting/places.h"

namespace openaclnn::supporting {
namespace {

/// The output of a call, which begins as self. In place it is that tensor.
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

uint32_t DimOf(const ScatterParams& p) { return *WrapDim(p.dim, p.self.rank()); }

/// A scalar is a vector of one.
Shape AtLeastVector(const Operand& operand) {
  return operand.rank() == 0 ? Shape{1} : ShapeOf(operand);
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

Plan MakeScatter(const ScatterParams& p, Placing placing, bool includes_self = true) {
  const Target target(p);
  if (p.index.empty()) {
    return {0, [=](const Buffers& buffers) -> Status {
              target.Prepare(buffers);
              return {};
            }};
  }
  const bool given = p.src.present();
  RowPlacer placer(p.out, DimOf(p), placing, p.index, given ? &p.src : nullptr, p.value);
  if (!includes_self) placer.LeaveOutSelf();
  const Place index_at = p.index.place, src_at = p.src.place;
  return {placer.workspace_size(), [=](const Buffers& buffers) -> Status {
            std::byte* const index = index_at(buffers);
            Status status = placer.Check(index);
            if (!status.ok()) return status;
            std::byte* const out = target.Prepare(buffers);
            placer(index, given ? src_at(buffers) : nullptr, out, buffers.workspace);
            return {};
          }};
}

/// self's shape with the length of the index in the dimension.
Shape SliceShape(const ScatterParams& p, int64_t length) {
  Shape shape = AtLeastVector(p.self);
  shape[DimOf(p)] = length;
  return shape;
}

/// A dimension of self whose slices are written to.
struct Along {
  explicit Along(const ScatterParams& p) {
    const Shape shape = AtLeastVector(p.self);
    const int64_t* const steps = p.out.tensor().strides;
    for (uint32_t d = 0; d < shape.size(); ++d) {
      if (d == DimOf(p)) continue;
      (d < DimOf(p) ? slices.rows : slices.columns).push_back(shape[d]);
      (d < DimOf(p) ? slices.row_steps : slices.column_steps).push_back(steps[d]);
    }
    limit = shape[DimOf(p)];
    step = p.out.rank() == 0 ? 0 : steps[DimOf(p)];
  }

  void ToPlaces(std::vector<int64_t>* rows) const {
    for (int64_t& row : *rows) row *= step;
  }

  Slices slices;
  int64_t limit = 1, step = 0;
};

Plan MakeSlices(const ScatterParams& p, const Placer& placer) {
  const Target target(p);
  const Along along(p);
  const IndexReader reader(p.index, ShapeOf(p.index));
  const Place index_at = p.index.place, src_at = p.src.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> places;
            Status status = reader.Read(index_at(buffers), along.limit, true, &places);
            if (!status.ok()) return status;
            along.ToPlaces(&places);
            std::byte* const out = target.Prepare(buffers);
            if (!places.empty()) placer(places, src_at(buffers), out);
            return {};
          }};
}

}  // namespace

void CheckScatter(const ScatterParams& p, Checker& checker) { CheckScattered(p, checker); }

Plan PlanScatter(const ScatterParams& p, const Product&) {
  return MakeScatter(p, static_cast<Placing>(p.reduce));
}

void CheckScatterAdd(const ScatterParams& p, Checker& checker) { CheckScattered(p, checker); }

Plan PlanScatterAdd(const ScatterParams& p, const Product&) {
  return MakeScatter(p, Placing::kAdd);
}

void CheckScatterReduce(const ScatterParams& p, Checker& checker) { CheckScattered(p, checker); }

Plan PlanScatterReduce(const ScatterParams& p, const Product&) {
  return MakeScatter(p, static_cast<Placing>(p.reduce), p.includeSelf);
}

void CheckIndexFill(const ScatterParams& p, Checker& checker) {
  CheckDim(p.self, p.dim, checker);
  checker.RankBetween(p.index, 0, 1).SameShapeAndDtype(p.out, p.self);
  CheckIndexType(p.index, checker);
}

Plan PlanIndexFill(const ScatterParams& p, const Product&) {
  return MakeSlices(p, Placer(p.out, Along(p).slices, p.value));
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
  return MakeSlices(p, Placer(p.out, Placing::kSet, Along(p).slices, p.src, shape));
}

void CheckIndexAdd(const ScatterParams& p, Checker& checker) { CheckIndexCopy(p, checker); }

Plan PlanIndexAdd(const ScatterParams& p, const Product&) {
  Placer placer(p.out, Placing::kAdd, Along(p).slices, p.src, SliceShape(p, *p.index.count()));
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
  const Along along(p);
  for (int64_t& row : rows) row += row < 0 ? along.limit : 0;
  along.ToPlaces(&rows);
  const Placer placer(p.out, along.slices, p.value);
  return {0, [=](const Buffers& buffers) -> Status {
            std::byte* const out = target.Prepare(buffers);
            if (!rows.empty()) placer(rows, nullptr, out);
            return {};
          }};
}

void CheckMaskedScatter(const MaskedScatterParams& p, Checker& checker) {
  const Tensor &self = p.selfRef, &mask = p.mask, &source = p.source;
  checker.That(mask.dtype() == ACL_BOOL || mask.dtype() == ACL_UINT8,
               [&] { return DtypeIs(mask, "BOOL, UINT8"); });
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
