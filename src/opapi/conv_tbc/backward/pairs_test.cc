// SPDX-License-Identifier: Apache-2.0
// ConvTbcBackward of BFLOAT16 of any magnitude.
#include "tests/support/pairs.h"

#include "conv_tbc/backward/test_case.h"

namespace openaclnn::test::conv_tbc::backward {
namespace {

TEST(ConvTbcBackwardPairs, HaveTheBitsOfEveryInstructionSet) {
  ExpectSameBitsOfConvPairs<Problem>({&Problem::dy, &Problem::x, &Problem::w});
}

}  // namespace
}  // namespace openaclnn::test::conv_tbc::backward
