// SPDX-License-Identifier: Apache-2.0
// Times Embedding on the perf cases: FLOAT, FLOAT16 and BFLOAT16, INT64 indices.
#include "tests/support/bench.h"

#include "embedding/forward/test_case.h"

namespace room = openaclnn::test::embedding::forward;

int main(int argc, char** argv) {
  return openaclnn::test::TimeRoom<room::Room>(argc, argv, room::kApi);
}
