// SPDX-License-Identifier: Apache-2.0
// ConvTbc of BFLOAT16 of any magnitude.
#include "tests/support/pairs.h"

#include "conv_tbc/forward/test_case.h"

namespace openaclnn::test::conv_tbc::forward {
namespace {

TEST(ConvTbcPairs, HaveTheBitsOfEveryInstructionSet) {
  ExpectSameBitsOfConvPairs<Problem>({&Problem::x, &Problem::w, &Problem::bias});
}

}  // namespace
}  // namespace openaclnn::test::conv_tbc::forward
