// SPDX-License-Identifier: Apache-2.0
// Times GroupedBiasAddGrad on the perf cases: FLOAT, FLOAT16 and BFLOAT16, INT64 lists.
#include "tests/support/bench.h"

#include "grouped_bias/backward/test_case.h"

namespace room = openaclnn::test::grouped_bias::backward;

int main(int argc, char** argv) {
  return openaclnn::test::TimeRoom<room::Room>(argc, argv, room::kApi);
}
