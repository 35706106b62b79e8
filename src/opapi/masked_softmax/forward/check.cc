// SPDX-License-Identifier: Apache-2.0
// What ScaledMaskedSoftmax accepts: its table of types and its checks in their order.
#include "masked_softmax/forward/op.h"
#include "masked_softmax/shared.h"

namespace openaclnn::scaled_masked_softmax {
namespace {

constexpr DtypeSet kNone = 0;
constexpr DtypeSet kBool = Dtypes(ACL_BOOL);

//                     910    A2           A3           950          310P   310B
constexpr OperandSupport kSupport[] = {
    {"x", {kNone, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
    {"mask", {kNone, kBool, kBool, kBool, kNone, kNone}},
    {"y", {kNone, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
};

}  // namespace

const Operator kOperator = {"aclnnScaledMaskedSoftmax", kSupport};

Status Check(const Params& p, const Product& product) {
  const int64_t width = p.x.last_dim();
  return Checker(kOperator, product)
      .Required(p.x)
      .Required(p.mask)
      .Required(p.y)
      .Supported()
      .Dtype(p.x)
      .Dtype(p.mask)
      .Dtype(p.y)
      .PlainFormat(p.x)
      .PlainFormat(p.mask)
      .PlainFormat(p.y)
      .Rank(p.x, 4)
      .That(0 < width && width <= masked_softmax::MaxWidth(product),
            [&] { return masked_softmax::WidthText(p.x, 1, product); })
      .SameShapeAndDtype(p.y, p.x)
      .Rank(p.mask, 4)
      .That(masked_softmax::MaskFits(p.mask, p.x),
            [&] { return masked_softmax::MaskText(p.mask, p.x); })
      .That(!p.fixTriuMask, [&] { return Concat("fixTriuMask value is true, expected false"); })
      .status();
}

}  // namespace openaclnn::scaled_masked_softmax
