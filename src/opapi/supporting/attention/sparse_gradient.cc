// SPDX-License-Identifier: Apache-2.0
// SparseFlashAttentionGrad. The gradient by the query is computed row by row; the gradients by key
// and value block by block, from the rows that chose the block.
#include <algorithm>
#include <utility>

#include "generated/attention.h"
#include "kernels/work/divide_up.h"
#include "kernels/work/scratch.h"
#include "supporting/attention/sparse_attention.h"

namespace openaclnn::supporting {
namespace {

SparseCall CallOf(const SparseAttentionGradientParams& p) {
  return {.query = p.query,
          .key = p.key,
          .table = NoTensor(),
          .row_lengths = p.actualSeqQlen,
          .key_lengths = p.actualSeqKvlen,
          .q_layout = p.layout,
          .k_layout = p.layout,
          .table_name = "blockTable",
          .layout_name = "layout",
          .mode = p.sparseMode,
          .before = p.preTokens,
          .after = p.nextTokens};
}

SparseOperands OperandsOf(const SparseAttentionGradientParams& p, const SparseCall& call) {
  return {.call = call,
          .value = p.value,
          .indices = p.sparseIndices,
          .q_rope = p.queryRope,
          .k_rope = p.keyRope,
          .block_size = p.sparseBlockSize,
          .scale = p.scaleValue};
}

}  // namespace

void CheckSparseAttentionGradient(const SparseAttentionGradientParams& p, Checker& checker) {
  const SparseCall call = CallOf(p);
  const SparseOperands operands = OperandsOf(p, call);
  operands.Check(checker);
  if (!checker.ok()) return;
  for (const Tensor* numbers : {&p.softmaxMax, &p.softmaxSum}) {
    operands.CheckNumbers(*numbers, checker);
  }
  for (const Tensor* result : {&p.out, &p.dOut}) checker.SameShapeAndDtype(*result, p.query);
  checker.SameShapeAndDtype(p.dQuery, p.query)
      .SameShapeAndDtype(p.dKey, p.key)
      .SameShapeAndDtype(p.dValue, p.value)
      .SameShapeAndDtype(p.dQueryRope, p.queryRope)
      .SameShapeAndDtype(p.dKeyRope, p.keyRope);
}

namespace {

/// The blocks of keys of all batches, and keys that do not count, which no row sees.
class KeyBlocks {
 public:
  KeyBlocks(const ChosenKeys& chosen, int64_t keys, int64_t batches)
      : chosen_(chosen), keys_(keys), batches_(batches) {}

  /// The most blocks that there can be.
  int64_t most() const {
    const int64_t of_each = DivideUp(keys_, chosen_.size) + DivideUp(keys_, kAttentionKeys) + 1;
    return chosen_.packed ? of_each + batches_ : of_each * batches_;
  }

  /// Makes a sequence for each block. `first` becomes the first block of each batch.
  std::vector<AttentionSequence> Sequences(const SparseSpans& spans,
                                           std::vector<int64_t>* first) const {
    std::vector<AttentionSequence> sequences;
    int64_t last = 0;
    for (size_t i = 0; i < spans.keys.size(); ++i) {
      const Span &rows = spans.rows[i], &keys = spans.keys[i];
      const auto batch = static_cast<int64_t>(i);
      first->push_back(static_cast<int64_t>(sequences.size()));
      for (int64_t at = 0; at < keys.count; at += chosen_.size) {
        sequences.push_back(
            {.rows = rows.count * chosen_.count,
             .keys = std::min(chosen_.size, keys.count - at),
             .batch = batch,
             .first_row = rows.first,
             .first_key = keys.first + at,
             .after = chosen_.mode == 0 ? INT64_MAX : keys.count - rows.count - at});
      }
      last = keys.first + keys.count;
      if (!chosen_.packed) AddRest(batch, last, &sequences);
    }
    if (chosen_.packed) AddRest(0, last, &sequences);
    return sequences;
  }

  /// Writes the rows that chose each block, in ascending order: those of block n are
  /// [first[n], first[n + 1]).
  void List(const SparseSpans& spans, const std::vector<int64_t>& blocks, int64_t count,
            const void* table, int32_t* rows, int64_t* first) const {
    const auto for_each = [&](const auto& visit) {
      for (size_t i = 0; i < spans.rows.size(); ++i) {
        for (int64_t row = 0; row < spans.rows[i].count; ++row) {
          for (int64_t entry = 0; entry < chosen_.count; ++entry) {
            const int64_t block = chosen_.pages.Block(
                table, static_cast<int64_t>(i), 0, entry * chosen_.size, spans.rows[i].first + row);
            if (block >= 0) visit(blocks[i] + block, row);
          }
        }
      }
    };
    std::fill_n(first, count + 1, int64_t{0});
    for_each([&](int64_t number, int64_t) { ++first[number + 1]; });
    for (int64_t number = 0; number < count; ++number) first[number + 1] += first[number];
    // first[n] moves to the end of block n's list, which is where the next list begins.
    for_each(
        [&](int64_t number, int64_t row) { rows[first[number]++] = static_cast<int32_t>(row); });
    for (int64_t number = count; number > 0; --number) first[number] = first[number - 1];
    first[0] = 0;
  }

 private:
  void AddRest(int64_t batch, int64_t from, std::vector<AttentionSequence>* sequences) const {
    for (int64_t at = from; at < keys_; at += kAttentionKeys) {
      sequences->push_back({.rows = 0,
                            .keys = std::min(kAttentionKeys, keys_ - at),
                            .batch = batch,
                            .first_key = at});
    }
  }

