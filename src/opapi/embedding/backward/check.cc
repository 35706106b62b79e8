// SPDX-License-Identifier: Apache-2.0
// The calls that EmbeddingDenseBackward accepts: its table of types and its checks in their order.
#include "embedding/backward/op.h"

namespace openaclnn::embedding::backward {
namespace {

//                                910                A2           A3           950   310P   310B
constexpr OperandSupport kSupport[] = {
    {"grad", {kFloatTypesNoBf16, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
    {"indices", {kIndexTypes, kIndexTypes, kIndexTypes, kIndexTypes, kNone, kNone}},
    {"out", {kFloatTypesNoBf16, kFloatTypes, kFloatTypes, kFloatTypes, kNone, kNone}},
};

/// Where hits are counted in on-chip memory, it bounds D and V when scaleGradByFreq is set.
bool FitsOnChip(const Params& p, const Product& product) {
  const __int128 limit = product.rules->max_counter_bytes;
  if (limit == 0 || !p.scaleGradByFreq || p.grad.empty() || p.indices.empty()) return true;
  const __int128 width = p.grad.last_dim();
  const auto cores = static_cast<uint64_t>(product.core_count);
  const __int128 counters =
      static_cast<__int128>(p.numWeights / cores) + static_cast<__int128>(p.numWeights % cores);
  const bool wide = p.indices.dtype() == ACL_INT64;
  return (wide ? 20 * width + 8 * counters : 36 * width + 4 * counters) < limit;
}

/// Product of the dimensions that count tokens; nothing when it overflows.
std::optional<int64_t> Tokens(const Operand& grad) {
  return grad.rank() > 0 ? ElementCount(grad.tensor().dims, grad.rank() - 1)
                         : std::optional<int64_t>(0);
}

}  // namespace

const Operator kOperator = {"aclnnEmbeddingDenseBackward", kSupport};

Status Check(const Params& p, const Product& product) {
  const auto tokens = Tokens(p.grad);
  const auto indices = p.indices.count();
  const int64_t width = p.grad.last_dim();
  return Checker(kOperator, product)
      .Required(p.operands())
      .Supported()
      .Dtype(p.operands())
      .RankBetween(p.grad, 1, kMaxRank)
      .RankBetween(p.indices, 0, kMaxRank)
      .RankBetween(p.out, 0, kMaxRank)
      .That(width == 0 || (tokens && tokens == indices),
            [&] {
              return Concat("indices shape is ", ShapeText(p.indices),
                            ", expected as many elements as grad has rows (grad shape ",
                            ShapeText(p.grad), ")");
            })
      .Rank(p.out, 2)
      .That(p.out.dim(0) >= 0 && static_cast<uint64_t>(p.out.dim(0)) == p.numWeights &&
                p.out.dim(1) == width,
            [&] {
              return Concat("out shape is ", ShapeText(p.out), ", expected (", p.numWeights, ", ",
                            width, "), numWeights by the last dimension of grad");
            })
      .PlainFormat(p.operands())
      .That(FitsOnChip(p, product), ACLNN_ERR_INNER_TILING_ERROR,
            [&] {
              return Concat("numWeights value is ", p.numWeights, " with rows of ", width,
                            " elements and scaleGradByFreq, expected fewer or shorter rows on ",
                            product.name);
            })
      .status();
}

}  // namespace openaclnn::embedding::backward
