// SPDX-License-Identifier: Apache-2.0
// Calls of GroupedBiasAddGrad that a fuzzer may make.
#include "grouped_bias/backward/test_case.h"
#include "tests/fuzz/room.h"

namespace openaclnn::fuzz {

static void Choose(Decisions& choose, test::grouped_bias::backward::Case* shape) {
  *shape = {"", test::kEdge, 0,
            0,  0,           static_cast<test::grouped_bias::backward::Groups>(choose.Below(5))};
  shape->groups = Length(choose, shape->listed() ? 600 : 20);
  if (shape->listed()) shape->groups = std::max<int64_t>(shape->groups, 1);
  shape->rows = Length(choose, 1300);
  shape->width = Width(choose, std::max(shape->all_rows(), shape->groups));
}

static const FuzzedRoom kRoom(test::grouped_bias::backward::kApi,
                              Try<test::grouped_bias::backward::Room>);

}  // namespace openaclnn::fuzz
