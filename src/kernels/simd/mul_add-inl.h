// SPDX-License-Identifier: Apache-2.0
// a*b + c of a float, of a double and of a register of doubles.
//
// Rounded once, wherever the instruction set has FMA; x86-64-v2, which has none, rounds twice. It
// is written out where it is meant: nothing is contracted by the compiler, so that a loop's vectors
// and its scalar rest give the same bits.
#pragma once

#if defined(__FMA__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_FMA)
#include <arm_neon.h>
#endif

#include "kernels/simd/register-inl.h"

namespace openaclnn {
namespace OPENACLNN_TARGET {

typedef double DoubleRegister __attribute__((vector_size(kRegisterBytes)));

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
inline float MulAdd(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double MulAdd(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
inline float MulAdd(float a, float b, float c) { return a * b + c; }
inline double MulAdd(double a, double b, double c) { return a * b + c; }
#endif

inline DoubleRegister MulAdd(DoubleRegister a, DoubleRegister b, DoubleRegister c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#elif defined(__ARM_FEATURE_FMA)
  return vfmaq_f64(c, a, b);
#else
  return a * b + c;
#endif
}

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
