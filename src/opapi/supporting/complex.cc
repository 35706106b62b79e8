// SPDX-License-Identifier: Apache-2.0
// Rows of complex numbers between their stored types and pairs in double; work on their parts.
#include "supporting/complex.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "supporting/in_turn.h"

namespace openaclnn::supporting {

void LoadPairs::operator()(const std::byte* at, int64_t step, int64_t n, Pair* to) const {
  if (imaginary_ > 0 && step == 2 * imaginary_) {  // parts in turn
    return load_(at, imaginary_, 2 * n, reinterpret_cast<double*>(to));
  }
  double real[kPairRun], imaginary[kPairRun] = {};
  for (int64_t i = 0; i < n; i += kPairRun) {
    const int64_t count = std::min(kPairRun, n - i);
    load_(at + i * step, step, count, real);
    if (imaginary_ > 0) load_(at + i * step + imaginary_, step, count, imaginary);
    for (int64_t j = 0; j < count; ++j) to[i + j] = {real[j], imaginary[j]};
  }
}

void StorePairs::operator()(const Pair* from, int64_t n, std::byte* at, int64_t step) const {
  if (imaginary_ > 0 && step == 2 * imaginary_) {
    return store_(reinterpret_cast<const double*>(from), 2 * n, at, imaginary_);
  }
  double parts[kPairRun];
  for (int64_t i = 0; i < n; i += kPairRun) {
    const int64_t count = std::min(kPairRun, n - i);
    for (int64_t j = 0; j < count; ++j) {
      parts[j] = truth_ ? from[i + j] != Pair(0) : from[i + j].real();
    }
    store_(parts, count, at + i * step, step);
    if (imaginary_ == 0) continue;
    for (int64_t j = 0; j < count; ++j) parts[j] = from[i + j].imag();
    store_(parts, count, at + i * step + imaginary_, step);
  }
}

namespace {

/// Sets all imaginary parts to 0.
Plan ClearImaginary(const Tensor& out) {
  const std::array<const Operand*, 1> views = {&out};
  return {
      0,
      [walk = Walk(ShapeOf(out), views), store = StorerOf<double>(PartOf(out.dtype())),
       imaginary = ImaginaryAt(out.dtype()), place = out.place](const Buffers& buffers) -> Status {
        walk.ForRuns({place(buffers)}, [&](const Walk::Pointers& at, int64_t n) {
          constexpr double kZeros[Walk::kRun] = {};
          store(kZeros, n, at[0] + imaginary, walk.step(0));
        });
        return {};
      }};
}

/// The plan on the imaginary parts: memory of complex tensors begins at them.
Plan OnImaginary(const Params& p, Plan plan) {
  std::vector<int64_t> shifts;
  for (const Tensor& tensor : p.tensors) shifts.push_back(ImaginaryAt(tensor.dtype()));
  return {
      plan.workspace_size,
      [work = std::move(plan.work), shifts = std::move(shifts)](const Buffers& buffers) -> Status {
        std::vector<void*> data(buffers.data, buffers.data + shifts.size());
        for (size_t i = 0; i < data.size(); ++i) {
          if (data[i] != nullptr) data[i] = static_cast<std::byte*>(data[i]) + shifts[i];
        }
        return work({data.data(), buffers.workspace});
      }};
}

}  // namespace

void CheckHolds(const Tensor& self, const Tensor& out, Checker& checker) {
  checker.That(!IsComplex(self) || IsComplex(out),
               [&] { return DtypeIs(out, DtypesText(kComplexTypes)); });
  const bool floats = Contains(kRealTypes, self.dtype());
  checker.That(!floats || Contains(kRealTypes | kComplexTypes, out.dtype()),
               [&] { return DtypeIs(out, "a float type, which the result is of"); });
}

Plan ForParts(const Params& p, const Tensor& self, const Tensor& out, Plan plan) {
  if (!IsComplex(out) || out.empty()) return plan;
  Plan other = IsComplex(self) ? OnImaginary(p, plan) : ClearImaginary(out);
  return InTurn({std::move(plan), std::move(other)});
}

}  // namespace openaclnn::supporting
