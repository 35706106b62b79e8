// SPDX-License-Identifier: Apache-2.0
// Indexing by tensors as self[i, :, j], writing there, and both by numbers of elements.
#include "generated/index.h"

#include <algorithm>
#include <numeric>

#include "kernels/index/selection.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"
#include "supporting/complex.h"
#include "supporting/in_turn.h"
#include "supporting/places.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

/// An index that stands for a whole dimension is an empty one.
bool IsWhole(const Operand& index) { return index.rank() == 1 && index.dim(0) == 0; }

/// Nothing is taken by an index without elements, which looks like one for a whole dimension.
bool MayBeNothing(const GivenList& indices) {
  return std::any_of(indices.tensors.begin(), indices.tensors.end(),
                     [](const Tensor* index) { return IsWhole(*index); });
}

/// self[indices]: the dimensions before the place of the indices' common shape, that shape, and
/// those behind it. The shape stands where the indices are if they are neighbours, else first.
struct Indexed {
  Indexed(const Tensor& self, const GivenList& indices, Checker* checker) {
    const auto given = static_cast<uint32_t>(indices.size);
    bool gap = false, apart = false;
    for (uint32_t d = 0; d < self.rank(); ++d) {
      const bool indexed = d < given && !IsWhole(indices[d]);
      if (indexed) {
        apart = apart || (gap && !dims.empty());
        dims.push_back(d);
        Join(indices[d], checker);
      } else {
        gap = !dims.empty();
      }
    }
    const uint32_t first = dims.empty() || apart ? 0 : dims.front();
    for (uint32_t d = 0; d < self.rank(); ++d) {
      if (std::find(dims.begin(), dims.end(), d) != dims.end()) continue;
      const bool leading = d < first;
      (leading ? before : behind).push_back(self.dim(d));
      (leading ? before_steps : behind_steps).push_back(self.tensor().strides[d]);
    }
  }

  void Join(const Operand& index, Checker* checker) {
    Shape joined = common;
    const bool fits = BroadcastShape(index, &joined);
    if (checker != nullptr) {
      checker->That(fits, [&] {
        return Concat(index.name(), " shape is ", ShapeText(index),
                      ", expected one that can be broadcast with ",
                      ShapeText(common.data(), static_cast<uint32_t>(common.size())));
      });
    }
    if (fits) common = joined;
  }

  Shape ResultShape() const {
    Shape shape = before;
    shape.insert(shape.end(), common.begin(), common.end());
    shape.insert(shape.end(), behind.begin(), behind.end());
    return shape;
  }

  std::vector<uint32_t> dims;  // that are indexed
  Shape before, common, behind;
  Shape before_steps, behind_steps;  // of self, in elements
};

/// Reads the indices of a call: the offset of each element of their common shape.
struct IndexedOffsets {
  IndexedOffsets(const Tensor& self, const GivenList& indices, const Indexed& indexed)
      : count(CountOf(indexed.common)) {
    for (const uint32_t d : indexed.dims) {
      parts.push_back({IndexReader(indices[d], indexed.common, d), indices[d].place, self.dim(d),
                       self.tensor().strides[d]});
    }
  }

  Status Read(const Buffers& buffers, std::vector<int64_t>* offsets) const {
    offsets->assign(static_cast<size_t>(count), 0);
    std::vector<int64_t> values;
    for (const Part& part : parts) {
      Status status = part.reader.Read(part.at(buffers), part.limit, true, &values);
      if (!status.ok()) return status;
      for (size_t i = 0; i < values.size(); ++i) (*offsets)[i] += values[i] * part.step;
    }
    return {};
  }

  struct Part {
    IndexReader reader;
    Place at;
    int64_t limit, step;
  };
  int64_t count;
  std::vector<Part> parts;
};

void CheckIndices(const Tensor& self, const GivenList& indices, Checker& checker) {
  checker.That(indices.size <= self.rank(), [&] {
    return Concat("indices size is ", indices.size, ", expected at most the rank of ", self.name(),
                  ", ", self.rank());
  });
  for (size_t i = 0; checker.ok() && i < indices.size; ++i) {
    if (!IsWhole(indices[i])) CheckIndexType(indices[i], checker);
  }
}

void CheckRank(const Shape& result, Checker& checker) {
  checker.That(result.size() <= kMaxRank, [&] {
    return Concat("indices value makes ", result.size(), " dimensions, expected at most 8");
  });
}

}  // namespace

void CheckIndex(const IndexParams& p, Checker& checker) {
  const Tensor& out = p.out;
  CheckIndices(p.self, p.indices, checker);
  checker.SameDtype(out, p.self);
  if (!checker.ok()) return;
  const Indexed indexed(p.self, p.indices, &checker);
  const Shape shape = indexed.ResultShape();
  CheckRank(shape, checker);
  if (!out.empty() || !MayBeNothing(p.indices)) CheckShape(out, shape, checker);
}

