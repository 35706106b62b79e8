// SPDX-License-Identifier: Apache-2.0
// LightningIndexer: the keys with the largest sums over heads of weight * max(query key^T, 0).
// QuantLightningIndexer: the same of INT8 queries and keys, whose products have factors.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "generated/attention.h"
#include "supporting/attention/sparse.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kMostChosen = 8192;

SparseCall CallOf(const LightningIndexerParams& p) {
  return {.query = p.query,
          .key = p.key,
          .table = p.blockTable,
          .row_lengths = p.actualSeqLengthsQuery,
          .key_lengths = p.actualSeqLengthsKey,
          .q_layout = p.layoutQuery,
          .k_layout = p.layoutKey,
          .table_name = "blockTable",
          .layout_name = "layoutKey",
          .mode = p.sparseMode,
          .before = p.preTokens,
          .after = p.nextTokens,
          .whole = p.queryDequantScale.present()};
}

/// Checks the factors of INT8 queries and keys.
void CheckFactors(const LightningIndexerParams& p, const SparseCall& call, Checker& checker) {
  Shape of_rows = call.RowShape(call.Queries().heads, 1), of_keys = ShapeOf(p.key);
  of_rows.pop_back();
  of_keys.pop_back();
  for (const Tensor* factors : {&p.queryDequantScale, &p.keyDequantScale}) {
    checker.That(factors->dtype() == ACL_FLOAT16 || factors->dtype() == ACL_FLOAT,
                 [&] { return DtypeIs(*factors, "FLOAT16, FLOAT"); });
  }
  CheckShape(p.queryDequantScale, of_rows, checker);
  CheckShape(p.keyDequantScale, of_keys, checker);
}

}  // namespace

void CheckLightningIndexer(const LightningIndexerParams& p, Checker& checker) {
  const SparseCall call = CallOf(p);
  call.Check(checker);
  checker.That(p.sparseCount >= 1 && p.sparseCount <= kMostChosen, [&] {
    return Concat("sparseCount value is ", p.sparseCount, ", expected 1 to ", kMostChosen);
  });
  checker.That(!p.returnValue || !call.paged(), [&] {
    return Concat("returnValue value is true, expected false with layoutKey PA_BSND");
  });
  if (!checker.ok()) return;
  const Heads q = call.Queries();
  if (call.whole) {
    CheckType(p.weights, checker);
    CheckFactors(p, call, checker);
  } else {
    checker.That(p.weights.dtype() == ACL_FLOAT || p.weights.dtype() == p.query.dtype(),
                 [&] { return DtypeIs(p.weights, "FLOAT or that of query"); });
  }
  Shape of_weights = call.RowShape(q.heads, 1);
  of_weights.pop_back();
  CheckShape(p.weights, of_weights, checker);
  checker.That(p.sparseIndicesOut.dtype() == ACL_INT32,
               [&] { return DtypeIs(p.sparseIndicesOut, "INT32"); });
  const Shape chosen = call.RowShape(1, p.sparseCount);
  CheckShape(p.sparseIndicesOut, chosen, checker);
  if (!p.returnValue) return;
  checker.SameDtype(p.sparseValuesOut, p.query);
  CheckShape(p.sparseValuesOut, chosen, checker);
}

namespace {

/// Whether a key comes before another: its sum is larger, or equal and it lies before. NaN is the
/// largest number.
struct Before {
  const float* sums;
  bool operator()(int32_t a, int32_t b) const {
    const float x = sums[a], y = sums[b];
    if (std::isnan(x) || std::isnan(y)) {
      return std::isnan(x) == std::isnan(y) ? a < b : std::isnan(x);
    }
    return x > y || (x == y && a < b);
  }
};

struct IndexTask {
  IndexTask(const LightningIndexerParams& p, const SparseCall& call)
      : plan(AttentionOf(call.Queries(), call.KeysOf(p.key), call.KeysOf(p.key), 1, {})),
        reader(call),
        mode(p.sparseMode),
        count(p.sparseCount),
        rows(call.Queries().rows),
        packed(call.packed()),
        has_values(p.returnValue),
        q(p.query.place),
        k(p.key.place),
        weights(p.weights.place),
        q_factors(p.queryDequantScale.place),
        k_factors(p.keyDequantScale.place),
        indices(p.sparseIndicesOut.place),
        values(p.sparseValuesOut.place),
        indices_lie(Heads(p.sparseIndicesOut, call.q_layout, count).lie) {
    // A row of the query has one weight for each head.
    plan.indexer = {.given = true, .weights = Heads(p.weights, packed ? "TN" : "BSN", 1).lie};
    plan.pages = call.Pages();
    if (call.whole) SetFactors(p, call);
    if (has_values) values_lie = Heads(p.sparseValuesOut, call.q_layout, count).lie;
    const Heads of_query = call.Queries();
    for (int64_t batch = 0; batch < of_query.batches; ++batch) {
      plan.sequences.push_back({.rows = rows, .keys = call.MostKeys(), .batch = batch});
    }
    PlanAttention(&plan);
    plan.bodies = rows == 0 ? 0 : Meta()->runtime->threads();
  }

