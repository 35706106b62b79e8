// SPDX-License-Identifier: Apache-2.0
// SparseFlashAttention: each row of the query sees the keys of the blocks that an index names.
#include <algorithm>
#include <bit>
#include <utility>

#include "generated/attention.h"
#include "kernels/work/divide_up.h"
#include "supporting/attention/sparse.h"

namespace openaclnn::supporting {
namespace {

SparseCall CallOf(const SparseAttentionParams& p) {
  return {.query = p.query,
          .key = p.key,
          .table = p.blockTable,
          .row_lengths = p.actualSeqLengthsQuery,
          .key_lengths = p.actualSeqLengthsKv,
          .q_layout = p.layoutQuery,
          .k_layout = p.layoutKv,
          .table_name = "blockTable",
          .layout_name = "layoutKv",
          .mode = p.sparseMode,
          .before = p.preTokens,
          .after = p.nextTokens};
}

/// Largest scores and sums have their heads last, behind rows.
Heads NumbersOf(const Tensor& tensor, const SparseCall& call) {
  return {tensor, call.packed() ? "-TN" : "B-SN", 1};
}

void CheckSettings(const SparseAttentionParams& p, Checker& checker) {
  constexpr int64_t kMostKeys = 128;
  const int64_t size = p.sparseBlockSize;
  checker.That(size >= 1 && size <= kMostKeys && std::has_single_bit(static_cast<uint64_t>(size)),
               [&] {
                 return Concat("sparseBlockSize value is ", size,
                               ", expected a power of 2, at most ", kMostKeys);
               });
  checker.That(p.attentionMode == 2,
               [&] { return Concat("attentionMode value is ", p.attentionMode, ", expected 2"); });
  for (const Tensor* rope : {&p.queryRope, &p.keyRope}) {
    checker.That(rope->present(), [&] {
      return Concat(rope->name(), " value is null, expected a tensor in attentionMode 2");
    });
  }
  checker.That(p.returnSoftmaxLse == false || std::string_view(p.layoutKv) != "PA_BSND", [&] {
    return Concat("returnSoftmaxLse value is true, expected false with layoutKv PA_BSND");
  });
}

void CheckOperands(const SparseAttentionParams& p, const SparseCall& call, Checker& checker) {
  const Tensor &q_rope = p.queryRope, &k_rope = p.keyRope;
  checker.Rank(p.value, p.key.rank()).Rank(q_rope, p.query.rank()).Rank(k_rope, p.key.rank());
  checker.Rank(p.sparseIndices, p.query.rank());
  for (const Tensor* tensor : {&p.value, &q_rope, &k_rope}) checker.SameDtype(*tensor, p.query);
  if (!checker.ok()) return;
  checker.SameShapeAndDtype(p.value, p.key);
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
  Shape of_key = ShapeOf(p.key);
  of_key[of_key.size() - 1] = q_rope.last_dim();
  CheckShape(k_rope, of_key, checker);
  checker.That(p.sparseIndices.dtype() == ACL_INT32,
               [&] { return DtypeIs(p.sparseIndices, "INT32"); });
  const int64_t count = p.sparseIndices.last_dim();
  checker.That(count > 0 && count <= INT64_MAX / p.sparseBlockSize, [&] {
    return Concat("sparseIndices shape is ", ShapeText(p.sparseIndices),
                  ", expected at least one block for each row");
  });
  CheckShape(p.sparseIndices, call.RowShape(1, count), checker);
  checker.That(!call.paged() || p.key.dim(1) % p.sparseBlockSize == 0, [&] {
    return Concat("sparseBlockSize value is ", p.sparseBlockSize, ", expected a divisor of ",
                  p.key.dim(1), ", the rows of a block of key");
  });
}

}  // namespace

void CheckSparseAttention(const SparseAttentionParams& p, Checker& checker) {
  CheckSettings(p, checker);
  const SparseCall call = CallOf(p);
  if (checker.ok()) call.Check(checker);
  if (checker.ok()) CheckOperands(p, call, checker);
  if (!checker.ok()) return;
  const Heads q = call.Queries();
  if (p.sinks.present()) {
    checker.That(p.sinks.dtype() == ACL_FLOAT, [&] { return DtypeIs(p.sinks, "FLOAT"); });
    CheckShape(p.sinks, {q.heads}, checker);
  }
  checker.SameDtype(p.attentionOutOut, p.query);
  CheckShape(p.attentionOutOut, call.RowShape(q.heads, p.value.last_dim()), checker);
  if (!p.returnSoftmaxLse) return;
  const Shape sums =
      call.packed() ? Shape{1, q.rows, q.heads} : Shape{q.batches, 1, q.rows, q.heads};
  for (const Tensor* numbers : {&p.softmaxMaxOut, &p.softmaxSumOut}) {
    checker.That(numbers->dtype() == ACL_FLOAT, [&] { return DtypeIs(*numbers, "FLOAT"); });
    CheckShape(*numbers, sums, checker);
  }
}

namespace {

/// A sequence for each row of the query, of the keys in its blocks.
struct SparseTask {
  SparseTask(const SparseAttentionParams& p, const SparseCall& call)
      : plan(AttentionOf(call.Queries(), call.KeysOf(p.key), call.KeysOf(p.value), p.scaleValue,
                         {})),
        reader(call),
        mode(p.sparseMode),
        size(p.sparseBlockSize),
        count(p.sparseIndices.last_dim()),
        rows(call.Queries().rows),
        packed(call.packed()),
        has_numbers(p.returnSoftmaxLse),
        q(p.query.place),
        k(p.key.place),
        v(p.value.place),
        q_rope(p.queryRope.place),
        k_rope(p.keyRope.place),
        chosen(p.sparseIndices.place),
        sink(p.sinks.place),
        out(p.attentionOutOut.place),
        max(p.softmaxMaxOut.place),
        sum(p.softmaxSumOut.place) {
    plan.rope_width = p.queryRope.last_dim();
    plan.width += plan.rope_width;
    plan.q_rope = Heads(p.queryRope, call.q_layout, plan.rope_width).lie;
    plan.k_rope = call.KeysOf(p.keyRope).lie;
    plan.cache = call.Pages();
    const Heads entries(p.sparseIndices, call.q_layout, count);
    plan.pages = {.given = true,
                  .chosen = true,
                  .rows = size,
                  .batch_step = entries.lie.batch_step,
                  .head_step = entries.lie.head_step,
                  .entry_step = entries.lie.element_step,
                  .row_step = entries.lie.row_step};
    plan.out = Heads(p.attentionOutOut, call.q_layout, p.value.last_dim()).lie;
    if (has_numbers) {
      plan.max = NumbersOf(p.softmaxMaxOut, call).lie;
      plan.sum = NumbersOf(p.softmaxSumOut, call).lie;
      plan.copies = 1;
    }
    if (p.sinks.present()) {
      plan.sink = {.given = true,
                   .head_step = p.sinks.tensor().strides[0] * BytesOf(p.sinks),
                   .load = LoaderOf<float>(p.sinks.dtype())};
    }
    for (int64_t batch = 0; batch < call.Queries().batches; ++batch) {
      for (int64_t row = 0; row < rows; ++row) {
        plan.sequences.push_back(
            {.rows = 1, .keys = count * size, .batch = batch, .first_row = row});
      }
    }
    PlanAttention(&plan);
  }

