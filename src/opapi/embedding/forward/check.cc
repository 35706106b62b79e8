// SPDX-License-Identifier: Apache-2.0
// The calls that Embedding accepts: its table of types and its checks in their order.
#include "embedding/forward/op.h"

namespace openaclnn::embedding::forward {
namespace {

// Every type of 1, 2, 4 or 8 bytes; the 910 family has no BFLOAT16.
constexpr DtypeSet kMovable = [] {
  DtypeSet set = 0;
  for (const DataTypeInfo& info : data_type_table::kTypes) {
    if (info.bytes >= 1 && info.bytes <= 8) set |= Dtypes(info.type);
  }
  return set;
}();
constexpr DtypeSet kMovableNoBf16 = kMovable & ~Dtypes(ACL_BF16);

//                                910             A2        A3        950       310P   310B
constexpr OperandSupport kSupport[] = {
    {"weight", {kMovableNoBf16, kMovable, kMovable, kMovable, kNone, kNone}},
    {"indices", {kIndexTypes, kIndexTypes, kIndexTypes, kIndexTypes, kNone, kNone}},
    {"out", {kMovableNoBf16, kMovable, kMovable, kMovable, kNone, kNone}},
};

/// The shape of indices followed by D.
bool OutShapeFits(const Params& p) {
  if (p.out.rank() != p.indices.rank() + 1) return false;
  for (uint32_t i = 0; i < p.indices.rank(); ++i) {
    if (p.out.dim(i) != p.indices.dim(i)) return false;
  }
  return p.out.last_dim() == p.weight.last_dim();
}

}  // namespace

const Operator kOperator = {"aclnnEmbedding", kSupport};

Status Check(const Params& p, const Product& product) {
  return Checker(kOperator, product)
      .Required(p.operands())
      .Supported()
      .Dtype(p.operands())
      .That(p.out.dtype() == p.weight.dtype(),
            [&] {
              return Concat("out dtype is ", DtypeText(p.out.dtype()), ", expected weight's, ",
                            DtypeText(p.weight.dtype()));
            })
      .RankBetween(p.weight, 0, kMaxRank)
      .RankBetween(p.indices, 0, kMaxRank)
      .RankBetween(p.out, 0, kMaxRank)
      .Rank(p.weight, 2)
      .That(OutShapeFits(p),
            [&] {
              return Concat("out shape is ", ShapeText(p.out), ", expected the shape of indices, ",
                            ShapeText(p.indices), ", followed by the row length of weight, ",
                            p.weight.last_dim());
            })
      .PlainFormat(p.operands())
      .status();
}

}  // namespace openaclnn::embedding::forward
