// SPDX-License-Identifier: Apache-2.0
// Calls of ScaledMaskedSoftmax that a fuzzer may make.
#include "masked_softmax/forward/test_case.h"
#include "tests/fuzz/shapes.h"

namespace openaclnn::fuzz {

static const FuzzedRoom kRoom(test::masked_softmax::forward::kApi,
                              Try<test::masked_softmax::forward::Room>);

}  // namespace openaclnn::fuzz