  const ChosenKeys& chosen_;
  int64_t keys_, batches_;
};

struct GradientTask {
  GradientTask(const SparseAttentionGradientParams& p, const SparseCall& call)
      : reader(call),
        chosen(call, p.sparseIndices, p.sparseBlockSize),
        keys(call.KeysOf(call.key).rows),
        batches(call.batches()),
        q(p.query.place),
        k(p.key.place),
        v(p.value.place),
        q_rope(p.queryRope.place),
        k_rope(p.keyRope.place),
        indices(p.sparseIndices.place),
        out(p.out.place),
        dy(p.dOut.place),
        max(p.softmaxMax.place),
        sum(p.softmaxSum.place),
        dq(p.dQuery.place),
        dk(p.dKey.place),
        dv(p.dValue.place),
        dq_rope(p.dQueryRope.place),
        dk_rope(p.dKeyRope.place) {
    const SparseOperands operands = OperandsOf(p, call);
    Attention plan = operands.Plan();
    plan.out = Heads(p.out, call.q_layout, p.out.last_dim()).lie;
    plan.max = operands.Numbers(p.softmaxMax);
    plan.sum = operands.Numbers(p.softmaxSum);
    plan.copies = 1;
    by_rows = {.attention = plan,
               .dy = Heads(p.dOut, call.q_layout, p.dOut.last_dim()).lie,
               .dq = Heads(p.dQuery, call.q_layout, p.dQuery.last_dim()).lie,
               .dk = call.KeysOf(p.dKey).lie,
               .dv = call.KeysOf(p.dValue).lie,
               .dq_rope = Heads(p.dQueryRope, call.q_layout, p.dQueryRope.last_dim()).lie,
               .dk_rope = call.KeysOf(p.dKeyRope).lie,
               .part = AttentionPart::kRows};
    by_blocks = by_rows;
    by_blocks.part = AttentionPart::kKeys;
    by_rows.attention.pages = chosen.pages;
    by_rows.attention.sequences = chosen.Sequences(call);
    // The task has other sequences, which need no more room than one that all rows choose.
    by_blocks.attention.sequences = {{.rows = chosen.rows * chosen.count, .keys = kAttentionKeys}};
    for (AttentionGradient* each : {&by_rows, &by_blocks}) {
      PlanAttention(&each->attention);
      PlanAttentionGradient(each);
    }
    const KeyBlocks blocks(chosen, keys, batches);
    by_blocks.bodies = std::min<int64_t>(blocks.most(), Meta()->runtime->threads());
    const __int128 rows = __int128{chosen.rows} * call.Queries().batches * chosen.count;
    first_at = parts.Take((__int128{blocks.most()} + 1) * static_cast<int>(sizeof(int64_t)));
    rows_at = parts.Take(rows * static_cast<int>(sizeof(int32_t)));
    rest_at = parts.Take(std::max(by_rows.scratch_bytes(), by_blocks.scratch_bytes()));
  }

  AttentionGradientTensors At(const Buffers& buffers) const {
    return {.of = {.q = q(buffers),
                   .k = k(buffers),
                   .v = v(buffers),
                   .q_rope = q_rope(buffers),
                   .k_rope = k_rope(buffers),
                   .out = out(buffers),
                   .max = max(buffers),
                   .sum = sum(buffers),
                   .table = indices(buffers)},
            .dy = dy(buffers),
            .dq = dq(buffers),
            .dk = dk(buffers),
            .dv = dv(buffers),
            .dq_rope = dq_rope(buffers),
            .dk_rope = dk_rope(buffers)};
  }

  Status Run(const Buffers& buffers) const {
    SparseSpans spans;
    Status found = reader.Read(buffers, &spans);
    if (!found.ok()) return found;
    AttentionGradientTensors tensors = At(buffers);
    AttentionGradient rows = by_rows, blocks = by_blocks;
    found = chosen.Set(tensors.of.table, spans, &rows.attention.sequences);
    if (!found.ok()) return found;
    const KeyBlocks key_blocks(chosen, keys, batches);
    std::vector<int64_t> first_blocks;
    blocks.attention.sequences = key_blocks.Sequences(spans, &first_blocks);
    for (AttentionGradient* each : {&rows, &blocks}) {
      const int64_t bodies = each->bodies;
      PlanAttention(&each->attention);
      PlanAttentionGradient(each);
      each->bodies = std::min(each->bodies, bodies);
    }
    auto* const scratch = static_cast<std::byte*>(buffers.workspace);
    auto* const first = reinterpret_cast<int64_t*>(scratch + first_at);
    auto* const lists = reinterpret_cast<int32_t*>(scratch + rows_at);
    key_blocks.List(spans, first_blocks, static_cast<int64_t>(blocks.attention.sequences.size()),
                    tensors.of.table, lists, first);
    RunAttentionGradient(rows, tensors, scratch + rest_at);
    tensors.lists = {lists, first};
    RunAttentionGradient(blocks, tensors, scratch + rest_at);
    return {};
  }

  AttentionGradient by_rows, by_blocks;
  SparseReader reader;
  ChosenKeys chosen;
  int64_t keys, batches;  // rows of key of a batch, or of all packed ones
  ScratchParts parts;
  uint64_t first_at, rows_at, rest_at;
  Place q, k, v, q_rope, k_rope, indices, out, dy, max, sum, dq, dk, dv, dq_rope, dk_rope;
};

}  // namespace

Plan PlanSparseAttentionGradient(const SparseAttentionGradientParams& p, const Product&) {
  GradientTask task(p, CallOf(p));
  const uint64_t bytes = task.parts.bytes();
  return {bytes, [task = std::move(task)](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
