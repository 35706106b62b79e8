// SPDX-License-Identifier: Apache-2.0
// GatherNd, ScatterNdUpdate and TfScatterAdd: slices at places that rows of coordinates name.
#include "supporting/index/coordinates.h"

#include "generated/index.h"
#include "kernels/index/selection.h"
#include "supporting/along.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {

Shape NamedShape(const Operand& of, const Operand& index) {
  Shape shape(index.tensor().dims, index.tensor().dims + index.rank() - 1);
  for (uint32_t d = DepthOf(index); d < of.rank(); ++d) shape.push_back(of.dim(d));
  return shape;
}

void CheckCoordinates(const Tensor& of, const Tensor& index, const Tensor& slices,
                      Checker& checker) {
  checker.RankBetween(index, 1, kMaxRank).SameDtype(slices, of);
  CheckIndexType(index, checker);
  if (!checker.ok()) return;
  checker.That(1 <= index.last_dim() && index.last_dim() <= of.rank(), [&] {
    return Concat(index.name(), " shape is ", ShapeText(index),
                  ", expected a last dimension of 1 to ", of.rank(), ", the dimensions of ",
                  of.name(), ", ", ShapeText(of));
  });
  if (!checker.ok()) return;
  const Shape shape = NamedShape(of, index);
  checker.That(shape.size() <= kMaxRank, [&] {
    return Concat(index.name(), " rank is ", index.rank(), ", expected slices of at most ",
                  kMaxRank, " dimensions");
  });
  if (checker.ok()) CheckShape(slices, shape, checker);
}

Coordinates::Coordinates(const Tensor& of, const Tensor& index)
    : name_(index.name()), index_(index, 0) {
  for (uint32_t d = 0; d < DepthOf(index); ++d) {
    limits_.push_back(of.dim(d));
    steps_.push_back(of.tensor().strides[d]);
  }
}

Status Coordinates::Read(const Buffers& buffers, bool from_end,
                         std::vector<int64_t>* offsets) const {
  const std::vector<int64_t> values = index_.AllWhole(buffers);
  const size_t depth = limits_.size();
  offsets->assign(values.size() / depth, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t limit = limits_[i % depth], low = from_end ? -limit : 0, value = values[i];
    if (value < low || value >= limit) {
      return Status(507035, Concat(name_, " value ", i, " is ", value, ", expected ", low,
                                   " <= value < ", limit));
    }
    (*offsets)[i / depth] += (value < 0 ? value + limit : value) * steps_[i % depth];
  }
  return {};
}

namespace {

/// Slices of `to` become the values, or these are added.
Plan MakePlacing(const Tensor& to, const Tensor& index, const Tensor& values, Placing placing) {
  if (values.empty()) return Nothing();
  Slices slices;
  for (uint32_t d = DepthOf(index); d < to.rank(); ++d) {
    slices.columns.push_back(to.dim(d));
    slices.column_steps.push_back(to.tensor().strides[d]);
  }
  const Coordinates coordinates(to, index);
  const Placer placer(to, placing, std::move(slices), values, ShapeOf(values));
  return {0, [=, values_at = values.place, to_at = to.place](const Buffers& buffers) -> Status {
            std::vector<int64_t> offsets;
            Status status = coordinates.Read(buffers, false, &offsets);
            if (status.ok()) placer(offsets, values_at(buffers), to_at(buffers));
            return status;
          }};
}

}  // namespace

void CheckGatherNd(const GatherNdParams& p, Checker& checker) {
  CheckCoordinates(p.self, p.indices, p.out, checker);
}

Plan PlanGatherNd(const GatherNdParams& p, const Product&) {
  const Tensor &self = p.self, &index = p.indices, &out = p.out;
  if (out.empty()) return Nothing();
  const uint32_t depth = DepthOf(index), lead = index.rank() - 1;
  const Shape shape = ShapeOf(self), rows = ShapeOf(out);
  const Steps from(shape, self), to(rows, out);
  const Shape slice(shape.begin() + depth, shape.end());
  const Copy copy(slice, Steps(Shape(from.bytes.begin() + depth, from.bytes.end())),
                  Steps(Shape(to.bytes.begin() + lead, to.bytes.end())), BytesOf(self));
  const Selection selection(Offsets(nullptr, nullptr, 0), 1,
                            Offsets(rows.data(), to.bytes.data(), lead), copy,
                            CountOf(slice) * BytesOf(self));
  const Coordinates coordinates(self, index);
  return {0,
          [=, from_end = p.negativeIndexSupport, bytes = BytesOf(self), self_at = self.place,
           out_at = out.place](const Buffers& buffers) -> Status {
            std::vector<int64_t> offsets;
            Status status = coordinates.Read(buffers, from_end, &offsets);
            if (!status.ok()) return status;
            for (int64_t& offset : offsets) offset *= bytes;
            selection(offsets, self_at(buffers), out_at(buffers));
            return {};
          }};
}

void CheckScatterNdUpdate(const ScatterNdUpdateParams& p, Checker& checker) {
  CheckCoordinates(p.varRef, p.indices, p.updates, checker);
}

Plan PlanScatterNdUpdate(const ScatterNdUpdateParams& p, const Product&) {
  return MakePlacing(p.varRef, p.indices, p.updates, Placing::kSet);
}

void CheckScatterNdAdd(const ScatterNdAddParams& p, Checker& checker) {
  CheckCoordinates(p.varRef, p.indices, p.updates, checker);
}

Plan PlanScatterNdAdd(const ScatterNdAddParams& p, const Product&) {
  return MakePlacing(p.varRef, p.indices, p.updates, Placing::kAdd);
}

}  // namespace openaclnn::supporting
