// SPDX-License-Identifier: Apache-2.0
// NsaSelectedAttentionInfer: attention to the blocks of keys that an index names for each batch, of
// which a table says where they are in a cache.
#include <utility>
#include <vector>

#include "generated/attention.h"
#include "kernels/work/divide_up.h"
#include "supporting/attention/call.h"
#include "supporting/attention/infer.h"
#include "supporting/attention/paged.h"
#include "supporting/attention/selected.h"
#include "supporting/attention/selection.h"

namespace openaclnn::supporting {
namespace {

PagedCall CallOf(const NsaSelectedAttentionInferParams& p) {
  return PagedCallOf(p, p.actualKvSeqLenOptional);
}

}  // namespace

void CheckNsaSelectedAttentionInfer(const NsaSelectedAttentionInferParams& p, Checker& checker) {
  const Tensor* const taken[] = {&p.blockTableOptional};
  const IntList* const lists[] = {&p.actualKvSeqLenOptional, &p.actualQSeqLenOptional};
  CheckNull(p, taken, lists, checker);
  const int64_t size = p.selectBlockSize;
  checker.That(size > 0 && size % 16 == 0 && size <= kAttentionKeys, [&] {
    return Concat("selectBlockSize value is ", size, ", expected a multiple of 16, at most ",
                  kAttentionKeys);
  });
  checker.That(p.selectBlockCount > 0 && p.selectBlockCount <= kMostSelectionBlocks, [&] {
    return Concat("selectBlockCount value is ", p.selectBlockCount, ", expected 1 to ",
                  kMostSelectionBlocks);
  });
  const PagedCall call = CallOf(p);
  if (checker.ok()) call.Check(checker);
  if (!checker.ok()) return;
  call.CheckOneRow(p.actualQSeqLenOptional, checker);
  checker.That(p.topkIndices.dtype() == ACL_INT32, [&] { return DtypeIs(p.topkIndices, "INT32"); });
  // With a dimension of rows, as NsaCompressAttentionInfer gives them, or without.
  Shape shape = {call.Queries().batches, call.served, p.selectBlockCount};
  if (p.topkIndices.rank() == 4) shape.insert(shape.begin() + 1, 1);
  CheckShape(p.topkIndices, shape, checker);
  checker.SameDtype(p.output, p.query);
  CheckShape(p.output, call.ResultShape(), checker);
}

Plan PlanNsaSelectedAttentionInfer(const NsaSelectedAttentionInferParams& p, const Product&) {
  const PagedCall call = CallOf(p);
  Attention plan = call.Plan();
  std::vector<ChosenBlocks::Batch> batches;
  for (int64_t batch = 0; batch < call.Queries().batches; ++batch) {
    const int64_t keys = call.KeysOf(batch);
    plan.sequences.push_back({.rows = 1,
                              .keys = keys == 0 ? 0 : p.selectBlockCount * p.selectBlockSize,
                              .batch = batch,
                              .places = keys});
    batches.push_back({{batch, 1}, DivideUp(keys, p.selectBlockSize), 0});
  }
  const auto& strides = p.topkIndices.tensor().strides;
  const size_t of_heads = p.topkIndices.rank() - 2;
  plan.pages = {.given = true,
                .chosen = true,
                .rows = p.selectBlockSize,
                .batch_step = strides[0],
                .head_step = strides[of_heads],
                .entry_step = strides[of_heads + 1]};
  plan.cache = call.Pages();
  plan.out = Heads(p.output, call.letters(), call.Values().elements).lie;
  PlanAttention(&plan);
  const ChosenBlocks chosen(std::move(batches), call.served, p.selectBlockCount);
  return {
      plan.scratch_bytes(),
      [=, plan = std::move(plan), blocks = call.Keys().batches, q = p.query.place, k = p.key.place,
       v = p.value.place, indices = p.topkIndices.place, table = p.blockTableOptional.place,
       out = p.output.place](const Buffers& buffers) -> Status {
        const auto* const names = reinterpret_cast<const int32_t*>(indices(buffers));
        const auto* const entries = reinterpret_cast<const int32_t*>(table(buffers));
        Status found = chosen.Check(plan, names);
        if (!found.ok()) return found;
        for (const AttentionSequence& of : plan.sequences) {
          found = CheckEntries(plan.cache, of.batch, {0, of.places}, entries, blocks);
          if (!found.ok()) return found;
        }
        RunAttention(plan,
                     {.q = q(buffers),
                      .k = k(buffers),
                      .v = v(buffers),
                      .out = out(buffers),
                      .table = names,
                      .cache_table = entries},
                     buffers.workspace);
        return {};
      }};
}

}  // namespace openaclnn::supporting
