// SPDX-License-Identifier: Apache-2.0
// Slice, Permute and ChannelShuffle: another view of the same elements, copied.
#include "supporting/arrange/view.h"

#include <algorithm>

#include "generated/arrange.h"
#include "kernels/move/copy.h"
#include "supporting/along.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

/// Elements [begin, begin + count * step) along a dimension.
struct Part {
  int64_t begin = 0, count = 0;
};

/// As NumPy slices: ends are counted negative ones count from the end, and cut off at the ends.
Part PartOf(const SliceParams& p) {
  const int64_t length = p.self.dim(*WrapDim(p.dim, p.self.rank()));
  const auto within = [length](int64_t place) {
    return std::clamp<int64_t>(place < 0 ? place + length : place, 0, length);
  };
  const int64_t begin = within(p.start), end = within(p.end);
  return {begin, end <= begin ? 0 : (end - begin - 1) / p.step + 1};
}

}  // namespace

Shape StepsOf(const Operand& self) {
  Shape steps;
  for (uint32_t i = 0; i < self.rank(); ++i) {
    steps.push_back(WrappingProduct(self.tensor().strides[i], BytesOf(self)));
  }
  return steps;
}

Plan MakeCopy(const Tensor& self, const Tensor& out, Shape steps, int64_t offset) {
  const Shape shape = ShapeOf(out);
  const Copy copy(shape, Steps(std::move(steps)), Steps(shape, out), BytesOf(out));
  if (out.empty()) offset = 0;
  const Place from = self.place, to = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            copy(from(buffers) + offset, to(buffers));
            return {};
          }};
}

void CheckSlice(const SliceParams& p, Checker& checker) {
  checker.RankBetween(p.self, 1, kMaxRank).SameDtype(p.out, p.self);
  CheckDim(p.self, p.dim, checker);
  checker.That(p.step > 0,
               [&] { return Concat("step value is ", p.step, ", expected one above 0"); });
  if (!checker.ok()) return;
  Shape shape = ShapeOf(p.self);
  shape[*WrapDim(p.dim, p.self.rank())] = PartOf(p).count;
  CheckShape(p.out, shape, checker);
}

Plan PlanSlice(const SliceParams& p, const Product&) {
  const uint32_t dim = *WrapDim(p.dim, p.self.rank());
  Shape steps = StepsOf(p.self);
  const int64_t offset = WrappingProduct(steps[dim], PartOf(p).begin);
  steps[dim] = WrappingProduct(steps[dim], p.step);
  return MakeCopy(p.self, p.out, std::move(steps), offset);
}

void CheckPermute(const PermuteParams& p, Checker& checker) {
  const auto dims = p.dims.values();
  const uint32_t rank = p.self.rank();
  std::array<bool, kMaxRank> seen{};
  bool fits = dims.size() == rank;
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    const auto dim = WrapDim(dims[i], rank);
    fits = dim && !seen[*dim];
    if (fits) seen[*dim] = true;
  }
  checker.SameDtype(p.out, p.self).That(fits, [&] {
    return Concat("dims value is ", ShapeText(dims.data(), static_cast<uint32_t>(dims.size())),
                  ", expected the dimensions of self, ", ShapeText(p.self), ", each once");
  });
  if (!checker.ok()) return;
  Shape shape;
  for (const int64_t dim : dims) shape.push_back(p.self.dim(*WrapDim(dim, rank)));
  CheckShape(p.out, shape, checker);
}

Plan PlanPermute(const PermuteParams& p, const Product&) {
  const Shape steps = StepsOf(p.self);
  Shape moved;
  for (const int64_t dim : p.dims.values()) moved.push_back(steps[*WrapDim(dim, p.self.rank())]);
  return MakeCopy(p.self, p.out, std::move(moved), 0);
}

void CheckChannelShuffle(const ChannelShuffleParams& p, Checker& checker) {
  checker.RankBetween(p.self, 3, kMaxRank - 1).SameShapeAndDtype(p.out, p.self);
  if (!checker.ok()) return;
  const int64_t channels = p.self.dim(1);
  checker.That(p.groups > 0 && channels % p.groups == 0, [&] {
    return Concat("groups value is ", p.groups, ", expected a divisor of the channels, ", channels);
  });
}

// Channels are two dimensions, which change places.
Plan PlanChannelShuffle(const ChannelShuffleParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const int64_t members = p.self.dim(1) / p.groups;
  Shape shape = ShapeOf(p.self), from = StepsOf(p.self), to = StepsOf(p.out);
  shape[1] = members;
  shape.insert(shape.begin() + 2, p.groups);
  // With one group, or one member, nobody takes the step to the next.
  from.insert(from.begin() + 2, WrappingProduct(from[1], members));
  to.insert(to.begin() + 2, to[1]);
  to[1] = WrappingProduct(to[1], p.groups);
  const Copy copy(shape, Steps(from), Steps(to), BytesOf(p.out));
  return {0, [=, self = p.self.place, out = p.out.place](const Buffers& buffers) -> Status {
            copy(self(buffers), out(buffers));
            return {};
          }};
}

}  // namespace openaclnn::supporting
