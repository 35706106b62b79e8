// SPDX-License-Identifier: Apache-2.0
// SparseFlashAttention and its gradient: operands that both have.
#include <bit>

#include "supporting/attention/sparse_attention.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kMostBlocks = int64_t{1} << 20;  // of a row: products with rows are numbers

}  // namespace

void SparseOperands::Check(Checker& checker) const {
  checker.That(block_size >= 1 && block_size <= kAttentionKeys &&
                   std::has_single_bit(static_cast<uint64_t>(block_size)),
               [&] {
                 return Concat("sparseBlockSize value is ", block_size,
                               ", expected a power of 2, at most ", kAttentionKeys);
               });
  for (const Tensor* rope : {&q_rope, &k_rope}) {
    checker.That(rope->present(),
                 [&] { return Concat(rope->name(), " value is null, expected a tensor"); });
  }
  if (checker.ok()) call.Check(checker);
  if (!checker.ok()) return;
  const Tensor &query = call.query, &key = call.key;
  checker.Rank(value, key.rank()).Rank(q_rope, query.rank()).Rank(k_rope, key.rank());
  checker.Rank(indices, query.rank());
  for (const Tensor* tensor : {&value, &q_rope, &k_rope}) checker.SameDtype(*tensor, query);
  if (!checker.ok()) return;
  checker.SameShapeAndDtype(value, key);
  const Heads q = call.Queries();
  checker.That(q.elements % kAttentionChunk == 0 && q.elements > 0, [&] {
    return Concat("query width of heads is ", q.elements, ", expected a multiple of ",
                  kAttentionChunk, " beside queryRope");
  });
  checker.That(q_rope.last_dim() <= kAttentionWidth - q.elements, [&] {
    return Concat("queryRope width of heads is ", q_rope.last_dim(), ", expected at most ",
                  kAttentionWidth - q.elements, " beside that of query, ", q.elements);
  });
  CheckShape(q_rope, call.RowShape(q.heads, q_rope.last_dim()), checker);
  Shape of_key = ShapeOf(key);
  of_key[of_key.size() - 1] = q_rope.last_dim();
  CheckShape(k_rope, of_key, checker);
  checker.That(indices.dtype() == ACL_INT32, [&] { return DtypeIs(indices, "INT32"); });
  const int64_t count = indices.last_dim();
  checker.That(count > 0 && count <= kMostBlocks, [&] {
    return Concat("sparseIndices shape is ", ShapeText(indices), ", expected 1 to ", kMostBlocks,
                  " blocks for each row");
  });
  CheckShape(indices, call.RowShape(1, count), checker);
  checker.That(!call.paged() || key.dim(1) % block_size == 0, [&] {
    return Concat("sparseBlockSize value is ", block_size, ", expected a divisor of ", key.dim(1),
                  ", the rows of a block of key");
  });
}

void SparseOperands::CheckNumbers(const Tensor& numbers, Checker& checker) const {
  const Heads q = call.Queries();
  checker.That(numbers.dtype() == ACL_FLOAT, [&] { return DtypeIs(numbers, "FLOAT"); });
  const Shape shape =
      call.packed() ? Shape{1, q.rows, q.heads} : Shape{q.batches, 1, q.rows, q.heads};
  CheckShape(numbers, shape, checker);
}

AttentionHeads SparseOperands::Numbers(const Tensor& tensor) const {
  // The dimension of 1 is that of key's heads.
  return Heads(tensor, call.packed() ? "-TN" : "B-SN", 1).lie;
}

Attention SparseOperands::Plan() const {
  Attention plan =
      AttentionOf(call.Queries(), call.KeysOf(call.key), call.KeysOf(value), scale, {});
  plan.rope_width = q_rope.last_dim();
  plan.width += plan.rope_width;
  plan.q_rope = Heads(q_rope, call.q_layout, plan.rope_width).lie;
  plan.k_rope = call.KeysOf(k_rope).lie;
  plan.cache = call.Pages();
  return plan;
}

}  // namespace openaclnn::supporting
