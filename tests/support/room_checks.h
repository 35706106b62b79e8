// SPDX-License-Identifier: Apache-2.0
// What every operator refuses in phase 1: each of its documented checks, their order, and the walks
// over handles, products, types, formats and sizes.
//
// A Room has Spec and Refusals(): the calls that are walked, one for each function and shape of it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/walks.h"

namespace openaclnn::test {

template <class Room>
class RoomChecks : public testing::Test {};
TYPED_TEST_SUITE_P(RoomChecks);

TYPED_TEST_P(RoomChecks, EachRow) {
  const Device device;
  for (const auto& each : TypeParam::Refusals()) ExpectEachRow(each.api, each.good, each.rows);
}

TYPED_TEST_P(RoomChecks, EarlierRowWins) {
  const Device device;
  for (const auto& each : TypeParam::Refusals()) ExpectEarlierWins(each.api, each.good, each.rows);
}

// On a product of each family that has not got the operator.
TYPED_TEST_P(RoomChecks, ProductComesAfterNulls) {
  for (const auto& each : TypeParam::Refusals()) {
    std::string families;
    for (const Family family : each.families) {
      families += (families.empty() ? "" : ", ") + std::string(NameOf(family));
    }
    std::vector<Family> walked = each.families;
    for (const ProductEntry& product : kProducts) {
      if (IsOneOf(product.family, walked)) continue;
      walked.push_back(product.family);
      ExpectProductComesAfterNulls(each.api, each.good, each.rows, product.name,
                                   NameOf(product.family),
                                   ExpectedFamilies(each.families.size(), families));
    }
    EXPECT_EQ(walked.size(), kFamilies.size());
  }
}

TYPED_TEST_P(RoomChecks, EveryProductOperandAndType) {
  for (const auto& each : TypeParam::Refusals()) {
    ExpectTypesAreChecked(each.api, each.good, each.operands, each.families);
  }
}

TYPED_TEST_P(RoomChecks, HandlesFormatsAndSizes) {
  const Device device;
  for (const auto& each : TypeParam::Refusals()) {
    ExpectHandlesAreChecked(each.api, each.good, each.operands);
    ExpectNumbersAreChecked(each.good, each.operands);
    ExpectSizesAreChecked(each.good, each.operands);
  }
}

REGISTER_TYPED_TEST_SUITE_P(RoomChecks, EachRow, EarlierRowWins, ProductComesAfterNulls,
                            EveryProductOperandAndType, HandlesFormatsAndSizes);

}  // namespace openaclnn::test
