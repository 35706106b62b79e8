// SPDX-License-Identifier: Apache-2.0
// Times SampleScale on the perf cases: FLOAT, FLOAT16 and BFLOAT16.
#include "tests/support/bench.h"

#include "sample_scale/forward/test_case.h"

namespace room = openaclnn::test::sample_scale::forward;

int main(int argc, char** argv) {
  return openaclnn::test::TimeRoom<room::Room>(argc, argv, room::kApi);
}
