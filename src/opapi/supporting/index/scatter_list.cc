// SPDX-License-Identifier: Apache-2.0
// ScatterList: slices of a list of tensors, each from a place of its own on.
#include "generated/index.h"
#include "kernels/move/copy.h"
#include "supporting/along.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"
#include "supporting/places.h"

namespace openaclnn::supporting {

void CheckScatterList(const ScatterListParams& p, Checker& checker) {
  const Tensor& updates = p.updates;
  const auto size = static_cast<int64_t>(p.varRef.size);
  checker.That(size > 0, [] { return "varRef length is 0, expected at least 1"; });
  if (!checker.ok()) return;
  const Tensor& first = p.varRef[0];
  checker.RankBetween(first, 1, kMaxRank - 1).Rank(p.indice, 1).Rank(updates, first.rank() + 1);
  CheckIndexType(p.indice, checker);
  const auto axis = WrapDim(p.axis, first.rank());
  checker.That(axis.has_value(), [&] {
    return Concat("axis value is ", p.axis, ", expected a dimension of varRef, ", ShapeText(first));
  });
  if (p.mask.present()) {
    checker.That(p.mask.dtype() == ACL_UINT8, [&] { return DtypeIs(p.mask, "UINT8"); });
  }
  if (!checker.ok()) return;
  CheckShape(p.indice, Shape{size}, checker);
  if (p.mask.present()) CheckShape(p.mask, Shape{size}, checker);
  Shape slices = ShapeOf(first);
  slices.insert(slices.begin(), size);
  slices[*axis + 1] = updates.dim(*axis + 1);
  CheckShape(updates, slices, checker);
  checker.That(updates.dim(*axis + 1) <= first.dim(*axis), [&] {
    return Concat("updates shape is ", ShapeText(updates),
                  ", expected at most varRef's along axis, ", ShapeText(first));
  });
  for (const Tensor* each : p.varRef.tensors) {
    CheckShape(*each, ShapeOf(first), checker);
    checker.SameDtype(*each, updates);
  }
}

Plan PlanScatterList(const ScatterListParams& p, const Product&) {
  const Tensor &updates = p.updates, &first = p.varRef[0];
  if (updates.empty()) return Nothing();
  const uint32_t axis = *WrapDim(p.axis, first.rank());
  const Shape all = ShapeOf(updates);
  const Shape slice(all.begin() + 1, all.end());
  const Steps steps(all, updates);
  const Steps from(Shape(steps.bytes.begin() + 1, steps.bytes.end()));
  struct Member {
    Place place;
    Copy copy;
    int64_t along;
  };
  std::vector<Member> members;
  for (const Tensor* each : p.varRef.tensors) {
    const Steps to(ShapeOf(*each), *each);
    members.push_back({each->place, Copy(slice, from, to, BytesOf(first)), to.bytes[axis]});
  }
  const IndexReader reader(p.indice, ShapeOf(p.indice));
  const Elements mask(p.mask, 1);
  const int64_t limit = first.dim(axis) - slice[axis] + 1;
  return {0,
          [=, members = std::move(members), step = steps.bytes[0], index_at = p.indice.place,
           updates_at = updates.place](const Buffers& buffers) -> Status {
            std::vector<int64_t> places;
            Status status = reader.Read(index_at(buffers), limit, false, &places);
            if (!status.ok()) return status;
            for (size_t i = 0; i < members.size(); ++i) {
              const auto number = static_cast<int64_t>(i);
              if (mask.Get(buffers, number) == 0) continue;
              const Member& to = members[i];
              to.copy(updates_at(buffers) + number * step,
                      to.place(buffers) + places[i] * to.along);
            }
            return {};
          }};
}

}  // namespace openaclnn::supporting
