// SPDX-License-Identifier: Apache-2.0
// NsaCompressAttention: attention of compressed keys, and the blocks of keys that its weights say
// to select for each row. Native Sparse Attention, arXiv:2502.11089, sections 3.3.1 and 3.3.2.
#include <algorithm>
#include <utility>
#include <vector>

#include "generated/attention.h"
#include "kernels/attention/attention.h"
#include "kernels/work/scratch.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/lengths.h"
#include "supporting/attention/packed_heads.h"
#include "supporting/attention/selection.h"
#include "supporting/attention/sequences.h"

namespace openaclnn::supporting {
namespace {

void CheckMask(const Tensor& mask, int64_t rows, int64_t keys, Checker& checker) {
  if (!mask.present()) return;
  CheckMaskType(mask, checker);
  CheckPackedMask(mask, rows, keys, checker);
}

int64_t Longest(std::span<const int64_t> ends) {
  int64_t longest = 0;
  for (const Span& of : SpansOf(ends)) longest = std::max(longest, of.count);
  return longest;
}

SelectionSizes SizesOf(const NsaCompressAttentionParams& p) {
  return {.compressed = p.compressBlockSize,
          .stride = p.compressStride,
          .block = p.selectBlockSize,
          .count = p.selectBlockCount};
}

}  // namespace

void CheckNsaCompressAttention(const NsaCompressAttentionParams& p, Checker& checker) {
  constexpr int64_t kMostSelected = 32;
  SizesOf(p).Check(kMostSelected, checker);
  CheckPackedHeads(p.query, p.key, p.value, p.headNum, checker);
  if (!checker.ok()) return;
  const Heads q = PackedHeads(p.query), k = PackedHeads(p.key), v = PackedHeads(p.value);
  const IntList &rows = p.actualSeqQLenOptional, &keys = p.actualCmpSeqKvLenOptional,
                &selected = p.actualSelSeqKvLenOptional;
  CheckEnds(rows, p.query, q.rows, checker);
  CheckEnds(keys, p.key, k.rows, checker);
  CheckSameCount(rows, keys, checker);
  CheckSameCount(rows, selected, checker);
  if (!checker.ok()) return;
  int64_t last = 0;
  bool fine = true;
  for (const int64_t end : selected.values()) {
    // Zeros behind all other ends stand for empty sequences.
    fine = fine && (end == 0 || (end >= last && end - last <= kMostSelectionBlocks));
    last = end == 0 ? last : end;
  }
  checker.That(fine, [&] {
    return Concat(selected.name(), " value is ", ListText(selected.values()),
                  ", expected the ends of the blocks of sequences, none less than the one before ",
                  "it, at most ", kMostSelectionBlocks, " blocks of each");
  });
  if (!checker.ok()) return;
  CheckMask(p.attenMaskOptional, Longest(rows.values()), Longest(keys.values()), checker);
  CheckMask(p.topkMaskOptional, Longest(rows.values()), Longest(selected.values()), checker);
  CheckPackedSums({&p.softmaxMaxOut, &p.softmaxSumOut}, q, checker);
  checker.SameDtype(p.attentionOutOut, p.query);
  CheckShape(p.attentionOutOut, {q.rows, q.heads, v.elements}, checker);
  checker.That(p.topkIndicesOut.dtype() == ACL_INT32,
               [&] { return DtypeIs(p.topkIndicesOut, "INT32"); });
  CheckShape(p.topkIndicesOut, {q.rows, k.heads, p.selectBlockCount}, checker);
}

namespace {

/// Selects the blocks of each row, by its sequence.
struct Selection {
  BlockSelection by_weights;
  std::vector<int64_t> blocks;  // of each sequence
  bool masked;
  int64_t mask_row_step, mask_step;

  void Choose(const Attention& plan, const AttentionWeights& of, const std::byte* mask,
              std::byte* to) const {
    const auto sequence = static_cast<size_t>(of.sequence);
    by_weights.Choose(
        plan.sequences[sequence], of, blocks[sequence],
        [&](int64_t block) {
          return masked && mask[of.row * mask_row_step + block * mask_step] != std::byte{0};
        },
        to);
  }
};

Selection SelectionOf(const NsaCompressAttentionParams& p, const Attention& plan) {
  Selection selection = {.by_weights = {SizesOf(p), PackedHeads(p.topkIndicesOut).lie},
                         .blocks = {},
                         .masked = p.topkMaskOptional.present(),
                         .mask_row_step = 0,
                         .mask_step = 0};
  const std::vector<Span> blocks = SpansOf(p.actualSelSeqKvLenOptional.values());
  for (size_t i = 0; i < plan.sequences.size(); ++i) {
    // Behind the sequences are rows of none.
    selection.blocks.push_back(i < blocks.size() ? blocks[i].count : 0);
  }
  if (selection.masked) {
    selection.mask_row_step = p.topkMaskOptional.tensor().strides[0];
    selection.mask_step = p.topkMaskOptional.tensor().strides[1];
  }
  return selection;
}

}  // namespace

Plan PlanNsaCompressAttention(const NsaCompressAttentionParams& p, const Product&) {
  const Heads q = PackedHeads(p.query), k = PackedHeads(p.key);
  std::vector<AttentionSequence> sequences =
      Packed(p.actualSeqQLenOptional, p.actualCmpSeqKvLenOptional);
  AppendRest(q, k, &sequences);
  Attention plan = AttentionOf(q, k, PackedHeads(p.value), p.scaleValue, std::move(sequences));
  ScoreView mask;
  if (p.attenMaskOptional.present()) mask = ScoreView(p.attenMaskOptional, false);
  plan.mask = mask.lie;
  plan.out = PackedHeads(p.attentionOutOut).lie;
  plan.max = PackedHeads(p.softmaxMaxOut).lie;
  plan.sum = PackedHeads(p.softmaxSumOut).lie;
  plan.copies = kAttentionCopies;
  plan.by_heads = true;
  PlanAttention(&plan);
  const uint64_t bytes = std::max(plan.scratch_bytes(), AttentionWeightsBytes(plan));
  return {bytes,
          [=, selection = SelectionOf(p, plan), q = p.query.place, k = p.key.place,
           v = p.value.place, chosen = p.topkMaskOptional.place, out = p.attentionOutOut.place,
           max = p.softmaxMaxOut.place, sum = p.softmaxSumOut.place,
           indices = p.topkIndicesOut.place](const Buffers& buffers) -> Status {
            const AttentionTensors tensors = {
                .q = q(buffers),
                .k = k(buffers),
                .v = v(buffers),
                .mask = plan.mask.given ? mask.place(buffers) : nullptr,
                .out = out(buffers),
                .max = max(buffers),
                .sum = sum(buffers)};
            RunAttention(plan, tensors, buffers.workspace);
            const std::byte* const always = selection.masked ? chosen(buffers) : nullptr;
            std::byte* const to = indices(buffers);
            RunAttentionWeights(plan, tensors, buffers.workspace, [&](const AttentionWeights& of) {
              selection.Choose(plan, of, always, to);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