  Status Run(const Buffers& buffers) const {
    SparseSpans spans;
    Status found = reader.Read(buffers, &spans);
    if (!found.ok()) return found;
    const AttentionTensors tensors = {.q = q(buffers),
                                      .k = k(buffers),
                                      .v = v(buffers),
                                      .q_rope = q_rope(buffers),
                                      .k_rope = k_rope(buffers),
                                      .sink = plan.sink.given ? sink(buffers) : nullptr,
                                      .out = out(buffers),
                                      .max = has_numbers ? max(buffers) : nullptr,
                                      .sum = has_numbers ? sum(buffers) : nullptr,
                                      .table = chosen(buffers),
                                      .cache_table = reader.Table(buffers)};
    // The plan has room for rows all of which see keys.
    Attention moved = plan;
    for (AttentionSequence& of : moved.sequences) of.keys = 0;
    for (size_t batch = 0; batch < spans.rows.size() && found.ok(); ++batch) {
      found = Set(static_cast<int64_t>(batch), spans, tensors.table, &moved.sequences);
    }
    if (!found.ok()) return found;
    PlanAttention(&moved);
    RunAttention(moved, tensors, buffers.workspace);
    return {};
  }

  /// The keys that rows of a batch see; 507035 for an index that names none of its blocks.
  Status Set(int64_t batch, const SparseSpans& spans, const void* table,
             std::vector<AttentionSequence>* sequences) const {
    const Span& of_rows = spans.rows[static_cast<size_t>(batch)];
    const Span& of_keys = spans.keys[static_cast<size_t>(batch)];
    const int64_t blocks = DivideUp(of_keys.count, size);
    for (int64_t i = 0; i < of_rows.count; ++i) {
      const int64_t row = of_rows.first + i;
      for (int64_t entry = 0; entry < count; ++entry) {
        const int64_t block = plan.pages.Block(table, batch, 0, entry * size, row);
        if (block >= -1 && block < blocks) continue;
        return Status(
            507035, Concat("sparseIndices value ", entry, " of row ", row,
                           packed ? "" : Concat(" of batch ", batch), " is ", block,
                           ", expected -1 to ", blocks - 1, ", a block of the row's keys or none"));
      }
      AttentionSequence& of = (*sequences)[static_cast<size_t>(packed ? row : batch * rows + row)];
      of.batch = batch;
      of.places = SparseCall::SeenBy(mode, i, of_rows, of_keys);
      of.keys = of.places == 0 ? 0 : count * size;
      of.first_key = of_keys.first;
    }
    return {};
  }

  Attention plan;
  SparseReader reader;
  int64_t mode, size, count, rows;
  bool packed, has_numbers;
  Place q, k, v, q_rope, k_rope, chosen, sink, out, max, sum;
};

}  // namespace

Plan PlanSparseAttention(const SparseAttentionParams& p, const Product&) {
  if (p.attentionOutOut.empty()) return {0, [](const Buffers&) -> Status { return {}; }};
  SparseTask task(p, CallOf(p));
  const uint64_t bytes = task.plan.scratch_bytes();
  return {bytes, [task = std::move(task)](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
