// SPDX-License-Identifier: Apache-2.0
// Operators of inference, softmax(scale * q k^T + shift, masked) v for each head: their parameters.
#include "generated/attention.h"
#include "supporting/attention/infer.h"

namespace openaclnn::supporting {
namespace {

/// Lists of key and value have one tensor, or one for each batch.
template <class P>
void CheckLists(const P& p, Checker& checker) {
  for (const GivenList* list : {&p.key, &p.value}) {
    checker.That(list->size > 0, [&] {
      return Concat(list->name, " size is 0, expected 1 or the batches of query");
    });
  }
  checker.That(p.key.size == p.value.size, [&] {
    return Concat(p.value.name, " size is ", p.value.size, ", expected ", p.key.size, ", that of ",
                  p.key.name);
  });
}

const GivenList* Several(const GivenList& list) { return list.size > 1 ? &list : nullptr; }

InferArguments ArgumentsOf(const FusedInferParams& p) {
  return {.query = p.query,
          .key = p.key[0],
          .value = p.value[0],
          .shift = p.pseShiftOptional,
          .mask = p.attenMaskOptional,
          .table = p.blockTableOptional,
          .q_rope = p.queryRopeOptional,
          .k_rope = p.keyRopeOptional,
          .row_counts = p.actualSeqLengthsOptional,
          .key_counts = p.actualSeqLengthsKvOptional,
          .heads = p.numHeads,
          .served = p.numKeyValueHeads,
          .scale = p.scaleValue,
          .before = p.preTokens,
          .after = p.nextTokens,
          .mode = p.sparseMode,
          .block_size = p.blockSize,
          .layout = p.inputLayout,
          .out = p.attentionOut,
          .sums = p.softmaxLse,
          .wants_sums = p.softmaxLseFlag,
          .keys = Several(p.key),
          .values = Several(p.value),
          .k_front = p.keySharedPrefixOptional,
          .v_front = p.valueSharedPrefixOptional,
          .front_counts = p.actualSharedPrefixLenOptional,
          .q_padding = p.queryPaddingSizeOptional,
          .k_padding = p.kvPaddingSizeOptional,
          .sink = p.learnableSinkOptional,
          .scales = {.scores = p.deqScale1Optional,
                     .weights = p.quantScale1Optional,
                     .values = p.deqScale2Optional,
                     .out = p.quantScale2Optional,
                     .out_offset = p.quantOffset2Optional,
                     .both = p.antiquantScaleOptional,
                     .both_offset = p.antiquantOffsetOptional,
                     .both_mode = p.antiquantMode,
                     .k = p.keyAntiquantScaleOptional,
                     .k_offset = p.keyAntiquantOffsetOptional,
                     .v = p.valueAntiquantScaleOptional,
                     .v_offset = p.valueAntiquantOffsetOptional,
                     .k_mode = p.keyAntiquantMode,
                     .v_mode = p.valueAntiquantMode,
                     .q = p.dequantScaleQueryOptional,
                     .q_mode = p.queryQuantMode}};
}

InferArguments ArgumentsOf(const PromptAttentionParams& p) {
  return {.query = p.query,
          .key = p.key,
          .value = p.value,
          .shift = p.pseShift,
          .mask = p.attenMask,
          .row_counts = p.actualSeqLengths,
          .key_counts = p.actualSeqLengthsKv,
          .heads = p.numHeads,
          .served = p.numKeyValueHeads,
          .scale = p.scaleValue,
          .before = p.preTokens,
          .after = p.nextTokens,
          .mode = p.sparseMode,
          .layout = p.inputLayout,
          .out = p.attentionOut,
          .scales = {.scores = p.deqScale1,
                     .weights = p.quantScale1,
                     .values = p.deqScale2,
                     .out = p.quantScale2,
                     .out_offset = p.quantOffset2}};
}

/// The arguments of a call with one row of a query. Only the mask hides keys.
InferArguments ArgumentsOf(const IncrementalAttentionParams& p) {
  return {.query = p.query,
          .key = p.key[0],
          .value = p.value[0],
          .shift = p.pseShift,
          .mask = p.attenMask,
          .table = p.blocktable,
          .key_counts = p.actualSeqLengths,
          .heads = p.numHeads,
          .served = p.numKeyValueHeads,
          .scale = p.scaleValue,
          .mode = 1,
          .block_size = p.blockSize,
          .layout = p.inputLayout,
          .out = p.attentionOut,
          .keys = Several(p.key),
          .values = Several(p.value),
          .k_padding = p.kvPaddingSize,
          .scales = {.scores = p.dequantScale1,
                     .weights = p.quantScale1,
                     .values = p.dequantScale2,
                     .out = p.quantScale2,
                     .out_offset = p.quantOffset2,
                     .both = p.antiquantScale,
                     .both_offset = p.antiquantOffset}};
}

}  // namespace

void CheckFusedInfer(const FusedInferParams& p, Checker& checker) {
  CheckLists(p, checker);
  if (!checker.ok()) return;
  const InferArguments of = ArgumentsOf(p);
  CheckOthersAbsent(p, of, checker);
  if (checker.ok()) CheckInfer(of, checker);
}

Plan PlanFusedInfer(const FusedInferParams& p, const Product&) { return PlanInfer(ArgumentsOf(p)); }

void CheckPromptAttention(const PromptAttentionParams& p, Checker& checker) {
  const InferArguments of = ArgumentsOf(p);
  CheckOthersAbsent(p, of, checker);
  if (checker.ok()) CheckInfer(of, checker);
}

Plan PlanPromptAttention(const PromptAttentionParams& p, const Product&) {
  return PlanInfer(ArgumentsOf(p));
}

void CheckIncrementalAttention(const IncrementalAttentionParams& p, Checker& checker) {
  CheckLists(p, checker);
  if (!checker.ok()) return;
  const InferArguments of = ArgumentsOf(p);
  CheckOthersAbsent(p, of, checker);
  if (!checker.ok()) return;
  const size_t rows = InferLayoutOf(p.inputLayout).operands.find('S');
  if (p.query.rank() > rows) {
    const int64_t count = p.query.dim(static_cast<uint32_t>(rows));
    checker.That(count == 1, [&] {
      return Concat("query shape is ", ShapeText(p.query), ", expected one row, S of ",
                    p.inputLayout);
    });
  }
  if (checker.ok()) CheckInfer(of, checker);
}

Plan PlanIncrementalAttention(const IncrementalAttentionParams& p, const Product&) {
  return PlanInfer(ArgumentsOf(p));
}

}  // namespace openaclnn::supporting
