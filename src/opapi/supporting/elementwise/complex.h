// SPDX-License-Identifier: Apache-2.0
// Complex numbers as pairs of real ones.
#pragma once

#include "kernels/number.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

inline constexpr DtypeSet kComplexTypes = Dtypes(ACL_COMPLEX64, ACL_COMPLEX128);

inline bool IsComplex(const Operand& operand) { return Contains(kComplexTypes, operand.dtype()); }

/// The type of a complex number's two parts; any other is its own.
constexpr int32_t PartOf(int32_t dtype) {
  return dtype == ACL_COMPLEX64 ? ACL_FLOAT : dtype == ACL_COMPLEX128 ? ACL_DOUBLE : dtype;
}

/// Of them, in bytes from the first.
inline int64_t ImaginaryAt(const Operand& complex) { return BytesOf(complex) / 2; }

/// A run of complex numbers in double.
struct Parts {
  explicit Parts(int64_t count) : n(count) {}

  int64_t n;
  double real[Walk::kRun], imaginary[Walk::kRun];
};

/// Reads runs of numbers of any type; those that are real have an imaginary part of 0.
class LoadParts {
 public:
  explicit LoadParts(const Operand& operand)
      : load_(LoaderOf<double>(PartOf(operand.dtype()))),
        imaginary_(IsComplex(operand) ? ImaginaryAt(operand) : 0) {}

  void operator()(const std::byte* at, int64_t step, Parts* parts) const {
    load_(at, step, parts->n, parts->real);
    if (imaginary_ == 0) {
      std::fill_n(parts->imaginary, parts->n, 0.0);
    } else {
      load_(at + imaginary_, step, parts->n, parts->imaginary);
    }
  }

 private:
  LoadRow<double> load_;
  int64_t imaginary_;
};

/// Writes runs of complex numbers.
class StoreParts {
 public:
  explicit StoreParts(const Operand& operand)
      : store_(StorerOf<double>(PartOf(operand.dtype()))), imaginary_(ImaginaryAt(operand)) {}

  void operator()(const Parts& parts, std::byte* at, int64_t step) const {
    store_(parts.real, parts.n, at, step);
    store_(parts.imaginary, parts.n, at + imaginary_, step);
  }

 private:
  StoreRow<double> store_;
  int64_t imaginary_;
};

}  // namespace openaclnn::supporting
