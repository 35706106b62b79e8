// SPDX-License-Identifier: Apache-2.0
// Elementwise operators: out = f(inputs, scalars), broadcast and with types promoted.
#pragma once

#include "supporting/family.h"

namespace openaclnn::supporting {

/// The loops of a function: out[i] = f(in[0][i], …, scalars) in each domain. Without a loop over
/// integers the function is computed in floats.
struct Expression {
  template <class T>
  using Loop = void (*)(const T* const* in, const T* scalars, int64_t n, T* out);

  int inputs;
  bool any_out;  // the result fits any type: a truth value, or a conversion that was asked for
  Loop<float> float32;
  Loop<double> float64;
  Loop<int64_t> integer;
};

void CheckElementwise(const Params& params, Checker& checker);
Plan PlanElementwise(const Params& params);

/// The same for lists: one result for the k-th members of all lists, and the k-th scalar of a list
/// of scalars.
void CheckForeach(const Params& params, Checker& checker);
Plan PlanForeach(const Params& params);

// The functions, by what operators they serve; expressions.cc has the formulas.
namespace expressions {
extern const Expression kAbs, kAdd, kAddcdiv, kAddcmul, kBitwiseAnd, kBitwiseNot, kBitwiseOr,
    kBitwiseXor, kCeil, kClamp, kCopy, kCos, kDiv, kEq, kErf, kExp, kExpm1, kFill, kFloor,
    kFloorDivide, kGe, kGelu, kGeluGradient, kGeluV2, kGt, kIsClose, kIsFinite, kIsInf, kIsNegInf,
    kIsPosInf, kLe, kLerp, kLerpTensor, kLog, kLog1p, kLogicalAnd, kLogicalNot, kLogicalOr,
    kLogicalXor, kLt, kMaskedFill, kMaskedFillTensor, kMax, kMin, kMul, kNe, kNeg, kOne, kPow,
    kPowOfScalar, kReciprocal, kRelu, kRemainder, kRsub, kRound, kRsqrt, kSigmoid, kSigmoidGradient,
    kSign, kSilu, kSiluGradient, kSin, kSqrt, kSub, kTanh, kTanhGradient, kThresholdGradient,
    kTrunc, kWhere, kZero;
// The same with a scalar in place of the second input.
extern const Expression kAddScalar, kBitwiseAndScalar, kBitwiseOrScalar, kBitwiseXorScalar,
    kDivScalar, kEqScalar, kFloorDivideScalar, kGeScalar, kGtScalar, kLeScalar, kLtScalar,
    kMaxScalar, kMinScalar, kMulScalar, kNeScalar, kPowScalar, kRemainderScalar, kRsubScalar,
    kSubScalar, kSumWithScalar;
}  // namespace expressions

}  // namespace openaclnn::supporting
