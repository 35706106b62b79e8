// SPDX-License-Identifier: Apache-2.0
// The table of cubeMathType.
#include "kernels/number/rounding.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "acl/acl_base.h"

namespace openaclnn {
namespace {

constexpr Rounding kAsIs = Rounding::kNone, kHf32 = Rounding::kHf32, kFp16 = Rounding::kFloat16;
using Math = std::array<std::optional<Rounding>, kMathTypes>;  // by cubeMathType

struct MathRow {
  int32_t dtype;
  Math with_hf32, without;  // products
};

constexpr std::nullopt_t kNo = std::nullopt;
constexpr MathRow kMathRows[] = {
    //             0      1      2      3
    {ACL_FLOAT, {kAsIs, kHf32, kFp16, kHf32}, {kNo, kFp16, kFp16, kNo}},
    {ACL_FLOAT16, {kAsIs, kAsIs, kAsIs, kAsIs}, {kAsIs, kAsIs, kAsIs, kAsIs}},
    {ACL_BF16, {kAsIs, kAsIs, kFp16, kAsIs}, {kNo, kNo, kNo, kNo}},
};

}  // namespace

std::optional<Rounding> RoundingOf(int32_t dtype, int64_t cube_math_type,
                                   const OpenaclnnProduct& product) {
  const MathRow* row = std::find_if(std::begin(kMathRows), std::end(kMathRows) - 1,
                                    [&](const MathRow& each) { return each.dtype == dtype; });
  const Math& math = product.rules->has_hf32 != 0 ? row->with_hf32 : row->without;
  return math[static_cast<size_t>(cube_math_type)];
}

}  // namespace openaclnn
