// SPDX-License-Identifier: Apache-2.0
// Calls of NsaCompress that a fuzzer may make.
#include "nsa_compress/forward/test_case.h"
#include "tests/fuzz/shapes.h"

namespace openaclnn::fuzz {

static const FuzzedRoom kRoom(test::nsa_compress::forward::kApi,
                              Try<test::nsa_compress::forward::Room>);

}  // namespace openaclnn::fuzz
