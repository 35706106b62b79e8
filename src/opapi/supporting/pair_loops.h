// SPDX-License-Identifier: Apache-2.0
// The expressions over complex numbers, in pairs of doubles. They are compiled once, so that their
// bits are those of every instruction set.
#pragma once

#include <complex>
#include <cstdint>

namespace openaclnn::supporting {

/// out[i] = f(in[0][i], …, scalars), as the loops of an Expression; out may be an input.
using PairLoop = void (*)(const std::complex<double>* const* in,
                          const std::complex<double>* scalars, int64_t n,
                          std::complex<double>* out);

/// In the order of a, b, c and the scalars that the real loops have.
namespace pairs {

extern const PairLoop kFirst, kScalar;
extern const PairLoop kNeg, kReciprocal, kSqrt, kRsqrt, kSign, kAbs, kAngle, kSigmoid;
extern const PairLoop kExp, kLog, kLog2, kLog10, kSin, kCos, kTan, kSinh, kCosh, kAsinh, kAcosh,
    kAtanh;
extern const PairLoop kAdd, kAddScalar, kSub, kSubScalar, kRsub, kRsubScalar, kSumOfScalar, kMul,
    kMulScalar, kDiv, kDivScalar, kPow, kPowScalar, kPowOfScalar, kAddcmul, kAddcdiv,
    kSigmoidGradient, kSquaredDifference;
extern const PairLoop kAnd, kOr, kXor, kEq, kEqScalar, kNe, kNeScalar, kIsInf;
extern const PairLoop kWhere, kMaskedFill;

}  // namespace pairs
}  // namespace openaclnn::supporting
