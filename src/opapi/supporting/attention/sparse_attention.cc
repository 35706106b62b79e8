// SPDX-License-Identifier: Apache-2.0
// SparseFlashAttention: each row of the query sees the keys of the blocks that an index names.
#include "supporting/attention/sparse_attention.h"

#include <utility>

#include "generated/attention.h"
#include "supporting/in_turn.h"

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

SparseOperands OperandsOf(const SparseAttentionParams& p, const SparseCall& call) {
  return {.call = call,
          .value = p.value,
          .indices = p.sparseIndices,
          .q_rope = p.queryRope,
          .k_rope = p.keyRope,
          .block_size = p.sparseBlockSize,
          .scale = p.scaleValue};
}

}  // namespace

void CheckSparseAttention(const SparseAttentionParams& p, Checker& checker) {
  checker.That(p.attentionMode == 2,
               [&] { return Concat("attentionMode value is ", p.attentionMode, ", expected 2"); });
  const SparseCall call = CallOf(p);
  const SparseOperands operands = OperandsOf(p, call);
  checker.That(!p.returnSoftmaxLse || !call.paged(), [&] {
    return Concat("returnSoftmaxLse value is true, expected false with layoutKv PA_BSND");
  });
  operands.Check(checker);
  if (!checker.ok()) return;
  const Heads q = call.Queries();
  if (p.sinks.present()) {
    checker.That(p.sinks.dtype() == ACL_FLOAT, [&] { return DtypeIs(p.sinks, "FLOAT"); });
    CheckShape(p.sinks, {q.heads}, checker);
  }
  checker.SameDtype(p.attentionOutOut, p.query);
  CheckShape(p.attentionOutOut, call.RowShape(q.heads, p.value.last_dim()), checker);
  if (!p.returnSoftmaxLse) return;
  for (const Tensor* numbers : {&p.softmaxMaxOut, &p.softmaxSumOut}) {
    operands.CheckNumbers(*numbers, checker);
  }
}

namespace {

/// A sequence for each row of the query, of the keys in its blocks.
struct SparseTask {
  SparseTask(const SparseAttentionParams& p, const SparseCall& call)
      : plan(OperandsOf(p, call).Plan()),
        reader(call),
        keys(call, p.sparseIndices, p.sparseBlockSize),
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
    plan.pages = keys.pages;
    plan.sequences = keys.Sequences(call);
    plan.out = Heads(p.attentionOutOut, call.q_layout, p.value.last_dim()).lie;
    if (has_numbers) {
      plan.max = OperandsOf(p, call).Numbers(p.softmaxMaxOut);
      plan.sum = OperandsOf(p, call).Numbers(p.softmaxSumOut);
      plan.copies = 1;
    }
    if (p.sinks.present()) {
      plan.sink = {.given = true,
                   .head_step = p.sinks.tensor().strides[0] * BytesOf(p.sinks),
                   .load = LoaderOf<float>(p.sinks.dtype())};
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
    found = keys.Set(tensors.table, spans, &moved.sequences);
    if (!found.ok()) return found;
    PlanAttention(&moved);
    RunAttention(moved, tensors, buffers.workspace);
    return {};
  }

  Attention plan;
  SparseReader reader;
  ChosenKeys keys;
  bool has_numbers;
  Place q, k, v, q_rope, k_rope, chosen, sink, out, max, sum;
};

}  // namespace

Plan PlanSparseAttention(const SparseAttentionParams& p, const Product&) {
  if (p.attentionOutOut.empty()) return Nothing();
  SparseTask task(p, CallOf(p));
  const uint64_t bytes = task.plan.scratch_bytes();
  return {bytes, [task = std::move(task)](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
