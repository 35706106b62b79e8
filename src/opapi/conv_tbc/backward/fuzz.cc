// SPDX-License-Identifier: Apache-2.0
// Calls of ConvTbcBackward that a fuzzer may make.
#include "conv_tbc/backward/test_case.h"
#include "tests/fuzz/shapes.h"

namespace openaclnn::fuzz {

static const FuzzedRoom kRoom(test::conv_tbc::backward::kApi, Try<test::conv_tbc::backward::Room>);

}  // namespace openaclnn::fuzz
