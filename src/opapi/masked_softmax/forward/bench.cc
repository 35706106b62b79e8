// SPDX-License-Identifier: Apache-2.0
// Times ScaledMaskedSoftmax on the perf cases: FLOAT, FLOAT16 and BFLOAT16.
#include "tests/support/bench.h"

#include "masked_softmax/forward/test_case.h"

namespace room = openaclnn::test::masked_softmax::forward;

int main(int argc, char** argv) {
  return openaclnn::test::TimeRoom<room::Room>(argc, argv, room::kApi);
}
