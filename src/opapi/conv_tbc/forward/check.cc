// SPDX-License-Identifier: Apache-2.0
// The calls that ConvTbc accepts: its table of types and its checks in their order.
#include "conv_tbc/forward/op.h"

namespace openaclnn::conv_tbc::forward {
namespace {

constexpr OperandSupport kSupport[] = {
    {"self", kTypes},
    {"weight", kTypes},
    {"bias", kTypes},
    {"out", kTypes},
};

}  // namespace

const Operator kOperator = {"aclnnConvTbc", kSupport};

Status Check(const Params& p, const Product& product) {
  Checker checker(kOperator, product);
  checker.Required(p.operands());
  checker.Supported();
  checker.Dtype(p.operands());
  for (const Operand* operand : p.operands()) checker.SameDtype(*operand, p.self);
  CheckFormats(checker, p.self);
  CheckFormats(checker, p.weight);
  CheckBiasFormat(checker, p.bias);
  CheckFormats(checker, p.out);
  checker.Rank(p.self, 3).Rank(p.weight, 3).Rank(p.bias, 1).Rank(p.out, 3);
  CheckGeometry(checker, product, p.self, p.weight, p.bias, p.pad, {&p.self, &p.weight, &p.out});
  CheckOutput(checker, p.out, p.self, p.weight, p.pad);
  CheckMathType(checker, product, p.self.dtype(), p.cubeMathType);
  return checker.status();
}

}  // namespace openaclnn::conv_tbc::forward
