// SPDX-License-Identifier: Apache-2.0
// Calls that ScaledMaskedSoftmaxBackward refuses in phase 1: every check, their order, every
// product and type.
#include <gtest/gtest.h>

#include "masked_softmax/backward/test_case.h"
#include "tests/support/mask_checks.h"
#include "tests/support/room_checks.h"

namespace openaclnn::test::masked_softmax::backward {
namespace {

const std::vector<aclDataType> kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

const MaskChecks<Spec> kChecks = {.api = kApi,
                                  .operands = {{"gradOutput", &Spec::grad_output, kFloats, true},
                                               {"y", &Spec::y, kFloats, true},
                                               {"mask", &Spec::mask, {ACL_BOOL}},
                                               {"out", &Spec::out, kFloats, true, true}},
                                  .least_width = 0,
                                  .output = &Spec::out};

TEST(ScaledMaskedSoftmaxBackwardChecks, WidthsRanksMasksAndViews) {
  ExpectMaskedRowsAreChecked(kChecks, aclnnScaledMaskedSoftmaxBackward);
}

INSTANTIATE_TYPED_TEST_SUITE_P(ScaledMaskedSoftmaxBackward, RoomChecks, Room);

}  // namespace

std::vector<test::Refusals<Spec>> Room::Refusals() {
  return {{kApi, kChecks.GoodSpec(), kChecks.operands, AllMaskRows(kChecks), kMaskFamilies}};
}

}  // namespace openaclnn::test::masked_softmax::backward
