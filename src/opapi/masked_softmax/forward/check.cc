// SPDX-License-Identifier: Apache-2.0
// The calls that ScaledMaskedSoftmax accepts: its table of types, and the checks that its family
// shares.
#include "masked_softmax/forward/op.h"

namespace openaclnn::masked_softmax::forward {
namespace {

constexpr OperandSupport kSupport[] = {
    {"x", kData},
    {"mask", kMasks},
    {"y", kData},
};

}  // namespace

const Operator kOperator = {"aclnnScaledMaskedSoftmax", kSupport};

Status Check(const Params& p, const Product& product) {
  const std::array<const Operand*, 1> like = {&p.y};
  return CheckArguments(kOperator, product,
                        {.operands = p.operands(),
                         .like = like,
                         .mask = p.mask,
                         .least_width = 1,
                         .fixTriuMask = p.fixTriuMask});
}

}  // namespace openaclnn::masked_softmax::forward
