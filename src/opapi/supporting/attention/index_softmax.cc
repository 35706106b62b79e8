// SPDX-License-Identifier: Apache-2.0
// DenseLightningIndexerSoftmaxLse: of each row of the indexer's sums over heads of
// weight * max(query key^T, 0) the largest one, and the sum of exponentials.
#include <algorithm>
#include <cmath>
#include <utility>

#include "generated/attention.h"
#include "supporting/attention/lengths.h"
#include "supporting/attention/sequences.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

/// Query and key in layout BSND or TND; key has one head.
struct IndexCall {
  explicit IndexCall(const DenseLightningIndexerSoftmaxLseParams& p)
      : packed(std::string_view(p.layout) == "TND"),
        q(p.queryIndex, packed ? "TND" : "BSND", p.queryIndex.last_dim()),
        k(p.keyIndex, packed ? "TND" : "BSND", p.keyIndex.last_dim()) {}

  std::vector<AttentionSequence> Sequences(const DenseLightningIndexerSoftmaxLseParams& p) const {
    std::vector<AttentionSequence> sequences =
        packed ? Packed(p.actualSeqQLenOptional, p.actualSeqKLenOptional) : Batches(q, k);
    if (packed) AppendRest(q, k, &sequences);
    return sequences;
  }

  bool packed;
  Heads q, k;
};

}  // namespace

void CheckIndexSoftmax(const DenseLightningIndexerSoftmaxLseParams& p, Checker& checker) {
  constexpr int64_t kMostBatches = int64_t{1} << 21;
  const bool packed = std::string_view(p.layout) == "TND";
  checker.Rank(p.queryIndex, packed ? 3 : 4).Rank(p.keyIndex, p.queryIndex.rank());
  checker.SameDtype(p.keyIndex, p.queryIndex);
  CheckType(p.queryIndex, checker);
  checker.That(p.weights.dtype() == ACL_FLOAT || p.weights.dtype() == p.queryIndex.dtype(),
               [&] { return DtypeIs(p.weights, "FLOAT or that of queryIndex"); });
  for (const auto& [name, value] :
       {std::pair{"preTokens", p.preTokens}, {"nextTokens", p.nextTokens}}) {
    checker.That(value == INT64_MAX,
                 [&] { return Concat(name, " value is ", value, ", expected ", INT64_MAX); });
  }
  if (!checker.ok()) return;
  const IndexCall call(p);
  const Heads &q = call.q, &k = call.k;
  CheckWidth(q, checker);
  CheckBatches(p.queryIndex, q, kMostBatches, checker);
  checker.That(k.batches == q.batches && k.heads == 1 && k.elements == q.elements, [&] {
    return Concat("keyIndex shape is ", ShapeText(p.keyIndex), ", expected one head with the ",
                  "batches and the width of queryIndex's");
  });
  Shape of_weights = ShapeOf(p.queryIndex);
  of_weights.pop_back();
  CheckShape(p.weights, of_weights, checker);
  const Shape numbers = packed ? Shape{1, q.rows} : Shape{q.batches, 1, q.rows};
  for (const Tensor* out : {&p.softmaxMaxOut, &p.softmaxSumOut}) {
    checker.That(out->dtype() == ACL_FLOAT, [&] { return DtypeIs(*out, "FLOAT"); });
    CheckShape(*out, numbers, checker);
  }
  if (!packed) return;
  CheckEnds(p.actualSeqQLenOptional, p.queryIndex, q.rows, checker);
  CheckEnds(p.actualSeqKLenOptional, p.keyIndex, k.rows, checker);
  CheckSameCount(p.actualSeqQLenOptional, p.actualSeqKLenOptional, checker);
}

namespace {

struct SoftmaxTask {
  SoftmaxTask(const DenseLightningIndexerSoftmaxLseParams& p, const IndexCall& call)
      : plan(AttentionOf(call.q, call.k, call.k, 1, call.Sequences(p))),
        q(p.queryIndex.place),
        k(p.keyIndex.place),
        weights(p.weights.place),
        max(p.softmaxMaxOut.place),
        sum(p.softmaxSumOut.place),
        max_lie(Heads(p.softmaxMaxOut, call.packed ? "NT" : "BNS", 1).lie),
        sum_lie(Heads(p.softmaxSumOut, call.packed ? "NT" : "BNS", 1).lie) {
    plan.indexer = {.given = true, .weights = Heads(p.weights, call.packed ? "TN" : "BSN", 1).lie};
    PlanAttention(&plan);
  }

  Status Run(const Buffers& buffers) const {
    RunAttentionWeights(
        plan, {.q = q(buffers), .k = k(buffers), .v = nullptr, .head_weights = weights(buffers)},
        buffers.workspace, [&](const AttentionWeights& of) { Store(of, buffers); });
    return {};
  }

  /// Writes the numbers of a row, whose last row is at the last key. A row without keys has zeros.
  void Store(const AttentionWeights& of, const Buffers& buffers) const {
    const AttentionSequence& sequence = plan.sequences[static_cast<size_t>(of.sequence)];
    const int64_t seen =
        std::clamp<int64_t>(sequence.keys - sequence.rows + of.row + 1, 0, sequence.keys);
    const float* const end = of.weights + seen;
    float largest = 0, total = 0;
    if (seen > 0) {
      largest = *std::max_element(of.weights, end);
      double exact = 0;
      for (const float* x = of.weights; x < end; ++x) exact += std::exp(double{*x} - largest);
      total = static_cast<float>(exact);
    }
    const int64_t row = sequence.first_row + of.row;
    max_lie.store(&largest, 1, max(buffers) + max_lie.Offset(sequence.batch, of.head, row), 0);
    sum_lie.store(&total, 1, sum(buffers) + sum_lie.Offset(sequence.batch, of.head, row), 0);
  }

  Attention plan;
  Place q, k, weights, max, sum;
  AttentionHeads max_lie, sum_lie;
};

}  // namespace

Plan PlanIndexSoftmax(const DenseLightningIndexerSoftmaxLseParams& p, const Product&) {
  if (p.softmaxMaxOut.empty()) return Nothing();
  SoftmaxTask task(p, IndexCall(p));
  const uint64_t bytes = AttentionWeightsBytes(task.plan);
  return {bytes, [task = std::move(task)](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
