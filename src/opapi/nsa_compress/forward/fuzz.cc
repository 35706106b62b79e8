// SPDX-License-Identifier: Apache-2.0
// What a fuzzer may ask of NsaCompress.
#include "nsa_compress/forward/test_case.h"
#include "tests/fuzz/shapes.h"

namespace openaclnn::fuzz {

static const FuzzedRoom kRoom(test::nsa_compress::forward::kApi,
                              Try<test::nsa_compress::forward::Room>);

}  // namespace openaclnn::fuzz
