// SPDX-License-Identifier: Apache-2.0
// InplaceScatterUpdate: rows of a cache from a place on that each batch has of its own.
#include "generated/index.h"
#include "kernels/move/copy.h"
#include "supporting/along.h"
#include "supporting/places.h"

namespace openaclnn::supporting {

void CheckScatterUpdate(const ScatterUpdateParams& p, Checker& checker) {
  const Tensor &data = p.data, &index = p.indices, &updates = p.updates;
  checker.RankBetween(data, 2, kMaxRank).Rank(updates, data.rank()).Rank(index, 1);
  checker.SameDtype(updates, data);
  CheckIndexType(index, checker);
  const auto axis = WrapDim(p.axis, data.rank());
  checker.That(axis && *axis > 0, [&] {
    return Concat("axis value is ", p.axis, ", expected a dimension of data behind the first, ",
                  ShapeText(data));
  });
  if (!checker.ok()) return;
  Shape shape = ShapeOf(data);
  shape[*axis] = updates.dim(*axis);
  CheckShape(updates, shape, checker);
  CheckShape(index, Shape{data.dim(0)}, checker);
  checker.That(updates.dim(*axis) <= data.dim(*axis), [&] {
    return Concat("updates shape is ", ShapeText(updates), ", expected at most data's along axis, ",
                  ShapeText(data));
  });
}

Plan PlanScatterUpdate(const ScatterUpdateParams& p, const Product&) {
  const Tensor &data = p.data, &updates = p.updates;
  const uint32_t axis = *WrapDim(p.axis, data.rank());
  const Shape shape = ShapeOf(updates);
  const Steps from(shape, updates), to(ShapeOf(data), data);
  const int64_t rows = shape[0], limit = data.dim(axis) - shape[axis] + 1;
  const auto rest = [](const Steps& steps) {
    return Steps(Shape(steps.bytes.begin() + 1, steps.bytes.end()));
  };
  const Copy copy(Shape(shape.begin() + 1, shape.end()), rest(from), rest(to), BytesOf(data));
  const IndexReader reader(p.indices, Shape{rows});
  return {0,
          [=, from_step = from.bytes[0], to_step = to.bytes[0], along = to.bytes[axis],
           index_at = p.indices.place, updates_at = updates.place,
           data_at = data.place](const Buffers& buffers) -> Status {
            std::vector<int64_t> places;
            Status status = reader.Read(index_at(buffers), limit, false, &places);
            if (!status.ok()) return status;
            for (int64_t row = 0; row < rows; ++row) {
              copy(updates_at(buffers) + row * from_step,
                   data_at(buffers) + row * to_step + places[static_cast<size_t>(row)] * along);
            }
            return {};
          }};
}

}  // namespace openaclnn::supporting
