// SPDX-License-Identifier: Apache-2.0
// Calls that ScaledMaskedSoftmax refuses in phase 1: every check, their order, every product and
// type.
#include <gtest/gtest.h>

#include "masked_softmax/forward/test_case.h"
#include "tests/support/mask_checks.h"
#include "tests/support/room_checks.h"

namespace openaclnn::test::masked_softmax::forward {
namespace {

const std::vector<aclDataType> kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

const MaskChecks<Spec> kChecks = {.api = kApi,
                                  .operands = {{"x", &Spec::x, kFloats, true},
                                               {"mask", &Spec::mask, {ACL_BOOL}},
                                               {"y", &Spec::y, kFloats, true, true}},
                                  .least_width = 1,
                                  .output = &Spec::y};

TEST(ScaledMaskedSoftmaxChecks, WidthsRanksMasksAndViews) {
  ExpectMaskedRowsAreChecked(kChecks, aclnnScaledMaskedSoftmax);
}

INSTANTIATE_TYPED_TEST_SUITE_P(ScaledMaskedSoftmax, RoomChecks, Room);

}  // namespace

std::vector<test::Refusals<Spec>> Room::Refusals() {
  return {{kApi, kChecks.GoodSpec(), kChecks.operands, AllMaskRows(kChecks), kMaskFamilies}};
}

}  // namespace openaclnn::test::masked_softmax::forward
