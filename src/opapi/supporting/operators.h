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

}  // namespace openaclnn::supporting
