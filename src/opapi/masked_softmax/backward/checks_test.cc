// SPDX-License-Identifier: Apache-2.0
// What ScaledMaskedSoftmaxBackward refuses in phase 1: every check, their order, every product and
// type.
#include "tests/support/checks.h"

#include <gtest/gtest.h>

#include "masked_softmax/backward/test_case.h"
#include "tests/support/mask_checks.h"

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

TEST(ScaledMaskedSoftmaxBackwardChecks, EachRow) {
  const Device device;
  ExpectEachRow(kApi, kChecks.GoodSpec(), AllMaskRows(kChecks));
}

TEST(ScaledMaskedSoftmaxBackwardChecks, EarlierRowWins) {
  const Device device;
  ExpectEarlierWins(kApi, kChecks.GoodSpec(), AllMaskRows(kChecks));
}

TEST(ScaledMaskedSoftmaxBackwardChecks, ProductComesAfterNulls) {
  for (const auto& [product, family] :
       {std::pair("Ascend910A", "910"), std::pair("Ascend310P3", "310P")}) {
    ExpectProductComesAfterNulls(kApi, kChecks.GoodSpec(), AllMaskRows(kChecks), product, family,
                                 "A2, A3, 950");
  }
}

TEST(ScaledMaskedSoftmaxBackwardChecks, EveryProductOperandAndType) {
  ExpectTypesAreChecked(kApi, kChecks.GoodSpec(), kChecks.operands, kMaskFamilies);
}

TEST(ScaledMaskedSoftmaxBackwardChecks, HandlesFormatsAndSizes) {
  const Device device;
  ExpectHandlesAreChecked(kApi, kChecks.GoodSpec(), kChecks.operands);
  ExpectNumbersAreChecked(kChecks.GoodSpec(), kChecks.operands);
  ExpectSizesAreChecked(kChecks.GoodSpec(), kChecks.operands);
}

TEST(ScaledMaskedSoftmaxBackwardChecks, WidthOnEveryProduct) { ExpectWidthsAreChecked(kChecks); }

TEST(ScaledMaskedSoftmaxBackwardChecks, RanksAndMaskShapes) {
  const Device device;
  ExpectRanksAreChecked(kChecks);
  ExpectMaskShapesAreChecked(kChecks);
}

TEST(ScaledMaskedSoftmaxBackwardChecks, OutputThatOverlapsItself) {
  const Device device;
  ExpectSelfOverlapIsRefused(kChecks);
}

TEST(ScaledMaskedSoftmaxBackwardChecks, ViewsWithoutElementsReachNothing) {
  const Device device;
  ExpectViewsWithoutElementsAreTaken(kChecks, device, aclnnScaledMaskedSoftmaxBackward);
}

}  // namespace
}  // namespace openaclnn::test::masked_softmax::backward
