// SPDX-License-Identifier: Apache-2.0
// Types that the vendor's pages name, or leave out.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

TEST(SupportingTypes, TruthValuesHaveNoNegative) {
  const Device device;
  const DeviceTensor truth = Make(ACL_BOOL, {2}, {1, 0});
  EXPECT_REFUSED(161002, "self dtype is BOOL", Neg, truth.handle(), Handle(truth));
  EXPECT_REFUSED(161002, "selfRef dtype is BOOL", InplaceNeg, Handle(truth));
}

}  // namespace
}  // namespace openaclnn::test
