// SPDX-License-Identifier: Apache-2.0
// NsaSelectedAttention and its gradient. Native Sparse Attention, arXiv:2502.11089, section 3.3.2.
#include "supporting/attention/selected.h"

#include <algorithm>
#include <utility>

#include "generated/attention.h"
#include "kernels/work/scratch.h"
#include "supporting/attention/packed_heads.h"

namespace openaclnn::supporting {
namespace {

template <class P>
SelectedCall CallOf(const P& p) {
  return {.query = p.query,
          .key = p.key,
          .value = p.value,
          .chosen = p.topkIndices,
          .row_ends = p.actualSeqQLenOptional,
          .key_ends = p.actualSeqKvLenOptional,
          .heads = p.headNum,
          .block_size = p.selectedBlockSize,
          .block_count = p.selectedBlockCount,
          .mode = p.sparseMode,
          .scale = p.scaleValue};
}

template <class P>
Shape ResultShape(const P& p) {
  return {p.query.dim(0), p.query.dim(1), p.value.dim(2)};
}

const int32_t* TableAt(const Place& table, const Buffers& buffers) {
  return reinterpret_cast<const int32_t*>(table(buffers));
}

}  // namespace

void CheckNsaSelectedAttention(const NsaSelectedAttentionParams& p, Checker& checker) {
  CallOf(p).Check(p.attenMaskOptional, checker);
  if (!checker.ok()) return;
  CheckPackedSums({&p.softmaxMaxOut, &p.softmaxSumOut}, PackedHeads(p.query), checker);
  checker.SameDtype(p.attentionOut, p.query);
  CheckShape(p.attentionOut, ResultShape(p), checker);
}

Plan PlanNsaSelectedAttention(const NsaSelectedAttentionParams& p, const Product&) {
  const SelectedCall call = CallOf(p);
  Attention plan = call.Plan();
  plan.out = PackedHeads(p.attentionOut).lie;
  plan.max = PackedHeads(p.softmaxMaxOut).lie;
  plan.sum = PackedHeads(p.softmaxSumOut).lie;
  plan.copies = kAttentionCopies;
  PlanAttention(&plan);
  return {
      plan.scratch_bytes(),
      [=, plan = std::move(plan), blocks = ChosenBlocks(call), q = p.query.place, k = p.key.place,
       v = p.value.place, chosen = p.topkIndices.place, out = p.attentionOut.place,
       max = p.softmaxMaxOut.place, sum = p.softmaxSumOut.place](const Buffers& buffers) -> Status {
        const int32_t* const table = TableAt(chosen, buffers);
        Status found = blocks.Check(plan, table);
        if (!found.ok()) return found;
        RunAttention(plan,
                     {.q = q(buffers),
                      .k = k(buffers),
                      .v = v(buffers),
                      .out = out(buffers),
                      .max = max(buffers),
                      .sum = sum(buffers),
                      .table = table},
                     buffers.workspace);
        return {};
      }};
}

void CheckNsaSelectedAttentionGradient(const NsaSelectedAttentionGradientParams& p,
                                       Checker& checker) {
  CallOf(p).Check(p.attenMaskOptional, checker);
  if (!checker.ok()) return;
  CheckPackedSums({&p.softmaxMax, &p.softmaxSum}, PackedHeads(p.query), checker);
  for (const Tensor* result : {&p.attentionOut, &p.attentionOutGrad}) {
    checker.SameDtype(*result, p.query);
    CheckShape(*result, ResultShape(p), checker);
  }
  checker.SameShapeAndDtype(p.dqOut, p.query)
      .SameShapeAndDtype(p.dkOut, p.key)
      .SameShapeAndDtype(p.dvOut, p.value);
}

namespace {

AttentionGradient GradientOf(Attention of, const NsaSelectedAttentionGradientParams& p,
                             AttentionPart part) {
  of.out = PackedHeads(p.attentionOut).lie;
  of.max = PackedHeads(p.softmaxMax).lie;
  of.sum = PackedHeads(p.softmaxSum).lie;
  of.copies = kAttentionCopies;
  PlanAttention(&of);
  AttentionGradient gradient = {.attention = std::move(of),
                                .dy = PackedHeads(p.attentionOutGrad).lie,
                                .dq = PackedHeads(p.dqOut).lie,
                                .dk = PackedHeads(p.dkOut).lie,
                                .dv = PackedHeads(p.dvOut).lie,
                                .part = part};
  PlanAttentionGradient(&gradient);
  return gradient;
}

}  // namespace

// The gradient by the query is made row by row, from the blocks of each. Those by key and value are
// made block by block, from the rows that chose it.
Plan PlanNsaSelectedAttentionGradient(const NsaSelectedAttentionGradientParams& p, const Product&) {
  const SelectedCall call = CallOf(p);
  AttentionGradient by_rows = GradientOf(call.Plan(), p, AttentionPart::kRows),
                    by_blocks = GradientOf(call.PlanByBlocks(), p, AttentionPart::kKeys);
  const ChosenBlocks blocks(call);
  ScratchParts parts;
  const auto take = [&](__int128 count, size_t bytes) {
    return parts.Take(count * static_cast<int>(bytes));
  };
  const uint64_t first_at = take(__int128{blocks.numbers} * blocks.kv_heads + 1, sizeof(int64_t));
  const uint64_t rows_at =
      take(__int128{call.rows()} * blocks.kv_heads * blocks.count, sizeof(int32_t));
  const uint64_t rest = parts.Take(std::max(by_rows.scratch_bytes(), by_blocks.scratch_bytes()));
  return {parts.bytes(),
          [=, by_rows = std::move(by_rows), by_blocks = std::move(by_blocks), q = p.query.place,
           k = p.key.place, v = p.value.place, chosen = p.topkIndices.place,
           out = p.attentionOut.place, max = p.softmaxMax.place, sum = p.softmaxSum.place,
           dy = p.attentionOutGrad.place, dq = p.dqOut.place, dk = p.dkOut.place,
           dv = p.dvOut.place](const Buffers& buffers) -> Status {
            const int32_t* const table = TableAt(chosen, buffers);
            Status found = blocks.Check(by_rows.attention, table);
            if (!found.ok()) return found;
            auto* const scratch = static_cast<std::byte*>(buffers.workspace);
            auto* const first = reinterpret_cast<int64_t*>(scratch + first_at);
            auto* const rows = reinterpret_cast<int32_t*>(scratch + rows_at);
            blocks.List(by_rows.attention, table, rows, first);
            AttentionGradientTensors tensors = {.of = {.q = q(buffers),
                                                       .k = k(buffers),
                                                       .v = v(buffers),
                                                       .out = out(buffers),
                                                       .max = max(buffers),
                                                       .sum = sum(buffers),
                                                       .table = table},
                                                .dy = dy(buffers),
                                                .dq = dq(buffers),
                                                .dk = dk(buffers),
                                                .dv = dv(buffers)};
            RunAttentionGradient(by_rows, tensors, scratch + rest);
            tensors.lists = {rows, first};
            RunAttentionGradient(by_blocks, tensors, scratch + rest);
            return {};
          }};
}

}  // namespace openaclnn::supporting
