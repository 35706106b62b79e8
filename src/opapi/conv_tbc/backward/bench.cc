// SPDX-License-Identifier: Apache-2.0
// Times ConvTbcBackward on the perf cases: FLOAT, FLOAT16 and BFLOAT16, operands as they are.
#include "tests/support/bench.h"

#include "conv_tbc/backward/test_case.h"

namespace room = openaclnn::test::conv_tbc::backward;

int main(int argc, char** argv) {
  return openaclnn::test::TimeRoom<room::Room>(argc, argv, room::kApi);
}