Plan PlanIndex(const IndexParams& p, const Product&) {
  const Tensor &self = p.self, &out = p.out;
  if (out.empty()) return Nothing();
  const Indexed indexed(self, p.indices, nullptr);
  const IndexedOffsets index(self, p.indices, indexed);
  const int64_t bytes = BytesOf(self);
  const auto rank = [](const Shape& shape) { return static_cast<uint32_t>(shape.size()); };
  const auto in_bytes = [&](Shape steps) {
    for (int64_t& step : steps) step = WrappingProduct(step, bytes);
    return steps;
  };
  const Shape shape = ShapeOf(out), before_steps = in_bytes(indexed.before_steps);
  const Steps to(shape, out), from_slice(in_bytes(indexed.behind_steps));
  const uint32_t lead = rank(indexed.before) + rank(indexed.common);
  const Steps to_slice(Shape(to.bytes.begin() + lead, to.bytes.end()));
  const Selection selection(
      Offsets(indexed.before.data(), before_steps.data(), rank(indexed.before)),
      CountOf(indexed.before), Offsets(shape.data(), to.bytes.data(), lead),
      Copy(indexed.behind, from_slice, to_slice, bytes), CountOf(indexed.behind) * bytes);
  const Place self_at = self.place, out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> offsets;
            Status status = index.Read(buffers, &offsets);
            if (!status.ok()) return status;
            for (int64_t& offset : offsets) offset *= bytes;
            selection(offsets, self_at(buffers), out_at(buffers));
            return {};
          }};
}

// Where no index has elements nothing is indexed.
void CheckIndexPut(const IndexPutParams& p, Checker& checker) {
  CheckIndices(p.selfRef, p.indices, checker);
  const Tensor& values = p.values;
  checker.SameDtype(values, p.selfRef);
  if (!checker.ok()) return;
  const Indexed indexed(p.selfRef, p.indices, &checker);
  if (indexed.dims.empty()) return;
  const Shape shape = indexed.ResultShape();
  CheckRank(shape, checker);
  Shape common = shape;
  const bool fits = BroadcastShape(values, &common) && common == shape;
  checker.That(fits || (values.empty() && MayBeNothing(p.indices)), [&] {
    return Concat("values shape is ", ShapeText(values), ", expected one that can be broadcast to ",
                  ShapeText(shape.data(), static_cast<uint32_t>(shape.size())));
  });
}

Plan PlanIndexPut(const IndexPutParams& p, const Product&) {
  const Tensor &self = p.selfRef, &values = p.values;
  const Indexed indexed(self, p.indices, nullptr);
  if (values.empty() || indexed.dims.empty()) {
    return Nothing();
  }
  const IndexedOffsets index(self, p.indices, indexed);
  const Placer placer(self, p.accumulate ? Placing::kAdd : Placing::kSet,
                      {indexed.before, indexed.before_steps, indexed.behind, indexed.behind_steps},
                      values, indexed.ResultShape());
  const Place self_at = self.place, values_at = values.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> offsets;
            Status status = index.Read(buffers, &offsets);
            if (status.ok()) placer(offsets, values_at(buffers), self_at(buffers));
            return status;
          }};
}

// Elements by their number in row-major order.
void CheckTake(const TakeParams& p, Checker& checker) {
  CheckIndexType(p.index, checker);
  checker.SameDtype(p.out, p.self);
  CheckShape(p.out, ShapeOf(p.index), checker);
}

Plan PlanTake(const TakeParams& p, const Product&) {
  const Tensor &self = p.self, &index = p.index, &out = p.out;
  const IndexReader reader(index, ShapeOf(index));
  const Offsets from(self, self.rank()), to(out, out.rank());
  const int64_t bytes = BytesOf(self), limit = *self.count();
  const Place self_at = self.place, index_at = index.place, out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> taken;
            Status status = reader.Read(index_at(buffers), limit, true, &taken);
            if (!status.ok()) return status;
            for (size_t i = 0; i < taken.size(); ++i) {
              CopyStrided(self_at(buffers) + from(taken[i]) * bytes, 1,
                          out_at(buffers) + to(static_cast<int64_t>(i)) * bytes, 1, 1, bytes);
            }
            return {};
          }};
}

// Checks the same places for writing.
void CheckPut(const PutParams& p, Checker& checker) {
  const Tensor &self = p.selfRef, &index = p.index, &source = p.source;
  CheckIndexType(index, checker);
  checker.SameDtype(source, self);
  checker.That(source.count() == index.count(), [&] {
    return Concat("source shape is ", ShapeText(source), ", expected as many elements as index, ",
                  ShapeText(index));
  });
}

Plan PlanPut(const PutParams& p, const Product&) {
  const Tensor &self = p.selfRef, &index = p.index, &source = p.source;
  const IndexReader reader(index, ShapeOf(index));
  const Offsets offsets(self, self.rank());
  const Placing placing = p.accumulate ? Placing::kAdd : Placing::kSet;
  const Placer placer(self, placing, {}, source, ShapeOf(source));
  const int64_t limit = *self.count();
  const Place self_at = self.place, index_at = index.place, source_at = source.place;
  Plan plan = {0, [=](const Buffers& buffers) -> Status {
                 std::vector<int64_t> places;
                 Status status = reader.Read(index_at(buffers), limit, true, &places);
                 if (!status.ok()) return status;
                 for (int64_t& place : places) place = offsets(place);
                 if (!places.empty()) placer(places, source_at(buffers), self_at(buffers));
                 return {};
               }};
  return p.accumulate ? ForParts(p, source, self, std::move(plan)) : plan;
}

}  // namespace openaclnn::supporting
