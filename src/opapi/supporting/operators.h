// SPDX-License-Identifier: Apache-2.0
// The checks and the work of the supporting operators that are neither elementwise nor reductions.
#pragma once

#include "supporting/family.h"

namespace openaclnn::supporting {

// Declares functions of these types.
using CheckOf = void(const Params&, Checker&);
using PlanOf = Plan(const Params&);

// select.cc
CheckOf CheckArange, CheckCat, CheckMaskedSelect, CheckEqual;
PlanOf PlanArange, PlanCat, PlanMaskedSelect, PlanEqual;

// place.cc
CheckOf CheckIndexSelect, CheckGather, CheckStack, CheckTriangle, CheckRepeat, CheckNonzero,
    CheckNonzeroV2;
PlanOf PlanIndexSelect, PlanGather, PlanStack, PlanTril, PlanTriu, PlanRepeat, PlanNonzero,
    PlanNonzeroV2;

// random.cc
CheckOf CheckRandom, CheckBernoulli, CheckRandomPermutation, CheckMultinomial, CheckNormalOf;
PlanOf PlanNormal, PlanUniform, PlanIntegers, PlanBernoulli, PlanRandomPermutation, PlanMultinomial,
    PlanNormalOf;

// loss.cc
CheckOf CheckNllLoss, CheckNllLossGradient;
PlanOf PlanNllLoss, PlanNllLossGradient;

// pointwise_loss.cc: the row's expression of each element, in double.
CheckOf CheckLoss, CheckLossGradient;
PlanOf PlanLoss, PlanLossGradient;
// The losses' formulas are expressions too.
namespace expressions {
extern const Expression kMse, kMseGradient, kL1, kL1Gradient, kSmoothL1, kSmoothL1Gradient,
    kBinaryCrossEntropy, kBinaryCrossEntropyGradient, kLogitsCrossEntropy,
    kLogitsCrossEntropyGradient, kKlDiv, kKlDivGradient, kKlDivTargetGradient, kSoftMargin,
    kSoftMarginGradient;
}  // namespace expressions

// statistics.cc, checked as reductions
CheckOf CheckProductAlong, CheckExtremes, CheckForeachNorm;
PlanOf PlanVariance, PlanDeviation, PlanNorm, PlanProduct, PlanProductAlong, PlanLogSumExp,
    PlanPresentSum, PlanExtremes, PlanMedian, PlanForeachNorm;

// scan.cc
CheckOf CheckScan, CheckProducts, CheckScanAt;
PlanOf PlanSums, PlanProducts, PlanRunningMax, PlanRunningMin;

// order.cc
CheckOf CheckSort, CheckArgSort, CheckTopk, CheckKthValue, CheckMedianAlong;
PlanOf PlanSort, PlanArgSort, PlanTopk, PlanKthValue, PlanMedianAlong;

// map.cc
CheckOf CheckFlip, CheckRoll, CheckConstantPad, CheckMirrorPad, CheckMirrorPadGradient;
PlanOf PlanFlip, PlanRoll, PlanConstantPad, PlanReflectionPad, PlanReplicationPad,
    PlanReflectionPadGradient, PlanReplicationPadGradient;

// index.cc
CheckOf CheckIndex, CheckIndexPut, CheckTake, CheckPut, CheckRepeatInterleave,
    CheckRepeatInterleaveGradient;
PlanOf PlanIndex, PlanIndexPut, PlanTake, PlanPut, PlanRepeatInterleave,
    PlanRepeatInterleaveGradient;

// scatter.cc
CheckOf CheckScatter, CheckScatterAdd, CheckIndexAdd, CheckIndexCopy, CheckIndexFill,
    CheckIndexFillAt, CheckMaskedScatter;
PlanOf PlanScatter, PlanScatterAdd, PlanIndexAdd, PlanIndexCopy, PlanIndexFill, PlanIndexFillAt,
    PlanMaskedScatter;

// make.cc
CheckOf CheckEye, CheckLinspace, CheckOneHot, CheckFillDiagonal;
PlanOf PlanEye, PlanLinspace, PlanOneHot, PlanFillDiagonal;

// dropout.cc
CheckOf CheckDropoutMask, CheckDropout, CheckDropoutV3;
PlanOf PlanDropoutMask, PlanDropout, PlanDropoutV3;

// normalize.cc
CheckOf CheckLayerNorm, CheckLayerNormGradient, CheckGroupNorm, CheckGroupNormGradient,
    CheckBatchNorm, CheckBatchNormGradient;
PlanOf PlanLayerNorm, PlanLayerNormGradient, PlanGroupNorm, PlanGroupNormGradient, PlanBatchNorm,
    PlanBatchNormGradient;

// attention.cc
CheckOf CheckAttention, CheckAttentionGradient;
PlanOf PlanAttention, PlanAttentionGradient;
/// The number of a layout, -1 for another.
int64_t AttentionLayout(const char* name);

// along.cc
CheckOf CheckGlu, CheckGluGradient;
PlanOf PlanGlu, PlanGluGradient;

// search.cc
CheckOf CheckSearchSorted, CheckUnique;
PlanOf PlanSearchSorted, PlanUnique;

// training.cc
CheckOf CheckUnscale, CheckUpdateScale, CheckAdamW;
PlanOf PlanUnscale, PlanUpdateScale, PlanAdamW;

// matmul.cc
CheckOf CheckMatmul, CheckMm, CheckBatchMatMul, CheckAddmm, CheckBaddbmm;
PlanOf PlanMatmul, PlanAddmm;

}  // namespace openaclnn::supporting
