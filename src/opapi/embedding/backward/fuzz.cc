// SPDX-License-Identifier: Apache-2.0
// Calls of EmbeddingDenseBackward that a fuzzer may make.
#include "embedding/backward/test_case.h"
#include "tests/fuzz/room.h"

namespace openaclnn::fuzz {

static void Choose(Decisions& choose, test::embedding::backward::Case* shape) {
  const int64_t tokens = Length(choose, 1300);
  const auto rows = static_cast<uint64_t>(1 + Length(choose, 400));
  const uint64_t paddings[] = {0, rows - 1, rows, test::embedding::backward::kNoPadding};
  *shape = {"",   test::kEdge, {tokens}, Width(choose, std::max<int64_t>(tokens, 400)),
            rows, 0,           false,    test::kUniformRows};
  shape->padding_idx = paddings[choose.Below(4)];
  shape->scale = choose.Below(2) == 1;
  shape->rows = static_cast<test::Rows>(choose.Below(3));
}

static const FuzzedRoom kRoom(test::embedding::backward::kApi,
                              Try<test::embedding::backward::Room>);

}  // namespace openaclnn::fuzz
