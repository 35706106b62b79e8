// SPDX-License-Identifier: Apache-2.0
// The checks and the work of the supporting operators that are neither elementwise nor reductions.
#pragma once

#include "supporting/family.h"

namespace openaclnn::supporting {

// select.cc
void CheckArange(const Params& params, Checker& checker);
Plan PlanArange(const Params& params);
void CheckCat(const Params& params, Checker& checker);
Plan PlanCat(const Params& params);
void CheckMaskedSelect(const Params& params, Checker& checker);
Plan PlanMaskedSelect(const Params& params);
void CheckEqual(const Params& params, Checker& checker);
Plan PlanEqual(const Params& params);

// place.cc
void CheckIndexSelect(const Params& params, Checker& checker);
Plan PlanIndexSelect(const Params& params);
void CheckGather(const Params& params, Checker& checker);
Plan PlanGather(const Params& params);
void CheckStack(const Params& params, Checker& checker);
Plan PlanStack(const Params& params);
void CheckTriangle(const Params& params, Checker& checker);
Plan PlanTril(const Params& params);
Plan PlanTriu(const Params& params);
void CheckRepeat(const Params& params, Checker& checker);
Plan PlanRepeat(const Params& params);
void CheckNonzero(const Params& params, Checker& checker);
Plan PlanNonzero(const Params& params);

// random.cc
void CheckRandom(const Params& params, Checker& checker);
Plan PlanNormal(const Params& params);
Plan PlanUniform(const Params& params);
Plan PlanIntegers(const Params& params);

// loss.cc
void CheckNllLoss(const Params& params, Checker& checker);
Plan PlanNllLoss(const Params& params);
void CheckNllLossGradient(const Params& params, Checker& checker);
Plan PlanNllLossGradient(const Params& params);

// matmul.cc
void CheckMatmul(const Params& params, Checker& checker);
void CheckMm(const Params& params, Checker& checker);
void CheckBatchMatMul(const Params& params, Checker& checker);
Plan PlanMatmul(const Params& params);
void CheckAddmm(const Params& params, Checker& checker);
void CheckBaddbmm(const Params& params, Checker& checker);
Plan PlanAddmm(const Params& params);

}  // namespace openaclnn::supporting
