// SPDX-License-Identifier: Apache-2.0
// The calls that SampleScale accepts: its table of types and its checks in their order.
#include "sample_scale/forward/op.h"

namespace openaclnn::sample_scale::forward {
namespace {

//                             910                A2           A3           950          310P   310B
constexpr OperandSupport kSupport[] = {
    {"self", {kFloatTypesNoBf16, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
    {"out", {kFloatTypesNoBf16, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
};

}  // namespace

const Operator kOperator = {"aclnnSampleScale", kSupport};

Status Check(const Params& p, const Product& product) {
  return Checker(kOperator, product)
      .Required(p.self)
      .Required(p.out)
      .Supported()
      .Dtype(p.self)
      .Dtype(p.out)
      .RankBetween(p.self, 1, kMaxRank)
      .SameShapeAndDtype(p.out, p.self)
      .PlainFormat(p.self)
      .PlainFormat(p.out)
      .status();
}

}  // namespace openaclnn::sample_scale::forward
