// SPDX-License-Identifier: Apache-2.0
// What a fuzzer may ask of ConvTbc.
#include "conv_tbc/forward/test_case.h"
#include "tests/fuzz/shapes.h"

namespace openaclnn::fuzz {

static const FuzzedRoom kRoom(test::conv_tbc::forward::kApi, Try<test::conv_tbc::forward::Room>);

}  // namespace openaclnn::fuzz
