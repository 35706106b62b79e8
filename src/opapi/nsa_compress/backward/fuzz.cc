// SPDX-License-Identifier: Apache-2.0
// Calls of NsaCompressGrad that a fuzzer may make.
#include "nsa_compress/backward/test_case.h"
#include "tests/fuzz/shapes.h"

namespace openaclnn::fuzz {

static const FuzzedRoom kRoom(test::nsa_compress::backward::kApi,
                              Try<test::nsa_compress::backward::Room>);

}  // namespace openaclnn::fuzz
