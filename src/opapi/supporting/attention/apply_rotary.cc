// SPDX-License-Identifier: Apache-2.0
// ApplyRotaryPosEmb: the pairs of query and key are turned in place by the same angles.
#include <string_view>

#include "generated/attention.h"
#include "supporting/attention/rotary.h"

namespace openaclnn::supporting {
namespace {

// The numbers of layouts.
enum Layout { kBsnd = 1, kSbnd, kBnsd, kTnd };

/// The dimension of heads.
uint32_t HeadsAt(int64_t layout) { return layout == kTnd || layout == kBnsd ? 1 : 2; }

RotaryMode ModeOf(const char* name) {
  const std::string_view mode = name == nullptr ? "" : name;
  return mode == "interleave" ? kNeighbours : mode == "quarter" ? kQuarters : kHalves;
}

}  // namespace

void CheckApplyRotary(const ApplyRotaryParams& p, Checker& checker) {
  const uint32_t rank = p.layout == kTnd ? 3 : 4, heads = HeadsAt(p.layout);
  for (const Tensor* each : {&p.queryRef, &p.keyRef, &p.cos, &p.sin}) {
    checker.Rank(*each, rank).SameDtype(*each, p.queryRef);
  }
  if (!checker.ok()) return;
  Shape shape = ShapeOf(p.queryRef);
  shape[heads] = p.keyRef.dim(heads);
  CheckShape(p.keyRef, shape, checker);
  CheckRotated(p.queryRef, ModeOf(p.rotaryMode), p.cos, p.sin, checker);
  if (!checker.ok()) return;
  shape[heads] = 1;
  // Batches may share angles; other dimensions are those of query.
  const uint32_t batches = p.layout == kSbnd ? 1 : 0;
  if (p.layout != kTnd && p.cos.dim(batches) == 1) shape[batches] = 1;
  CheckShape(p.cos, shape, checker);
  CheckShape(p.sin, shape, checker);
}

Plan PlanApplyRotary(const ApplyRotaryParams& p, const Product&) {
  const RotaryMode mode = ModeOf(p.rotaryMode);
  const Plan of_query = PlanRotation(p.queryRef, p.cos, p.sin, mode, p.queryRef),
             of_key = PlanRotation(p.keyRef, p.cos, p.sin, mode, p.keyRef);
  return {0, [=](const Buffers& buffers) -> Status {
            Status done = of_query.work(buffers);
            return done.ok() ? of_key.work(buffers) : done;
          }};
}

}  // namespace openaclnn::supporting
