// SPDX-License-Identifier: Apache-2.0
// Dropout: a mask of bits, and what it leaves of a tensor.
#include <algorithm>

#include "generated/random.h"
#include "kernels/move/strided.h"
#include "kernels/number/philox.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/in_turn.h"
#include "supporting/random/seed.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kBits = 128;  // masks are whole multiples of it
constexpr int64_t kMaskRun = kBits / 8;

/// Bytes of a mask for so many elements.
int64_t MaskBytes(int64_t count) {
  return (count / kBits + (count % kBits != 0 ? 1 : 0)) * (kBits / 8);
}

void CheckProbability(double probability, Checker& checker) {
  checker.That(0 <= probability && probability <= 1,
               [&] { return Concat("prob value is ", probability, ", expected 0 to 1"); });
}

void CheckReal(const Tensor& tensor, Checker& checker) {
  checker.That(Contains(kRealTypes, tensor.dtype()),
               [&] { return DtypeIs(tensor, DtypesText(kRealTypes)); });
}

std::optional<int64_t> CountOf(const IntList& shape) {
  return ElementCount(shape.values().data(), static_cast<uint32_t>(shape.values().size()));
}

/// One that is read may be longer.
void CheckMask(const Operand& mask, int64_t count, Checker& checker) {
  const int64_t bytes = MaskBytes(count);
  const bool is_input = mask.role() == OPENACLNN_INPUT;
  checker.That(mask.dtype() == ACL_UINT8, [&] { return DtypeIs(mask, "UINT8"); });
  const bool long_enough =
      mask.rank() == 1 && (is_input ? mask.dim(0) >= bytes : mask.dim(0) == bytes);
  checker.That(long_enough, [&] {
    return Concat(mask.name(), " shape is ", ShapeText(mask), ", expected (", bytes,
                  "), a bit an element in multiples of ", kBits);
  });
}

/// The bits for so many elements.
template <class P>
Plan MakeMask(const P& p, int64_t count, const Tensor& mask) {
  const double probability = p.prob;
  const int64_t step = mask.tensor().strides[0];
  const int64_t runs = MaskBytes(count) / kMaskRun;
  const PhiloxKernels* const kernels = RandomNumbers();
  const Place mask_at = mask.place;
  return {0, [=, seed = Seed(p)](const Buffers& buffers) -> Status {
            if (runs == 0) return {};
            const RandomKey key = seed(buffers);
            ParallelRows(runs, kMaskRun * 64, [&](int64_t run) {
              uint8_t bits[kMaskRun];
              const auto first = static_cast<uint64_t>(run * kBits);
              kernels->at_least(key, first, kBits, probability, bits);
              CopyStrided(bits, 1, mask_at(buffers) + run * kMaskRun * step, step, kMaskRun, 1);
            });
            return {};
          }};
}

/// The values whose bit is 1, scaled; 0 for the others.
void Keep(uint8_t kept, double scale, int64_t n, double* values) {
  for (int64_t i = 0; i < n; ++i) {
    values[i] = ((kept >> i & 1) != 0 ? values[i] : 0) * scale;
  }
}

/// self / (1 - probability) where the mask is 1, else 0.
Plan MakeDropout(const Tensor& self, const Tensor& mask, double probability, const Tensor& out) {
  const double scale = probability < 1 ? 1 / (1 - probability) : 0;
  const Offsets from(self, self.rank()), to(out, out.rank());
  const bool even = (from.step() != 0 && to.step() != 0);
  const int64_t bytes = BytesOf(self), step = mask.tensor().strides[0], count = *self.count();
  const auto load = LoaderOf<double>(self.dtype());
  const auto store = StorerOf<double>(out.dtype());
  const Place self_at = self.place, mask_at = mask.place, out_at = out.place;
  const int64_t runs = DivideUp(count, kBits);
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(runs, kBits * 4, [&](int64_t run) {
              const int64_t first = run * kBits, n = std::min(kBits, count - first);
              std::byte *const in = self_at(buffers), *const to_at = out_at(buffers);
              double values[kBits];
              if (even) load(in + from(first) * bytes, from.step() * bytes, n, values);
              for (int64_t i = 0; !even && i < n; ++i) {
                load(in + from(first + i) * bytes, 0, 1, values + i);
              }
              const std::byte* const mask_run = mask_at(buffers) + run * kMaskRun * step;
              for (int64_t i = 0; i < n; i += 8) {
                const auto kept = static_cast<uint8_t>(mask_run[i / 8 * step]);
                Keep(kept, scale, std::min<int64_t>(8, n - i), values + i);
              }
              if (even) store(values, n, to_at + to(first) * bytes, to.step() * bytes);
              for (int64_t i = 0; !even && i < n; ++i) {
                store(values + i, 1, to_at + to(first + i) * bytes, 0);
              }
            });
            return {};
          }};
}

}  // namespace

void CheckDropoutMask(const DropoutMaskParams& p, Checker& checker) {
  CheckProbability(p.prob, checker);
  const auto dims = p.shape.values();
  const auto count = CountOf(p.shape);
  checker.That(count.has_value(), [&] {
    return Concat("shape value is ", ShapeText(dims.data(), static_cast<uint32_t>(dims.size())),
                  ", expected dimensions that are not negative and a size below 2^63");
  });
  if (count) CheckMask(p.out, *count, checker);
  CheckSeed(p, checker);
}

Plan PlanDropoutMask(const DropoutMaskParams& p, const Product&) {
  return MakeMask(p, *CountOf(p.shape), p.out);
}

void CheckDropout(const DropoutParams& p, Checker& checker) {
  CheckProbability(p.prob, checker);
  CheckReal(p.self, checker);
  checker.SameShapeAndDtype(p.out, p.self);
  CheckMask(p.mask, *p.self.count(), checker);
}

Plan PlanDropout(const DropoutParams& p, const Product&) {
  return MakeDropout(p.self, p.mask, p.prob, p.out);
}

// Both steps in one.
void CheckDropoutV3(const DropoutV3Params& p, Checker& checker) {
  CheckProbability(p.prob, checker);
  checker.That(!p.optionalNoiseShape.present(), [&] {
    return "optionalNoiseShape value is a tensor, expected null: it is not supported";
  });
  CheckReal(p.input, checker);
  checker.SameShapeAndDtype(p.out, p.input);
  CheckMask(p.maskOut, *p.input.count(), checker);
}

Plan PlanDropoutV3(const DropoutV3Params& p, const Product&) {
  return InTurn(
      {MakeMask(p, *p.input.count(), p.maskOut), MakeDropout(p.input, p.maskOut, p.prob, p.out)});
}

}  // namespace openaclnn::supporting
