// SPDX-License-Identifier: Apache-2.0
// Calls of SampleScale that a fuzzer may make.
#include "sample_scale/forward/test_case.h"
#include "tests/fuzz/room.h"

namespace openaclnn::fuzz {

static void Choose(Decisions& choose, test::sample_scale::forward::Case* shape) {
  const int64_t rows = choose.Below(5);
  *shape = {"", test::kEdge, {rows, Width(choose, rows)}, 0.25 * choose.Below(9)};
}

static const FuzzedRoom kRoom(test::sample_scale::forward::kApi,
                              Try<test::sample_scale::forward::Room>);

}  // namespace openaclnn::fuzz
