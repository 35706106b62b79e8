// SPDX-License-Identifier: Apache-2.0
// The addends of attention's scores (pse): their checks, and how the kernels read them.
#include "supporting/attention/position_shift.h"

#include "supporting/attention/sequences.h"

namespace openaclnn::supporting {

PositionShift::PositionShift(const Tensor& tensor, int64_t pse_type, int64_t row, int64_t key)
    : given(IsGiven(tensor)), type(pse_type), place(tensor.place) {
  if (!given) return;
  const uint32_t rank = tensor.rank();
  if (!of_slopes()) {
    if (rank <= 4) numbers = ScoreView(tensor, false);
    return;
  }
  const auto step_of = [&](uint32_t d) {
    return WrappingProduct(tensor.tensor().strides[d], BytesOf(tensor));
  };
  slopes = {.given = true,
            .roots = type == kRoots,
            .batch_step = rank == 2 ? step_of(0) : 0,
            .head_step = rank == 0 ? 0 : step_of(rank - 1),
            .load = LoaderOf<float>(tensor.dtype()),
            .ahead = row - key};
}

void PositionShift::Check(const Tensor& tensor, const Shape& scores, Checker& checker) const {
  const int64_t batches = scores[0], heads = scores[1];
  if (!of_slopes()) {
    checker.That(tensor.rank() <= 4 && numbers.Fits(scores), [&] {
      return Concat(tensor.name(), " shape is ", ShapeText(tensor),
                    ", expected one that can be broadcast to ", ShapeText(scores.data(), 4));
    });
    return;
  }
  checker.That(tensor.dtype() == ACL_FLOAT, [&] { return DtypeIs(tensor, "FLOAT"); });
  const bool of_heads = tensor.rank() == 1 && tensor.dim(0) == heads;
  const bool of_batches = tensor.rank() == 2 && tensor.dim(0) == batches && tensor.dim(1) == heads;
  checker.That(of_heads || of_batches, [&] {
    return Concat(tensor.name(), " shape is ", ShapeText(tensor), ", expected (", heads, ") or (",
                  batches, ", ", heads, ") in pseType 2 and 3");
  });
}

void PositionShift::Set(Attention* attention) const {
  attention->shift = numbers.lie;
  attention->slopes = slopes;
  if (given && type == kScaled) attention->shift_factor = attention->scale;
}

int64_t FirstOf(const IntList& start) { return start.values().empty() ? 0 : start.values()[0]; }

void CheckStart(const IntList& start, Checker& checker) {
  constexpr int64_t kFar = int64_t{1} << 31;
  const int64_t first = FirstOf(start);
  checker.That(start.values().size() <= 1 && first >= -kFar && first <= kFar, [&] {
    return Concat(start.name(), " value is ", ListText(start.values()),
                  ", expected one number from -2^31 to 2^31, or none");
  });
}

}  // namespace openaclnn::supporting
