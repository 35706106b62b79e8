// SPDX-License-Identifier: Apache-2.0
// The calls that NsaCompressGrad accepts: its table of types, and the checks that its family
// shares.
#include "nsa_compress/backward/op.h"

namespace openaclnn::nsa_compress::backward {
namespace {

constexpr OperandSupport kSupport[] = {
    {"outputGrad", kTypes},   {"input", kTypes},         {"weight", kTypes},
    {"inputGradOut", kTypes}, {"weightGradOut", kTypes},
};

}  // namespace

const Operator kOperator = {"aclnnNsaCompressGrad", kSupport};

Status Check(const Params& p, const Product& product) {
  const std::array<const Operand*, 2> weights = {&p.weight, &p.weightGradOut};
  return CheckArguments(kOperator, product,
                        {.operands = p.operands(),
                         .weights = weights,
                         .of_windows = p.outputGrad,
                         .input = p.input,
                         .ends = p.actSeqLen,
                         .null_ends = true,
                         .layout_name = "layoutOptionalOptional",
                         .layout = p.layout,
                         .type = p.actSeqLenType,
                         .geometry = p.geometry(),
                         .may_abut = false});
}

}  // namespace openaclnn::nsa_compress::backward
