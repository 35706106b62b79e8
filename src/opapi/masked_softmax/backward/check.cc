// SPDX-License-Identifier: Apache-2.0
// What ScaledMaskedSoftmaxBackward accepts: its table of types and its checks in their order.
#include "masked_softmax/backward/op.h"
#include "masked_softmax/shared.h"

namespace openaclnn::scaled_masked_softmax_backward {
namespace {

constexpr DtypeSet kNone = 0;
constexpr DtypeSet kBool = Dtypes(ACL_BOOL);

//                     910    A2           A3           950          310P   310B
constexpr OperandSupport kSupport[] = {
    {"gradOutput", {kNone, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
    {"y", {kNone, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
    {"mask", {kNone, kBool, kBool, kBool, kNone, kNone}},
    {"out", {kNone, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
};

}  // namespace

const Operator kOperator = {"aclnnScaledMaskedSoftmaxBackward", kSupport};

Status Check(const Params& p, const Product& product) {
  const int64_t width = p.gradOutput.last_dim();
  return Checker(kOperator, product)
      .Required(p.gradOutput)
      .Required(p.y)
      .Required(p.mask)
      .Required(p.out)
      .Supported()
      .Dtype(p.gradOutput)
      .Dtype(p.y)
      .Dtype(p.mask)
      .Dtype(p.out)
      .PlainFormat(p.gradOutput)
      .PlainFormat(p.y)
      .PlainFormat(p.mask)
      .PlainFormat(p.out)
      .Rank(p.gradOutput, 4)
      .That(0 <= width && width <= masked_softmax::MaxWidth(product),
            [&] { return masked_softmax::WidthText(p.gradOutput, 0, product); })
      .SameShapeAndDtype(p.y, p.gradOutput)
      .SameShapeAndDtype(p.out, p.gradOutput)
      .Rank(p.mask, 4)
      .That(masked_softmax::MaskFits(p.mask, p.gradOutput),
            [&] { return masked_softmax::MaskText(p.mask, p.gradOutput); })
      .That(!p.fixTriuMask, [&] { return Concat("fixTriuMask value is true, expected false"); })
      .status();
}

}  // namespace openaclnn::scaled_masked_softmax_backward
