// SPDX-License-Identifier: Apache-2.0
// Elementwise operators: out = f(inputs, scalars), broadcast and with types promoted.
#pragma once

#include "kernels/broadcast.h"
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

/// Broadcasts *shape with a tensor's; a checker says which tensor does not fit.
void MeetShape(const Operand& tensor, Shape* shape, Checker* checker);

void CheckElementwise(const Params& params, Checker& checker);
Plan PlanElementwise(const Params& params);

/// Between tensors, each of which may be left out.
void CheckClamp(const Params& params, Checker& checker);
Plan PlanClamp(const Params& params);

/// The same for lists: one result for the k-th members of all lists, and the k-th scalar of a list
/// of scalars.
void CheckForeach(const Params& params, Checker& checker);
Plan PlanForeach(const Params& params);

// The functions, by what operators they serve; expressions.cc has the formulas.
namespace expressions {
extern const Expression kAbs, kAcos, kAcosh, kAdd, kAddcdiv, kAddcmul, kAsin, kAsinh, kAtan, kAtan2,
    kAtanh, kBitwiseAnd, kBitwiseNot, kBitwiseOr, kBitwiseXor, kCeil, kCelu, kClamp, kClampTensor,
    kCopy, kCos, kCosh, kDiv, kDivMod, kElu, kEluGradient, kEq, kErf, kErfc, kErfinv, kExp, kExp2,
    kExpm1, kFill, kFloor, kFloorDivide, kFmod, kFrac, kGe, kGelu, kGeluGradient, kGeluGradientV2,
    kGeluV2, kGt, kHardshrink, kHardsigmoid, kHardsigmoidGradient, kHardswish, kHardswishGradient,
    kHardtanhGradient, kIsClose, kIsFinite, kIsInf, kIsNegInf, kIsPosInf, kLe, kLeakyRelu,
    kLeakyReluGradient, kLeftShift, kLerp, kLerpTensor, kLog, kLog10, kLog1p, kLog2, kLogAddExp,
    kLogAddExp2, kLogSigmoid, kLogSigmoidGradient, kLogicalAnd, kLogicalNot, kLogicalOr,
    kLogicalXor, kLt, kMaskedFill, kMaskedFillTensor, kMax, kMin, kMish, kMishGradient, kMul,
    kNanToNum, kNe, kNeg, kOne, kPow, kPowOfScalar, kReciprocal, kRelu, kRemainder,
    kRemainderOfScalar, kRightShift, kRound, kRoundDecimals, kRsqrt, kRsub, kShrinkGradient,
    kSigmoid, kSigmoidGradient, kSign, kSignbit, kSilu, kSiluGradient, kSin, kSinc, kSinh,
    kSoftplus, kSoftplusGradient, kSoftshrink, kSqrt, kSub, kTan, kTanh, kTanhGradient, kThreshold,
    kThresholdGradient, kTrunc, kWhere, kXLogY, kXLogYOfScalar, kZero;
// The same with a scalar in place of the second input.
extern const Expression kDivModScalar, kFmodScalar, kXLogYScalar, kAddScalar, kBitwiseAndScalar,
    kBitwiseOrScalar, kBitwiseXorScalar, kDivScalar, kEqScalar, kFloorDivideScalar, kGeScalar,
    kGtScalar, kLeScalar, kLtScalar, kMaxScalar, kMinScalar, kMulScalar, kNeScalar, kPowScalar,
    kRemainderScalar, kRsubScalar, kSubScalar, kSumWithScalar;
}  // namespace expressions

}  // namespace openaclnn::supporting
