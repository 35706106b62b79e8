// SPDX-License-Identifier: Apache-2.0
// Elements that are taken: IndexSelect, Gather, MaskedSelect and Nonzero.
#include <algorithm>

#include "generated/index.h"
#include "kernels/broadcast.h"
#include "kernels/selection.h"
#include "supporting/along.h"
#include "supporting/places.h"

namespace openaclnn::supporting {

namespace {

/// Of slices along a dimension, which out has another number of.
Selection SelectionAlong(const Tensor& self, const Tensor& out, uint32_t dim) {
  const Shape shape = ShapeOf(self), rows = ShapeOf(out);
  const Steps from(shape, self), to(rows, out);
  const uint32_t lead = std::min(dim + 1, self.rank());
  const Shape slice(shape.begin() + lead, shape.end());
  const Shape places(shape.begin(), shape.begin() + dim);
  const Steps from_slice(Shape(from.bytes.begin() + lead, from.bytes.end()));
  const Steps to_slice(Shape(to.bytes.begin() + lead, to.bytes.end()));
  return {Offsets(shape.data(), from.bytes.data(), dim), CountOf(places),
          Offsets(rows.data(), to.bytes.data(), lead),
          Copy(slice, from_slice, to_slice, BytesOf(self)), CountOf(slice) * BytesOf(self)};
}

}  // namespace

void CheckIndexSelect(const IndexSelectParams& p, Checker& checker) {
  const Tensor &self = p.self, &index = p.index;
  CheckDim(self, p.dim, checker);
  checker.RankBetween(index, 0, 1).SameDtype(p.out, self);
  CheckIndexType(index, checker);
  checker.That(self.rank() > 0 || index.count() == 1, [&] {
    return Concat("index shape is ", ShapeText(index),
                  ", expected 1 element, for self is a scalar");
  });
  if (!checker.ok()) return;
  Shape shape = ShapeOf(self);
  if (!shape.empty()) shape[*WrapDim(p.dim, self.rank())] = *index.count();
  CheckShape(p.out, shape, checker);
}

Plan PlanIndexSelect(const IndexSelectParams& p, const Product&) {
  const Tensor &self = p.self, &index = p.index, &out = p.out;
  const uint32_t dim = *WrapDim(p.dim, self.rank());
  const int64_t limit = self.rank() > 0 ? self.dim(dim) : 1;
  const int64_t step = self.rank() > 0 ? self.tensor().strides[dim] * BytesOf(self) : 0;
  const Selection selection = SelectionAlong(self, out, dim);
  const IndexReader reader(index, ShapeOf(index));
  const Place self_at = self.place, index_at = index.place, out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> offsets;
            Status status = reader.Read(index_at(buffers), limit, false, &offsets);
            if (!status.ok()) return status;
            for (int64_t& offset : offsets) offset *= step;
            selection(offsets, self_at(buffers), out_at(buffers));
            return {};
          }};
}

// out[…, i, …] = self[…, index[…, i, …], …].
void CheckGather(const GatherParams& p, Checker& checker) {
  const Tensor &self = p.self, &index = p.index;
  CheckDim(self, p.dim, checker);
  checker.Rank(index, self.rank()).SameDtype(p.out, self);
  CheckIndexType(index, checker);
  CheckShape(p.out, ShapeOf(index), checker);
  for (uint32_t i = 0; checker.ok() && i < self.rank(); ++i) {
    checker.That(i == *WrapDim(p.dim, self.rank()) || index.dim(i) <= self.dim(i), [&] {
      return Concat("index shape is ", ShapeText(index), ", expected at most that of self, ",
                    ShapeText(self));
    });
  }
}

Plan PlanGather(const GatherParams& p, const Product&) {
  const Tensor &self = p.self, &index = p.index, &out = p.out;
  const uint32_t dim = *WrapDim(p.dim, self.rank());
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
  const Place self_at = self.place, index_at = index.place, out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            Status status = reader.Check(index_at(buffers), limit, false);
            if (!status.ok()) return status;
            const Walk::Pointers origins = {self_at(buffers), index_at(buffers), out_at(buffers)};
            walk.ForRuns(origins, [&](const Walk::Pointers& at, int64_t n) {
              int64_t offsets[Walk::kRun];
              load(at[1], walk.step(1), n, offsets);
              for (int64_t i = 0; i < n; ++i) offsets[i] = offsets[i] * along + i * walk.step(0);
              PickElements(at[0], offsets, n, at[2], walk.step(2), bytes);
            });
            return {};
          }};
}

