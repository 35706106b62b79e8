// SPDX-License-Identifier: Apache-2.0
// Times NsaCompressGrad on the perf cases: FLOAT16 and BFLOAT16.
#include "tests/support/bench.h"

#include "nsa_compress/backward/test_case.h"

namespace room = openaclnn::test::nsa_compress::backward;

int main(int argc, char** argv) {
  return openaclnn::test::TimeRoom<room::Room>(argc, argv, room::kApi);
}
