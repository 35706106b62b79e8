// SPDX-License-Identifier: Apache-2.0
// What ConvTbc accepts: its table of types and its checks in their order.
#include "conv_tbc/forward/op.h"

namespace openaclnn::conv_tbc {
namespace {

constexpr DtypeSet kNone = 0;

//                     910                 A2           A3           950          310P   310B
constexpr OperandSupport kSupport[] = {
    {"self", {kFloatTypesNoBf16, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
    {"weight", {kFloatTypesNoBf16, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
    {"bias", {kFloatTypesNoBf16, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
    {"out", {kFloatTypesNoBf16, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
};

}  // namespace

const Operator kOperator = {"aclnnConvTbc", kSupport};

Status Check(const Params& p, const Product& product) {
  Checker checker(kOperator, product);
  for (const Operand* operand : p.operands()) checker.Required(*operand);
  checker.Supported();
  for (const Operand* operand : p.operands()) checker.Dtype(*operand);
  for (const Operand* operand : p.operands()) checker.SameDtype(*operand, p.self);
  tbc::CheckFormats(checker, p.self);
  tbc::CheckFormats(checker, p.weight);
  tbc::CheckBiasFormat(checker, p.bias);
  tbc::CheckFormats(checker, p.out);
  checker.Rank(p.self, 3).Rank(p.weight, 3).Rank(p.bias, 1).Rank(p.out, 3);
  tbc::CheckGeometry(checker, product, p.self, p.weight, p.bias, p.pad,
                     {&p.self, &p.weight, &p.out});
  tbc::CheckOutput(checker, p.out, p.self, p.weight, p.pad);
  tbc::CheckMathType(checker, product, p.self.dtype(), p.cubeMathType);
  return checker.status();
}

}  // namespace openaclnn::conv_tbc
