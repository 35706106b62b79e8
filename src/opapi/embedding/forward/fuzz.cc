// SPDX-License-Identifier: Apache-2.0
// Calls of Embedding that a fuzzer may make.
#include "embedding/forward/test_case.h"
#include "tests/fuzz/room.h"

namespace openaclnn::fuzz {

static void Choose(Decisions& choose, test::embedding::forward::Case* shape) {
  const int64_t tokens = Length(choose, 1300), rows = 1 + Length(choose, 400);
  *shape = {"",   test::kEdge,       {tokens}, Width(choose, std::max<int64_t>(tokens, 400)),
            rows, test::kUniformRows};
  shape->rows = static_cast<test::Rows>(choose.Below(3));
}

static const FuzzedRoom kRoom(test::embedding::forward::kApi, Try<test::embedding::forward::Room>);

}  // namespace openaclnn::fuzz
