// SPDX-License-Identifier: Apache-2.0
// What NsaCompress accepts: its table of types and its checks in their order.
#include "nsa_compress/forward/op.h"

namespace openaclnn::nsa_compress {
namespace {

constexpr DtypeSet kNone = 0;
constexpr DtypeSet kHalves = Dtypes(ACL_FLOAT16, ACL_BF16);

//                     910    A2       A3     950    310P   310B
constexpr OperandSupport kSupport[] = {
    {"input", {kNone, kHalves, kNone, kNone, kNone, kNone}},
    {"weight", {kNone, kHalves, kNone, kNone, kNone, kNone}},
    {"output", {kNone, kHalves, kNone, kNone, kNone, kNone}},
};

}  // namespace

const Operator kOperator = {"aclnnNsaCompress", kSupport};

Status Check(const Params& p, const Product& product) {
  const nsa::Geometry geometry = p.geometry();
  Checker checker(kOperator, product);
  for (const Operand* operand : p.operands()) checker.Required(*operand);
  checker.List(p.actSeqLen, false).Supported();
  for (const Operand* operand : p.operands()) checker.Dtype(*operand).SameDtype(*operand, p.input);
  for (const Operand* operand : p.operands()) checker.PlainFormat(*operand);
  nsa::CheckLayout(checker, "layoutOptional", p.layout);
  nsa::CheckType(checker, p.actSeqLenType);
  checker.Rank(p.input, 3).Rank(p.weight, 2).Rank(p.output, 3);
  for (const Operand* operand : p.operands()) checker.NotEmpty(*operand);
  nsa::CheckStride(checker, geometry, /*least_block=*/geometry.stride);
  checker.Shape(p.weight, {geometry.block, p.input.dim(1)})
      .That(p.actSeqLen.found() != OPENACLNN_NULL, [] {
        return Concat("actSeqLenOptional value is null, expected the ends of the segments");
      });
  nsa::CheckEnds(checker, p.actSeqLen, geometry.tokens);
  const int64_t windows = checker.ok() ? nsa::WindowCount(p.actSeqLen.values(), geometry) : 0;
  checker.Shape(p.output, {windows, p.input.dim(1), p.input.dim(2)});
  nsa::CheckLimits(checker, p.input, geometry);
  nsa::CheckGranules(checker, p.input, geometry, product);
  return checker.status();
}

}  // namespace openaclnn::nsa_compress