  /// Each row and head of query has a factor, and each key.
  void SetFactors(const LightningIndexerParams& p, const SparseCall& call) {
    const Tensor &of_rows = p.queryDequantScale, &of_keys = p.keyDequantScale;
    const auto step = [](const Tensor& tensor, uint32_t d) {
      return tensor.tensor().strides[d] * BytesOf(tensor);
    };
    const uint32_t head = of_rows.rank() - 1;
    plan.q_factors = {.given = true,
                      .load = LoaderOf<float>(of_rows.dtype()),
                      .batch_step = packed ? 0 : step(of_rows, 0),
                      .head_step = step(of_rows, head),
                      .row_step = step(of_rows, head - 1)};
    const uint32_t row = of_keys.rank() - 2;
    plan.k_dequant.factors = {.given = true,
                              .load = LoaderOf<float>(of_keys.dtype()),
                              .batch_step = row > 0 ? step(of_keys, 0) : 0,
                              .row_step = step(of_keys, row),
                              .in_pages = call.paged()};
  }

  Status Run(const Buffers& buffers) const {
    SparseSpans spans;
    Status found = reader.Read(buffers, &spans);
    if (!found.ok()) return found;
    Attention moved = plan;
    moved.sequences.clear();
    std::vector<AttentionSequence> rest;
    int64_t last = 0;
    for (size_t i = 0; i < spans.rows.size(); ++i) {
      const auto batch = static_cast<int64_t>(i);
      const Span &of_rows = spans.rows[i], &of_keys = spans.keys[i];
      moved.sequences.push_back({.rows = of_rows.count,
                                 .keys = of_keys.count,
                                 .batch = batch,
                                 .first_row = of_rows.first,
                                 .first_key = of_keys.first});
      last = of_rows.first + of_rows.count;
      if (!packed)
        rest.push_back({.rows = rows - last, .keys = 0, .batch = batch, .first_row = last});
    }
    if (packed) rest.push_back({.rows = rows - last, .keys = 0, .batch = 0, .first_row = last});
    moved.sequences.insert(moved.sequences.end(), rest.begin(), rest.end());
    PlanAttention(&moved);
    moved.bodies = std::min(moved.bodies, plan.bodies);
    std::byte* const to = indices(buffers);
    std::byte* const value_to = has_values ? values(buffers) : nullptr;
    RunAttentionWeights(moved,
                        {.q = q(buffers),
                         .k = k(buffers),
                         .v = nullptr,
                         .head_weights = weights(buffers),
                         .table = reader.Table(buffers),
                         .k_scaling = {.factors = k_factors(buffers)},
                         .q_factors = q_factors(buffers)},
                        buffers.workspace, [&](const AttentionWeights& of) {
                          Choose(moved.sequences[static_cast<size_t>(of.sequence)], of, to,
                                 value_to);
                        });
    return {};
  }

  /// Writes the keys of a row with the largest sums, then -1.
  void Choose(const AttentionSequence& sequence, const AttentionWeights& of, std::byte* to,
              std::byte* value_to) const {
    const int64_t seen = SparseCall::SeenBy(mode, of.row, {0, sequence.rows}, {0, sequence.keys});
    const int64_t some = std::min(seen, count);
    std::vector<int32_t> order(static_cast<size_t>(seen));
    std::iota(order.begin(), order.end(), 0);
    const Before before = {of.weights};
    if (some < seen) std::nth_element(order.begin(), order.begin() + some, order.end(), before);
    std::sort(order.begin(), order.begin() + some, before);
    order.resize(static_cast<size_t>(count), -1);
    std::fill(order.begin() + some, order.end(), -1);
    const int64_t row = sequence.first_row + of.row;
    to += indices_lie.Offset(sequence.batch, of.head, row);
    for (size_t i = 0; i < order.size(); ++i) {
      const int64_t at = static_cast<int64_t>(i) * indices_lie.element_step * indices_lie.bytes;
      std::memcpy(to + at, &order[i], sizeof order[i]);
    }
    if (value_to == nullptr) return;
    std::vector<float> sums(order.size(), -std::numeric_limits<float>::infinity());
    for (size_t i = 0; i < static_cast<size_t>(some); ++i) sums[i] = of.weights[order[i]];
    values_lie.store(sums.data(), count, value_to + values_lie.Offset(sequence.batch, of.head, row),
                     values_lie.element_step * values_lie.bytes);
  }

  Attention plan;
  SparseReader reader;
  int64_t mode, count, rows;
  bool packed, has_values;
  Place q, k, weights, q_factors, k_factors, indices, values;
  AttentionHeads indices_lie, values_lie = {};
};

}  // namespace

Plan PlanLightningIndexer(const LightningIndexerParams& p, const Product&) {
  if (p.sparseIndicesOut.empty()) return Nothing();
  IndexTask task(p, CallOf(p));
  const uint64_t bytes = AttentionWeightsBytes(task.plan);
  return {bytes, [task = std::move(task)](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
