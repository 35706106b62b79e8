// SPDX-License-Identifier: Apache-2.0
// Which of the loops for random numbers fits the machine.
#include "kernels/number/philox.h"

namespace openaclnn {

const PhiloxKernels* RandomNumbers() { return OPENACLNN_TARGET_SELECT(kPhiloxKernels); }

}  // namespace openaclnn
