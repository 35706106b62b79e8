// SPDX-License-Identifier: Apache-2.0
// Dropout: a mask of bits, and what it leaves of a tensor.
#include "kernels/rows.h"
#include "kernels/strided.h"
#include "supporting/operators.h"
#include "supporting/philox.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kBits = 128;  // masks are whole multiples of it

/// Bytes of a mask for so many elements.
int64_t MaskBytes(int64_t count) { return (count + kBits - 1) / kBits * kBits / 8; }

void CheckProbability(const Params& p, Checker& checker) {
  checker.That(0 <= p.reals[0] && p.reals[0] <= 1,
               [&] { return Concat("prob value is ", p.reals[0], ", expected 0 to 1"); });
}

std::optional<int64_t> CountOf(const IntList& shape) {
  return ElementCount(shape.values().data(), static_cast<uint32_t>(shape.values().size()));
}

void CheckMask(const Operand& mask, int64_t count, Checker& checker) {
  checker.That(mask.dtype() == ACL_UINT8, [&] { return DtypeIs(mask, "UINT8"); });
  checker.That(mask.rank() == 1 && mask.dim(0) >= MaskBytes(count), [&] {
    return Concat(mask.name(), " shape is ", ShapeText(mask), ", expected (", MaskBytes(count),
                  "), a bit an element in multiples of ", kBits);
  });
}

}  // namespace

// out: the mask of a shape. The probability of a 0, seed, offset.
void CheckDropoutMask(const Params& p, Checker& checker) {
  CheckProbability(p, checker);
  const auto count = CountOf(p.arrays[0]);
  checker.That(count.has_value(), [&] {
    return Concat(
        "shape value is ",
        ShapeText(p.arrays[0].values().data(), static_cast<uint32_t>(p.arrays[0].values().size())),
        ", expected dimensions that are not negative and a size below 2^63");
  });
  if (count) CheckMask(p.out(), *count, checker);
}

namespace {

/// The bits for so many elements.
Plan MakeMask(const Params& p, int64_t count, size_t mask) {
  const double probability = p.reals[0];
  const auto seed = static_cast<uint64_t>(p.integers.end()[-2]);
  const auto offset = static_cast<uint64_t>(p.integers.end()[-1]);
  const int64_t bytes = MaskBytes(count), step = p.tensors[mask].tensor().strides[0];
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(bytes, 64, [&](int64_t i) {
              uint8_t bits = 0;
              for (int bit = 0; bit < 8; ++bit) {
                const auto place = static_cast<uint64_t>(8 * i + bit);
                const bool kept = 1 - Philox(seed, offset, place).Open(0) >= probability;
                bits = static_cast<uint8_t>(bits | (kept ? 1 << bit : 0));
              }
              buffers.As<uint8_t>(mask)[i * step] = bits;
            });
            return {};
          }};
}

}  // namespace

Plan PlanDropoutMask(const Params& p) { return MakeMask(p, *CountOf(p.arrays[0]), 0); }

// self, mask; out = self / (1 - prob) where the mask is 1, else 0.
void CheckDropout(const Params& p, Checker& checker) {
  CheckProbability(p, checker);
  const Operand& self = p.tensors[0];
  checker.That(Contains(kRealTypes, self.dtype()),
               [&] { return DtypeIs(self, DtypesText(kRealTypes)); });
  checker.SameShapeAndDtype(p.out(), self);
  CheckMask(p.tensors[1], *self.count(), checker);
}

namespace {

Plan MakeDropout(const Params& p, size_t mask_at, size_t out_at) {
  const Operand &self = p.tensors[0], &mask = p.tensors[mask_at], &out = p.tensors[out_at];
  const double scale = p.reals[0] < 1 ? 1 / (1 - p.reals[0]) : 0;
  const Offsets from(self, self.rank()), to(out, out.rank());
  const int64_t bytes = BytesOf(self), step = mask.tensor().strides[0], count = *self.count();
  const auto load = LoaderOf<double>(self.dtype());
  const auto store = StorerOf<double>(out.dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(count, 4, [&](int64_t i) {
              const bool kept = (buffers.As<uint8_t>(mask_at)[i / 8 * step] >> (i % 8) & 1) != 0;
              double value = 0;
              if (kept) load(buffers.As<std::byte>(0) + from(i) * bytes, 0, 1, &value);
              value *= scale;
              store(&value, 1, buffers.As<std::byte>(out_at) + to(i) * bytes, 0);
            });
            return {};
          }};
}

}  // namespace

Plan PlanDropout(const Params& p) { return MakeDropout(p, 1, 2); }

// input, optionalNoiseShape; out, maskOut: both steps in one.
void CheckDropoutV3(const Params& p, Checker& checker) {
  CheckProbability(p, checker);
  const Operand& self = p.tensors[0];
  checker.That(!p.tensors[1].present(), [&] {
    return "optionalNoiseShape value is a tensor, expected null: it is not supported";
  });
  checker.That(Contains(kRealTypes, self.dtype()),
               [&] { return DtypeIs(self, DtypesText(kRealTypes)); });
  checker.SameShapeAndDtype(p.tensors[2], self);
  CheckMask(p.tensors[3], *self.count(), checker);
}

Plan PlanDropoutV3(const Params& p) {
  const Plan mask = MakeMask(p, *p.tensors[0].count(), 3), dropout = MakeDropout(p, 3, 2);
  return {0, [=](const Buffers& buffers) -> Status {
            Status status = mask.work(buffers);
            return status.ok() ? dropout.work(buffers) : std::move(status);
          }};
}

}  // namespace openaclnn::supporting
