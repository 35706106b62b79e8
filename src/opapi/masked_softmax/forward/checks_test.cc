// SPDX-License-Identifier: Apache-2.0
// What ScaledMaskedSoftmax refuses in phase 1: every check, their order, every product and
// type.
#include "tests/support/checks.h"

#include <gtest/gtest.h>

#include "masked_softmax/forward/test_case.h"
#include "tests/support/mask_checks.h"

namespace openaclnn::test::masked_softmax::forward {
namespace {

const std::vector<aclDataType> kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

const MaskChecks<Spec> kChecks = {.api = kApi,
                                  .operands = {{"x", &Spec::x, kFloats, true},
                                               {"mask", &Spec::mask, {ACL_BOOL}},
                                               {"y", &Spec::y, kFloats, true, true}},
                                  .least_width = 1,
                                  .output = &Spec::y};

TEST(ScaledMaskedSoftmaxChecks, EachRow) {
  const Device device;
  ExpectEachRow(kApi, kChecks.GoodSpec(), AllMaskRows(kChecks));
}

TEST(ScaledMaskedSoftmaxChecks, EarlierRowWins) {
  const Device device;
  ExpectEarlierWins(kApi, kChecks.GoodSpec(), AllMaskRows(kChecks));
}

TEST(ScaledMaskedSoftmaxChecks, ProductComesAfterNulls) {
  for (const auto& [product, family] :
       {std::pair("Ascend910A", "910"), std::pair("Ascend310P3", "310P")}) {
    ExpectProductComesAfterNulls(kApi, kChecks.GoodSpec(), AllMaskRows(kChecks), product, family,
                                 "A2, A3, 950");
  }
}

TEST(ScaledMaskedSoftmaxChecks, EveryProductOperandAndType) {
  ExpectTypesAreChecked(kApi, kChecks.GoodSpec(), kChecks.operands, kMaskFamilies);
}

TEST(ScaledMaskedSoftmaxChecks, HandlesFormatsAndSizes) {
  const Device device;
  ExpectHandlesAreChecked(kApi, kChecks.GoodSpec(), kChecks.operands);
  ExpectNumbersAreChecked(kChecks.GoodSpec(), kChecks.operands);
  ExpectSizesAreChecked(kChecks.GoodSpec(), kChecks.operands);
}

TEST(ScaledMaskedSoftmaxChecks, WidthOnEveryProduct) { ExpectWidthsAreChecked(kChecks); }

TEST(ScaledMaskedSoftmaxChecks, RanksAndMaskShapes) {
  const Device device;
  ExpectRanksAreChecked(kChecks);
  ExpectMaskShapesAreChecked(kChecks);
}

TEST(ScaledMaskedSoftmaxChecks, OutputThatOverlapsItself) {
  const Device device;
  ExpectSelfOverlapIsRefused(kChecks);
}

TEST(ScaledMaskedSoftmaxChecks, ViewsWithoutElementsReachNothing) {
  const Device device;
  ExpectViewsWithoutElementsAreTaken(kChecks, device, aclnnScaledMaskedSoftmax);
}

}  // namespace
}  // namespace openaclnn::test::masked_softmax::forward
