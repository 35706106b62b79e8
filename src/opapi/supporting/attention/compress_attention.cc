// SPDX-License-Identifier: Apache-2.0
// NsaCompressAttention: attention of compressed keys, and the blocks of keys that its weights say
// to select for each row. Native Sparse Attention, arXiv:2502.11089, sections 3.3.1 and 3.3.2.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "generated/attention.h"
#include "kernels/attention.h"
#include "kernels/scratch.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/lengths.h"
#include "supporting/attention/packed_heads.h"
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

void CheckSizes(const NsaCompressAttentionParams& p, Checker& checker) {
  const auto check = [&](const char* name, int64_t size, int64_t most) {
    checker.That(size >= 16 && size <= most && size % 16 == 0, [&] {
      return Concat(name, " value is ", size, ", expected a multiple of 16, at most ", most);
    });
  };
  check("compressBlockSize", p.compressBlockSize, 128);
  check("compressStride", p.compressStride, 64);
  check("selectBlockSize", p.selectBlockSize, 128);
  if (!checker.ok()) return;
  checker.That(p.compressBlockSize % p.compressStride == 0, [&] {
    return Concat("compressBlockSize value is ", p.compressBlockSize,
                  ", expected a multiple of compressStride, ", p.compressStride);
  });
  checker.That(
      p.selectBlockSize % p.compressStride == 0 && p.selectBlockSize >= p.compressBlockSize, [&] {
        return Concat("selectBlockSize value is ", p.selectBlockSize,
                      ", expected a multiple of compressStride, ", p.compressStride,
                      ", at least compressBlockSize, ", p.compressBlockSize);
      });
  checker.That(p.selectBlockCount >= 1 && p.selectBlockCount <= 32, [&] {
    return Concat("selectBlockCount value is ", p.selectBlockCount, ", expected 1 to 32");
  });
}

}  // namespace

void CheckNsaCompressAttention(const NsaCompressAttentionParams& p, Checker& checker) {
  CheckSizes(p, checker);
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
  constexpr int64_t kMostBlocks = 4096;  // of a sequence
  int64_t last = 0;
  bool fine = true;
  for (const int64_t end : selected.values()) {
    // Zeros behind all other ends stand for empty sequences.
    fine = fine && (end == 0 || (end >= last && end - last <= kMostBlocks));
    last = end == 0 ? last : end;
  }
  checker.That(fine, [&] {
    return Concat(selected.name(), " value is ", ListText(selected.values()),
                  ", expected the ends of the blocks of sequences, none less than the one before ",
                  "it, at most ", kMostBlocks, " blocks of each");
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

/// Which blocks of keys a row sees, by the weights of its compressed keys.
struct Selection {
  int64_t wide, apart;  // compressed keys of a block, and those that a compressed one overlaps
  int64_t count;
  std::vector<int64_t> blocks;  // of each sequence
  std::vector<int64_t> first_row;
  bool masked;
  int64_t mask_row_step, mask_step;
  AttentionHeads out;  // (row, head of k, block)

  /// The blocks of the largest scores, equal ones from the first on; -1 where there are no more.
  void Choose(const AttentionWeights& of, int64_t keys, const std::byte* mask,
              std::byte* to) const {
    const int64_t n = blocks[static_cast<size_t>(of.sequence)];
    std::vector<std::pair<double, int32_t>> scores;
    for (int64_t block = 0; block < n; ++block) {
      const bool chosen =
          masked && mask[of.row * mask_row_step + block * mask_step] != std::byte{0};
      // Larger first, and then the block that comes first.
      const double score =
          chosen ? -std::numeric_limits<double>::infinity() : -Score(of, keys, block);
      scores.emplace_back(score, static_cast<int32_t>(block));
    }
    const auto some = scores.begin() + std::min(n, count);
    std::partial_sort(scores.begin(), some, scores.end());
    const int64_t row = first_row[static_cast<size_t>(of.sequence)] + of.row;
    for (int64_t i = 0; i < count; ++i) {
      const int32_t block = i < n ? scores[static_cast<size_t>(i)].second : -1;
      std::memcpy(to + out.Offset(0, of.head, row) + i * out.element_step * out.bytes, &block,
                  sizeof block);
    }
  }

 private:
  /// Sum of weights [wide (block + 1) - m - n], m below `wide`, n below `apart`.
  double Score(const AttentionWeights& of, int64_t keys, int64_t block) const {
    double score = 0;
    for (int64_t t = 0; t < wide + apart - 1; ++t) {
      const int64_t key = wide * (block + 1) - t;
      if (key < 0 || key >= keys) continue;
      const int64_t times = std::min({t + 1, wide, apart, wide + apart - 1 - t});
      score += static_cast<double>(times) * of.weights[key];
    }
    return std::isnan(score) ? std::numeric_limits<double>::infinity() : score;
  }
};

Selection SelectionOf(const NsaCompressAttentionParams& p, const Attention& plan) {
  Selection selection = {.wide = p.selectBlockSize / p.compressStride,
                         .apart = p.compressBlockSize / p.compressStride,
                         .count = p.selectBlockCount,
                         .blocks = {},
                         .first_row = {},
                         .masked = p.topkMaskOptional.present(),
                         .mask_row_step = 0,
                         .mask_step = 0,
                         .out = PackedHeads(p.topkIndicesOut).lie};
  const std::vector<Span> blocks = SpansOf(p.actualSelSeqKvLenOptional.values());
  for (size_t i = 0; i < plan.sequences.size(); ++i) {
    // Behind the sequences are rows of none.
    selection.blocks.push_back(i < blocks.size() ? blocks[i].count : 0);
    selection.first_row.push_back(plan.sequences[i].first_row);
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
  return {
      bytes,
      [=, selection = SelectionOf(p, plan), q = p.query.place, k = p.key.place, v = p.value.place,
       chosen = p.topkMaskOptional.place, out = p.attentionOutOut.place,
       max = p.softmaxMaxOut.place, sum = p.softmaxSumOut.place,
       indices = p.topkIndicesOut.place](const Buffers& buffers) -> Status {
        const AttentionTensors tensors = {.q = q(buffers),
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
          selection.Choose(of, plan.sequences[static_cast<size_t>(of.sequence)].keys, always, to);
        });
        return {};
      }};
}

}  // namespace openaclnn::supporting
