// SPDX-License-Identifier: Apache-2.0
// Times ConvTbc on the perf cases: FLOAT, FLOAT16 and BFLOAT16, operands as they are.
#include <benchmark/benchmark.h>

#include "conv_tbc/forward/test_case.h"
#include "tests/support/conv_timing.h"

namespace room = openaclnn::test::conv_tbc::forward;

int main(int argc, char** argv) {
  return openaclnn::test::TimeConvCases<room::Problem>(argc, argv, room::Cases(), room::kApi,
                                                       aclnnConvTbc, 1);
}
