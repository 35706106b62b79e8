// SPDX-License-Identifier: Apache-2.0
// Complex numbers as pairs of real ones: in double, whatever they are stored as, and rounded once.
#pragma once

#include <cmath>
#include <complex>

#include "kernels/move/broadcast.h"
#include "kernels/number/number.h"
#include "supporting/family.h"
#include "supporting/movable.h"
#include "supporting/unsigned.h"

namespace openaclnn::supporting {

/// A complex number as operators compute it; an array of them has parts in turn.
using Pair = std::complex<double>;

inline bool IsComplex(const Operand& operand) { return Contains(kComplexTypes, operand.dtype()); }

/// Pairs of a run, of which a few fit on any stack.
inline constexpr int64_t kPairRun = 128;

/// Reads numbers of any type; real ones have an imaginary part of 0.
class LoadPairs {
 public:
  explicit LoadPairs(const Operand& operand)
      : load_(WholeLoaderOf<double>(PartOf(operand.dtype()), ACL_DOUBLE)),
        imaginary_(ImaginaryAt(operand.dtype())) {}

  void operator()(const std::byte* at, int64_t step, int64_t n, Pair* to) const;

 private:
  LoadRow<double> load_;
  int64_t imaginary_;  // 0: there is none
};

/// Writes numbers; a type of real numbers gets the real parts, BOOL whether either part is not 0.
class StorePairs {
 public:
  explicit StorePairs(const Operand& operand)
      : store_(WholeStorerOf<double>(PartOf(operand.dtype()))),
        imaginary_(ImaginaryAt(operand.dtype())),
        truth_(operand.dtype() == ACL_BOOL) {}

  void operator()(const Pair* from, int64_t n, std::byte* at, int64_t step) const;

 private:
  StoreRow<double> store_;
  int64_t imaginary_;
  bool truth_;
};

/// a b by its parts, as NumPy has it: infinity times 0 is NaN.
inline Pair ProductOf(Pair a, Pair b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// a / b by Smith's formula. One by 0 is NaN in both parts.
inline Pair QuotientOf(Pair a, Pair b) {
  const double x = std::abs(b.real()), y = std::abs(b.imag());
  if (x == 0 && y == 0) return {std::nan(""), std::nan("")};
  if (x >= y) {
    const double ratio = b.imag() / b.real(), scale = 1 / (b.real() + b.imag() * ratio);
    return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
  }
  const double ratio = b.real() / b.imag(), scale = 1 / (b.imag() + b.real() * ratio);
  return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

// Products and quotients of the T that work is done in.
template <class T>
T Multiplied(T a, T b) {
  if constexpr (std::is_same_v<T, Pair>) {
    return ProductOf(a, b);
  } else {
    return a * b;
  }
}
template <class T>
T DividedBy(T a, T b) {
  if constexpr (std::is_same_v<T, Pair>) {
    return QuotientOf(a, b);
  } else {
    return a / b;
  }
}

/// How work in T reads and writes the elements of an operand, UINT64 too. Work in real numbers has
/// the real parts of a complex operand (ForParts).
template <class T>
auto LoadOf(const Operand& operand) {
  if constexpr (std::is_same_v<T, Pair>) {
    return LoadPairs(operand);
  } else {
    return WholeLoaderOf<T>(PartOf(operand.dtype()), ACL_DOUBLE);
  }
}
template <class T>
auto StoreOf(const Operand& operand) {
  if constexpr (std::is_same_v<T, Pair>) {
    return StorePairs(operand);
  } else {
    return WholeStorerOf<T>(PartOf(operand.dtype()));
  }
}

/// Checks that out's type can hold numbers made of self's: complex ones need a complex type, floats
/// a float or a complex type.
void CheckHolds(const Tensor& self, const Tensor& out, Checker& checker);

/// Makes a plan for complex numbers of one that reads and writes numbers of PartOf a tensor's type:
/// it runs on the real parts of all complex tensors, then on the imaginary ones. If self is real
/// the imaginary parts of out become 0 instead. If out is real the plan stays as it is.
Plan ForParts(const Params& p, const Tensor& self, const Tensor& out, Plan plan);

}  // namespace openaclnn::supporting
