// SPDX-License-Identifier: Apache-2.0
// The calls that GroupedBiasAddGrad accepts: its table of types and its checks in their order.
#include "grouped_bias/backward/op.h"

namespace openaclnn::grouped_bias::backward {
namespace {

constexpr DtypeSet kListTypes = Dtypes(ACL_INT32, ACL_INT64);
constexpr int64_t kMaxListedGroups = 2048;

//                     910    A2           A3           950          310P   310B
constexpr OperandSupport kSupport[] = {
    {"gradY", {kNone, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
    {"groupIdxOptional", {kNone, kListTypes, kListTypes, kListTypes, kNone, kNone}},
    {"out", {kNone, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
};

/// The checks that both versions share.
Checker CheckTensors(const Operator& op, const Params& p, const Product& product) {
  const bool listed = p.groupIdxOptional.found() != OPENACLNN_NULL;
  const int64_t groups = listed ? p.groupIdxOptional.dim(0) : p.gradY.dim(0);
  Checker checker(op, product);
  checker.Required(p.gradY);
  if (listed) checker.Required(p.groupIdxOptional);
  checker.Required(p.out).Supported().Dtype(p.gradY).Dtype(p.out);
  checker.That(p.out.dtype() == p.gradY.dtype(), [&] {
    return Concat("out dtype is ", DtypeText(p.out.dtype()), ", expected that of gradY, ",
                  DtypeText(p.gradY.dtype()));
  });
  if (listed) checker.Dtype(p.groupIdxOptional);
  checker.Rank(p.gradY, listed ? 2 : 3);
  if (listed) {
    checker.Rank(p.groupIdxOptional, 1).That(groups <= kMaxListedGroups, [&] {
      return Concat("groupIdxOptional shape is ", ShapeText(p.groupIdxOptional),
                    ", expected at most ", kMaxListedGroups, " groups");
    });
  }
  checker.Rank(p.out, 2).Shape(p.out, {groups, p.gradY.last_dim()}).PlainFormat(p.gradY);
  if (listed) checker.PlainFormat(p.groupIdxOptional);
  checker.PlainFormat(p.out);
  return checker;
}

}  // namespace

const Operator kOperator = {"aclnnGroupedBiasAddGrad", kSupport};
const Operator kOperatorV2 = {"aclnnGroupedBiasAddGradV2", kSupport};

Status Check(const Params& p, const Product& product) {
  return CheckTensors(kOperator, p, product).status();
}

Status CheckV2(const Params& p, const Product& product) {
  return CheckTensors(kOperatorV2, p, product)
      .That(p.groupIdxType == kEnds || p.groupIdxType == kSizes,
            [&] {
              return Concat("groupIdxType value is ", p.groupIdxType,
                            ", expected 0 (end positions) or 1 (sizes)");
            })
      .status();
}

}  // namespace openaclnn::grouped_bias::backward
