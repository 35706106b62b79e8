// SPDX-License-Identifier: Apache-2.0
// TransQuantParam: a scale of 19 bits and an offset of 9 bits in the 64 bits that QuantMatmul
// reads.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "generated/quant.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

constexpr uint32_t kDropped = 13;  // bits of a FLOAT that 19 bits leave out

/// The bits of a FLOAT; rounded to the nearest of 19 bits, ties to even, or cut.
uint64_t ScaleBits(float scale, bool rounds) {
  uint32_t bits = 0;
  std::memcpy(&bits, &scale, sizeof(bits));
  if (rounds && std::isfinite(scale)) {
    bits += ((1u << (kDropped - 1)) - 1) + (bits >> kDropped & 1);
  }
  return bits & ~((1u << kDropped) - 1);
}

/// Nine bits of two's complement.
uint64_t OffsetBits(double offset) {
  const double whole = std::isnan(offset) ? 0 : std::clamp(std::nearbyint(offset), -256.0, 255.0);
  return static_cast<uint64_t>(static_cast<int64_t>(whole)) & 0x1ff;
}

/// One dimension: as many as the longer one, where the other may be 1. Two: both are alike.
void CheckParam(const Tensor& scale, const Tensor& offset, const Tensor& out, Checker& checker) {
  checker.RankBetween(scale, 1, 2);
  if (!checker.ok()) return;
  Shape shape = ShapeOf(scale);
  if (offset.present() && scale.rank() == 1 && scale.dim(0) == 1 && offset.rank() == 1) {
    shape = ShapeOf(offset);
  }
  if (offset.present() && offset.count() != 1) CheckShape(offset, shape, checker);
  CheckShape(out, shape, checker);
}

Plan PlanParam(const Tensor& scale, const Tensor& offset, const Tensor& out, bool rounds) {
  if (out.empty()) return Nothing();
  const Elements scales(scale, 1), offsets(offset, 0);
  const bool one_scale = scale.count() == 1, one_offset = offset.count() == 1;
  const bool shifts = offset.present();
  const Place place = out.place;
  const Offsets at(out, out.rank());
  const int64_t count = *out.count();
  return {0, [=](const Buffers& buffers) -> Status {
            auto* const to = reinterpret_cast<uint64_t*>(place(buffers));
            for (int64_t i = 0; i < count; ++i) {
              const auto value = static_cast<float>(scales.Get(buffers, one_scale ? 0 : i));
              uint64_t bits = ScaleBits(value, rounds) | uint64_t{1} << 46;
              if (shifts) bits |= OffsetBits(offsets.Get(buffers, one_offset ? 0 : i)) << 37;
              to[at(i)] = bits;
            }
            return {};
          }};
}

}  // namespace

void CheckTransQuantParamV2(const TransQuantParamV2Params& p, Checker& checker) {
  CheckParam(p.scale, p.offset, p.out, checker);
}
Plan PlanTransQuantParamV2(const TransQuantParamV2Params& p, const Product&) {
  return PlanParam(p.scale, p.offset, p.out, false);
}

void CheckTransQuantParamV3(const TransQuantParamV3Params& p, Checker& checker) {
  CheckParam(p.scale, p.offset, p.out, checker);
}
Plan PlanTransQuantParamV3(const TransQuantParamV3Params& p, const Product&) {
  return PlanParam(p.scale, p.offset, p.out, p.roundMode == 1);
}

}  // namespace openaclnn::supporting
