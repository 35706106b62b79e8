// SPDX-License-Identifier: Apache-2.0
// The calls that ScaledMaskedSoftmaxBackward accepts: its table of types, and the checks that its
// family shares.
#include "masked_softmax/backward/op.h"

namespace openaclnn::masked_softmax::backward {
namespace {

constexpr OperandSupport kSupport[] = {
    {"gradOutput", kData},
    {"y", kData},
    {"mask", kMasks},
    {"out", kData},
};

}  // namespace

const Operator kOperator = {"aclnnScaledMaskedSoftmaxBackward", kSupport};

Status Check(const Params& p, const Product& product) {
  const std::array<const Operand*, 2> like = {&p.y, &p.out};
  return CheckArguments(kOperator, product,
                        {.operands = p.operands(),
                         .like = like,
                         .mask = p.mask,
                         .least_width = 0,
                         .fixTriuMask = p.fixTriuMask});
}

}  // namespace openaclnn::masked_softmax::backward
