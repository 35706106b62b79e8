// SPDX-License-Identifier: Apache-2.0
// NsaCompressAttentionInfer: attention of compressed keys in a cache, and the blocks of keys that
// its weights say to select for each batch.
#include <algorithm>
#include <utility>
#include <vector>

#include "generated/attention.h"
#include "kernels/work/divide_up.h"
#include "kernels/work/scratch.h"
#include "supporting/attention/call.h"
#include "supporting/attention/infer.h"
#include "supporting/attention/paged.h"
#include "supporting/attention/selection.h"

namespace openaclnn::supporting {
namespace {

PagedCall CallOf(const NsaCompressAttentionInferParams& p) {
  return PagedCallOf(p, p.actualCmpKvSeqLenOptional);
}

SelectionSizes SizesOf(const NsaCompressAttentionInferParams& p) {
  return {.compressed = p.compressBlockSize,
          .stride = p.compressBlockStride,
          .block = p.selectBlockSize,
          .count = p.selectBlockCount,
          .stride_name = "compressBlockStride"};
}

/// The blocks of the keys from which so many compressed keys are made.
int64_t BlocksOf(int64_t compressed_keys, const SelectionSizes& sizes) {
  if (compressed_keys == 0) return 0;
  return DivideUp((compressed_keys - 1) * sizes.stride + sizes.compressed, sizes.block);
}

/// Where the workspace has the largest scores, or the sums of exponentials, of rows.
AttentionHeads NumbersOf(int64_t heads) {
  return {.batch_step = heads,
          .head_step = 1,
          .row_step = 0,
          .element_step = 1,
          .bytes = sizeof(float),
          .floats = true,
          .load = LoaderOf<float>(ACL_FLOAT),
          .store = StorerOf<float>(ACL_FLOAT)};
}

}  // namespace

void CheckNsaCompressAttentionInfer(const NsaCompressAttentionInferParams& p, Checker& checker) {
  const Tensor* const taken[] = {&p.blockTableOptional};
  const IntList* const lists[] = {&p.actualCmpKvSeqLenOptional, &p.actualQSeqLenOptional};
  CheckNull(p, taken, lists, checker);
  const SelectionSizes sizes = SizesOf(p);
  sizes.Check(kMostSelectionBlocks, checker);
  const PagedCall call = CallOf(p);
  if (checker.ok()) call.Check(checker);
  if (!checker.ok()) return;
  call.CheckOneRow(p.actualQSeqLenOptional, checker);
  const IntList& counts = call.key_counts;
  for (const int64_t keys : counts.values()) {
    checker.That(
        keys <= kMostSelectionBlocks * sizes.block && BlocksOf(keys, sizes) <= kMostSelectionBlocks,
        [&] {
          return Concat(counts.name(), " value is ", keys, ", expected compressed keys of at most ",
                        kMostSelectionBlocks, " blocks of ", sizes.block, " keys");
        });
  }
  checker.SameDtype(p.output, p.query);
  CheckShape(p.output, call.ResultShape(), checker);
  Shape chosen = call.ResultShape();
  chosen[chosen.size() - 2] = call.served;
  chosen[chosen.size() - 1] = sizes.count;
  checker.That(p.topKOutput.dtype() == ACL_INT32, [&] { return DtypeIs(p.topKOutput, "INT32"); });
  CheckShape(p.topKOutput, chosen, checker);
}

Plan PlanNsaCompressAttentionInfer(const NsaCompressAttentionInferParams& p, const Product&) {
  const PagedCall call = CallOf(p);
  const SelectionSizes sizes = SizesOf(p);
  Attention plan = call.Plan();
  for (int64_t batch = 0; batch < call.Queries().batches; ++batch) {
    plan.sequences.push_back({.rows = 1, .keys = call.KeysOf(batch), .batch = batch});
  }
  plan.pages = call.Pages();
  plan.out = Heads(p.output, call.letters(), call.Values().elements).lie;
  plan.max = plan.sum = NumbersOf(call.heads);
  plan.copies = 1;
  PlanAttention(&plan);
  ScratchParts parts;
  const uint64_t work_at = parts.Take(std::max(plan.scratch_bytes(), AttentionWeightsBytes(plan)));
  const auto numbers = __int128{call.Queries().batches} * call.heads;
  const uint64_t max_at = parts.Take(numbers * static_cast<int>(sizeof(float))),
                 sum_at = parts.Take(numbers * static_cast<int>(sizeof(float)));
  const BlockSelection selection(sizes, Heads(p.topKOutput, call.letters(), sizes.count).lie);
  return {parts.bytes(),
          [=, plan = std::move(plan), blocks = call.Keys().batches, q = p.query.place,
           k = p.key.place, v = p.value.place, table = p.blockTableOptional.place,
           out = p.output.place, chosen = p.topKOutput.place](const Buffers& buffers) -> Status {
            const auto* const entries = reinterpret_cast<const int32_t*>(table(buffers));
            Status found = CheckTable(plan, entries, blocks);
            if (!found.ok()) return found;
            auto* const scratch = static_cast<std::byte*>(buffers.workspace);
            const AttentionTensors tensors = {.q = q(buffers),
                                              .k = k(buffers),
                                              .v = v(buffers),
                                              .out = out(buffers),
                                              .max = scratch + max_at,
                                              .sum = scratch + sum_at,
                                              .table = entries};
            RunAttention(plan, tensors, scratch + work_at);
            std::byte* const to = chosen(buffers);
            RunAttentionWeights(plan, tensors, scratch + work_at, [&](const AttentionWeights& of) {
              const AttentionSequence& sequence = plan.sequences[static_cast<size_t>(of.sequence)];
              const int64_t count = BlocksOf(sequence.keys, sizes);
              // The first block and the last two are always selected.
              const auto always = [count](int64_t block) {
                return block == 0 || block >= count - 2;
              };
              selection.Choose(sequence, of, count, always, to);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
