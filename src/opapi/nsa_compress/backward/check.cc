// SPDX-License-Identifier: Apache-2.0
// What NsaCompressGrad accepts: its table of types and its checks in their order.
#include "nsa_compress/backward/op.h"

namespace openaclnn::nsa_compress_grad {
namespace {

constexpr DtypeSet kNone = 0;
constexpr DtypeSet kHalves = Dtypes(ACL_FLOAT16, ACL_BF16);

//                     910    A2       A3     950    310P   310B
constexpr OperandSupport kSupport[] = {
    {"outputGrad", {kNone, kHalves, kNone, kNone, kNone, kNone}},
    {"input", {kNone, kHalves, kNone, kNone, kNone, kNone}},
    {"weight", {kNone, kHalves, kNone, kNone, kNone, kNone}},
    {"inputGradOut", {kNone, kHalves, kNone, kNone, kNone, kNone}},
    {"weightGradOut", {kNone, kHalves, kNone, kNone, kNone, kNone}},
};

}  // namespace

const Operator kOperator = {"aclnnNsaCompressGrad", kSupport};

Status Check(const Params& p, const Product& product) {
  const nsa::Geometry geometry = p.geometry();
  Checker checker(kOperator, product);
  for (const Operand* operand : p.operands()) checker.Required(*operand);
  checker.List(p.actSeqLen, false).Supported();
  for (const Operand* operand : p.operands()) {
    checker.Dtype(*operand).SameDtype(*operand, p.outputGrad);
  }
  for (const Operand* operand : p.operands()) checker.PlainFormat(*operand);
  nsa::CheckLayout(checker, "layoutOptionalOptional", p.layout);
  nsa::CheckType(checker, p.actSeqLenType);
  checker.Rank(p.outputGrad, 3).Rank(p.input, 3).Rank(p.weight, 2);
  checker.Rank(p.inputGradOut, 3).Rank(p.weightGradOut, 2);
  for (const Operand* operand : p.operands()) checker.NotEmpty(*operand);
  nsa::CheckStride(checker, geometry,
                   geometry.stride < INT64_MAX ? geometry.stride + 1 : INT64_MAX);
  checker.Shape(p.weight, {geometry.block, p.input.dim(1)});
  nsa::CheckEnds(checker, p.actSeqLen, geometry.tokens);
  const int64_t windows = checker.ok() ? nsa::WindowCount(p.actSeqLen.values(), geometry) : 0;
  checker.Shape(p.outputGrad, {windows, p.input.dim(1), p.input.dim(2)})
      .Shape(p.inputGradOut, {p.input.dim(0), p.input.dim(1), p.input.dim(2)})
      .Shape(p.weightGradOut, {geometry.block, p.input.dim(1)});
  nsa::CheckLimits(checker, p.input, geometry);
  nsa::CheckGranules(checker, p.input, geometry, product);
  return checker.status();
}

}  // namespace openaclnn::nsa_compress_grad
