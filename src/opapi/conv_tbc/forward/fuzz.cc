// SPDX-License-Identifier: Apache-2.0
// Calls of ConvTbc that a fuzzer may make.
#include "conv_tbc/forward/test_case.h"
#include "tests/fuzz/shapes.h"

namespace openaclnn::fuzz {

static const FuzzedRoom kRoom(test::conv_tbc::forward::kApi, Try<test::conv_tbc::forward::Room>);

}  // namespace openaclnn::fuzz
