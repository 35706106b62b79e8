// SPDX-License-Identifier: Apache-2.0
// The formula of SampleCube, which no other operator has.
#include "supporting/formula-inl.h"

namespace openaclnn::supporting::OPENACLNN_TARGET::expressions {

using formula::Any;
using formula::Times;

const Expression kSampleCube = Any<1, [](auto a, auto) { return Times(Times(a, a), a); }>();

}  // namespace openaclnn::supporting::OPENACLNN_TARGET::expressions
