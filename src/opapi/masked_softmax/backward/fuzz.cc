// SPDX-License-Identifier: Apache-2.0
// Calls of ScaledMaskedSoftmaxBackward that a fuzzer may make.
#include "masked_softmax/backward/test_case.h"
#include "tests/fuzz/shapes.h"

namespace openaclnn::fuzz {

static const FuzzedRoom kRoom(test::masked_softmax::backward::kApi,
                              Try<test::masked_softmax::backward::Room>);

}  // namespace openaclnn::fuzz