void CheckMaskedSelect(const MaskedSelectParams& p, Checker& checker) {
  const Tensor &self = p.self, &mask = p.mask, &out = p.out;
  checker.That(mask.dtype() == ACL_BOOL || mask.dtype() == ACL_UINT8,
               [&] { return DtypeIs(mask, "BOOL, UINT8"); });
  checker.SameDtype(out, self).Rank(out, 1);
  Shape shape = ShapeOf(self);
  const bool fits = BroadcastShape(mask, &shape);
  checker.That(fits, [&] {
    return Concat("mask shape is ", ShapeText(mask), ", expected one that can be broadcast with ",
                  ShapeText(self));
  });
  const auto count = ElementCount(shape.data(), static_cast<uint32_t>(shape.size()));
  checker.That(!fits || (count.has_value() && out.dim(0) >= *count), [&] {
    return Concat("out shape is ", ShapeText(out), ", expected room for the elements of ",
                  ShapeText(shape.data(), static_cast<uint32_t>(shape.size())));
  });
}

// In order, since each element's place depends on those before it. The number of elements becomes
// out's shape.
Plan PlanMaskedSelect(const MaskedSelectParams& p, const Product&) {
  Shape shape = ShapeOf(p.self);
  BroadcastShape(p.mask, &shape);
  const Walk walk(shape, {Steps(shape, p.self), Steps(shape, p.mask)});
  const int64_t bytes = BytesOf(p.out);
  const int64_t out_step = p.out.tensor().strides[0];
  const aclTensor* handle = p.out.handle;
  const Place self = p.self.place, mask = p.mask.place, out_at = p.out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            int64_t count = 0;
            std::byte* const out = out_at(buffers);
            const Walk::Pointers origins = {self(buffers), mask(buffers)};
            walk.ForRunsInOrder(origins, [&](const Walk::Pointers& at, int64_t n) {
              for (int64_t i = 0; i < n; ++i) {
                if (at[1][i * walk.step(1)] == std::byte{0}) continue;
                CopyStrided(at[0] + i * walk.step(0), 1, out + count++ * out_step * bytes, 1, 1,
                            bytes);
              }
            });
            Meta()->set_view_shape(handle, &count, 1);
            return {};
          }};
}

void CheckNonzero(const NonzeroParams& p, Checker& checker) {
  const Tensor &self = p.self, &out = p.out;
  checker.That(out.dtype() == ACL_INT64, [&] { return DtypeIs(out, "INT64"); });
  checker.That(out.rank() == 2 && out.dim(0) >= *self.count() && out.dim(1) == self.rank(), [&] {
    return Concat("out shape is ", ShapeText(out), ", expected (", *self.count(), ", ", self.rank(),
                  ")");
  });
}

// In order, since each row's place depends on those before it. The number of rows becomes out's
// shape.
Plan PlanNonzero(const NonzeroParams& p, const Product&) {
  const Tensor &self = p.self, &out = p.out;
  const Shape shape = ShapeOf(self);
  const int64_t count = *self.count(), self_bytes = BytesOf(self);
  const Offsets from(self, self.rank());
  const int64_t row_step = out.tensor().strides[0], column_step = out.tensor().strides[1];
  const auto load = LoaderOf<double>(self.dtype());
  const aclTensor* handle = p.out.handle;
  const Place self_at = self.place, out_at = p.out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            auto* rows = reinterpret_cast<int64_t*>(out_at(buffers));
            int64_t found = 0;
            for (int64_t i = 0; i < count; ++i) {
              double value = 0;
              load(self_at(buffers) + from(i) * self_bytes, 0, 1, &value);
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
void CheckNonzeroV2(const NonzeroV2Params& p, Checker& checker) {
  const Tensor &self = p.self, &out = p.out;
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
Plan PlanNonzeroV2(const NonzeroV2Params& p, const Product&) {
  const Tensor& self = p.self;
  const Shape shape = ShapeOf(self);
  const int64_t count = *self.count(), bytes = BytesOf(self);
  const Offsets from(self, self.rank());
  const auto load = LoaderOf<double>(self.dtype());
  const aclTensor* handle = p.out.handle;
  const Place self_at = self.place, out_at = p.out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> places;
            for (int64_t i = 0; i < count; ++i) {
              double value = 0;
              load(self_at(buffers) + from(i) * bytes, 0, 1, &value);
              if (value != 0) places.push_back(i);
            }
            auto* to = reinterpret_cast<int64_t*>(out_at(buffers));
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
