// SPDX-License-Identifier: Apache-2.0
// The table of cubeMathType.
#include "kernels/rounding.h"

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
  Math with_hf32, without;  // families
};

constexpr std::nullopt_t kNo = std::nullopt;
constexpr MathRow kMathRows[] = {
    //             0      1      2      3
    {ACL_FLOAT, {kAsIs, kHf32, kFp16, kHf32}, {kNo, kFp16, kFp16, kNo}},
    {ACL_FLOAT16, {kAsIs, kAsIs, kAsIs, kAsIs}, {kAsIs, kAsIs, kAsIs, kAsIs}},
    {ACL_BF16, {kAsIs, kAsIs, kFp16, kAsIs}, {kNo, kNo, kNo, kNo}},
};

}  // namespace

std::optional<Rounding> RoundingOf(int32_t dtype, int64_t cube_math_type, OpenaclnnFamily family) {
  const MathRow* row = std::find_if(std::begin(kMathRows), std::end(kMathRows) - 1,
                                    [&](const MathRow& each) { return each.dtype == dtype; });
  const bool hf32 = family == OPENACLNN_FAMILY_A2 || family == OPENACLNN_FAMILY_A3 ||
                    family == OPENACLNN_FAMILY_950;
  return (hf32 ? row->with_hf32 : row->without)[static_cast<size_t>(cube_math_type)];
}

}  // namespace openaclnn
