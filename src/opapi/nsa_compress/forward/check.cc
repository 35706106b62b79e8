// SPDX-License-Identifier: Apache-2.0
// The calls that NsaCompress accepts: its table of types, and the checks that its family shares.
#include "nsa_compress/forward/op.h"

namespace openaclnn::nsa_compress::forward {
namespace {

constexpr OperandSupport kSupport[] = {
    {"input", kTypes},
    {"weight", kTypes},
    {"output", kTypes},
};

}  // namespace

const Operator kOperator = {"aclnnNsaCompress", kSupport};

Status Check(const Params& p, const Product& product) {
  const std::array<const Operand*, 1> weights = {&p.weight};
  return CheckArguments(kOperator, product,
                        {.operands = p.operands(),
                         .weights = weights,
                         .of_windows = p.output,
                         .input = p.input,
                         .ends = p.actSeqLen,
                         .null_ends = false,
                         .layout_name = "layoutOptional",
                         .layout = p.layout,
                         .type = p.actSeqLenType,
                         .geometry = p.geometry(),
                         .may_abut = true});
}

}  // namespace openaclnn::nsa_compress::forward
