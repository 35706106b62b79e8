// SPDX-License-Identifier: Apache-2.0
// cubeMathType against its documented table, for every product and type.
#include "kernels/number/rounding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "frame/operand.h"
#include "tests/support/conv.h"

namespace openaclnn::test {
namespace {

Computed Meaning(std::optional<Rounding> rounding) {
  if (!rounding) return Computed::kRefused;
  return *rounding == Rounding::kNone   ? Computed::kAsIs
         : *rounding == Rounding::kHf32 ? Computed::kAsHf32
                                        : Computed::kAsFloat16;
}

TEST(RoundingOf, IsTheDocumentedTable) {
  const OpenaclnnRuntime& runtime = *Meta()->runtime;
  EXPECT_EQ(runtime.product_count(), std::size(kProducts));
  for (uint32_t i = 0; i < runtime.product_count(); ++i) {
    const OpenaclnnProduct& product = *runtime.product_at(i);
    const auto* entry = std::find_if(
        std::begin(kProducts), std::end(kProducts),
        [&](const ProductEntry& each) { return std::string_view(each.name) == product.name; });
    ASSERT_NE(entry, std::end(kProducts)) << product.name;
    // Without convolutions; products of matrices see operands as on 910.
    const bool is_310 = entry->family == Family::k310P || entry->family == Family::k310B;
    const Family family = is_310 ? Family::k910 : entry->family;
    for (const aclDataType dtype : kFloatDtypes) {
      for (int math = 0; math < kMathTypes; ++math) {
        EXPECT_EQ(Meaning(RoundingOf(dtype, math, product)), HowComputed(family, dtype, math))
            << product.name << " " << dtype << " " << math;
      }
    }
  }
}

// What every product of a family shares is what the operators' and the runtime's pages say.
TEST(FamilyRules, AreThoseOfThePages) {
  const OpenaclnnRuntime& runtime = *Meta()->runtime;
  for (uint32_t i = 0; i < runtime.product_count(); ++i) {
    const OpenaclnnProduct& product = *runtime.product_at(i);
    SCOPED_TRACE(product.name);
    const OpenaclnnFamilyRules& rules = *product.rules;
    const OpenaclnnFamily family = product.family;
    EXPECT_STREQ(rules.name, runtime.family_name(family));
    const bool limited = family == OPENACLNN_FAMILY_A2 || family == OPENACLNN_FAMILY_A3;
    EXPECT_EQ(rules.max_conv_taps, limited ? 255 : 0);
    EXPECT_EQ(rules.max_conv_pad, limited ? 255 : 0);
    EXPECT_EQ(rules.max_conv_dim, limited ? 2147483646 : 0);
    EXPECT_EQ(rules.max_softmax_width, family == OPENACLNN_FAMILY_950 ? 8192 : 4096);
    EXPECT_EQ(rules.max_counter_bytes, family == OPENACLNN_FAMILY_910 ? 180192 : 0);
    EXPECT_EQ(rules.malloc_padding,
              family == OPENACLNN_FAMILY_910 || family == OPENACLNN_FAMILY_950 ? 0 : 32);
  }
}

}  // namespace
}  // namespace openaclnn::test
