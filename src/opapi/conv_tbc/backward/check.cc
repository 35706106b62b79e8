// SPDX-License-Identifier: Apache-2.0
// The calls that ConvTbcBackward accepts: its table of types and its checks in their order.
#include "conv_tbc/backward/op.h"

namespace openaclnn::conv_tbc::backward {
namespace {

constexpr OperandSupport kSupport[] = {
    {"self", kTypes},      {"input", kTypes},      {"weight", kTypes},   {"bias", kTypes},
    {"gradInput", kTypes}, {"gradWeight", kTypes}, {"gradBias", kTypes},
};

}  // namespace

const Operator kOperator = {"aclnnConvTbcBackward", kSupport};

Status Check(const Params& p, const Product& product) {
  Checker checker(kOperator, product);
  checker.Required(p.operands());
  checker.Supported();
  checker.Dtype(p.operands());
  for (const Operand* operand : {&p.input, &p.weight, &p.bias}) {
    checker.SameDtype(*operand, p.self);
  }
  checker.SameDtype(p.gradInput, p.input).SameDtype(p.gradWeight, p.weight);
  checker.SameDtype(p.gradBias, p.bias);
  for (const Operand* operand : p.operands()) {
    operand == &p.bias || operand == &p.gradBias ? CheckBiasFormat(checker, *operand)
                                                 : CheckFormats(checker, *operand);
  }
  checker.NotEmpty(p.self);
  checker.Rank(p.self, 3).Rank(p.input, 3).Rank(p.weight, 3).Rank(p.bias, 1);
  checker.Rank(p.gradInput, 3).Rank(p.gradWeight, 3).Rank(p.gradBias, 1);
  CheckGeometry(checker, product, p.input, p.weight, p.bias, p.pad, {&p.self, &p.input, &p.weight});
  CheckOutput(checker, p.self, p.input, p.weight, p.pad);
  checker.Shape(p.gradInput, {p.input.dim(0), p.input.dim(1), p.input.dim(2)})
      .Shape(p.gradWeight, {p.weight.dim(0), p.weight.dim(1), p.weight.dim(2)})
      .Shape(p.gradBias, {p.bias.dim(0)});
  CheckMathType(checker, product, p.self.dtype(), p.cubeMathType);
  return checker.status();
}

}  // namespace openaclnn::conv_tbc::backward
