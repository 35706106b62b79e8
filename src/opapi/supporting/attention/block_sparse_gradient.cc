// SPDX-License-Identifier: Apache-2.0
// BlockSparseAttentionGrad, in double. The gradient by the query is made row by row, those by keys
// and values key by key.
#include "generated/attention.h"
#include "kernels/work/parallel_items.h"
#include "supporting/attention/block_sparse.h"
#include "supporting/attention/row_sums.h"

namespace openaclnn::supporting {
namespace {

/// A row of the query: its elements, the gradient by its result, and what the forward left.
struct QueryRow {
  std::vector<double> q, dy;
  double mean = 0, lse = 0;
};

struct BlockGradient {
  explicit BlockGradient(const BlockAttentionGradientParams& p)
      : of(ArgumentsOf(p), p.scaleValue),
        dy(p.dout),
        out(p.attentionOut),
        lse(p.softmaxLse),
        dq(p.dq),
        dk(p.dk),
        dv(p.dv) {}

  void Load(const Buffers& buffers, int64_t place, QueryRow* row) const {
    const BlockCall& call = of.call;
    std::vector<double> result(static_cast<size_t>(call.value_width));
    row->q.resize(static_cast<size_t>(call.width));
    row->dy.resize(result.size());
    of.q.Load(buffers, place, 0, call.width, row->q.data());
    dy.Load(buffers, place, 0, call.value_width, row->dy.data());
    out.Load(buffers, place, 0, call.value_width, result.data());
    lse.Load(buffers, place, 0, 1, &row->lse);
    row->mean = ProductOf(row->dy.data(), result.data(), call.value_width);
  }

  /// The weight of a key, and the slope of its score.
  std::pair<double, double> Slope(const QueryRow& row, const double* k, const double* v) const {
    const BlockCall& call = of.call;
    const double score = of.scale * ProductOf(row.q.data(), k, call.width);
    const double weight = row.lse == -HUGE_VAL ? 0 : std::exp(score - row.lse);
    const double slope = ProductOf(row.dy.data(), v, call.value_width) - row.mean;
    return {weight, weight == 0 ? 0 : weight * slope * of.scale};
  }

  void RunRow(const Buffers& buffers, const std::vector<double>& all, int64_t batch, int64_t head,
              int64_t row) const {
    const BlockCall& call = of.call;
    const int64_t place = call.RowOf(batch, head, row), served = head / call.group();
    QueryRow query;
    Load(buffers, place, &query);
    std::vector<double> slopes, keys, v(static_cast<size_t>(call.value_width)),
        result(static_cast<size_t>(call.width));
    of.ForKeys(of.SeenBy(all, batch, head, row), batch, [&](int64_t key) {
      const int64_t at = call.KeyOf(batch, served, key);
      keys.resize(keys.size() + static_cast<size_t>(call.width));
      double* const k = keys.data() + std::ssize(keys) - call.width;
      of.k.Load(buffers, at, 0, call.width, k);
      of.v.Load(buffers, at, 0, call.value_width, v.data());
      slopes.push_back(Slope(query, k, v.data()).second);
    });
    SumRows(
        std::ssize(slopes), call.width, [&](int64_t i) { return slopes[static_cast<size_t>(i)]; },
        [&](int64_t i) { return keys.data() + i * call.width; }, result.data());
    dq.Store(buffers, place, 0, call.width, result.data());
  }

  /// A key's sums over the rows that see it, of each head that it serves.
  void RunKey(const Buffers& buffers, const std::vector<double>& all, int64_t batch, int64_t served,
              int64_t key) const {
    const BlockCall& call = of.call;
    const int64_t at = call.KeyOf(batch, served, key);
    std::vector<double> k(static_cast<size_t>(call.width)),
        v(static_cast<size_t>(call.value_width)), by_k(k.size()), by_v(v.size());
    of.k.Load(buffers, at, 0, call.width, k.data());
    of.v.Load(buffers, at, 0, call.value_width, v.data());
    TreeSum<RowSums> of_k{RowSums(k.size())}, of_v{RowSums(v.size())};
    QueryRow query;
    for (int64_t head = served * call.group(); head < (served + 1) * call.group(); ++head) {
      for (int64_t row = 0; row < call.rows[static_cast<size_t>(batch)]; ++row) {
        if (of.SeenBy(all, batch, head, row)[key / call.block_keys] == 0) continue;
        Load(buffers, call.RowOf(batch, head, row), &query);
        const auto [weight, slope] = Slope(query, k.data(), v.data());
        for (size_t d = 0; d < by_k.size(); ++d) by_k[d] = slope * query.q[d];
        for (size_t d = 0; d < by_v.size(); ++d) by_v[d] = weight * query.dy[d];
        of_k.Add(by_k);
        of_v.Add(by_v);
      }
    }
    dk.Store(buffers, at, 0, call.width, of_k.Total().values.data());
    dv.Store(buffers, at, 0, call.value_width, of_v.Total().values.data());
  }

  /// Rows and keys that no sequence has get 0.
  void Clear(const Buffers& buffers) const {
    const BlockCall& call = of.call;
    const std::vector<double> zeros(static_cast<size_t>(std::max(call.width, call.value_width)));
    ParallelFor(call.all_rows, true,
                [&](int64_t n) { dq.Store(buffers, n, 0, call.width, zeros.data()); });
    ParallelFor(call.all_keys, true, [&](int64_t n) {
      dk.Store(buffers, n, 0, call.width, zeros.data());
      dv.Store(buffers, n, 0, call.value_width, zeros.data());
    });
  }

  Status Run(const Buffers& buffers) const {
    const BlockCall& call = of.call;
    const std::vector<double> all = of.Seen(buffers);
    Clear(buffers);
    ParallelFor(call.batches * call.heads * call.most_rows, true, [&](int64_t n) {
      const int64_t batch = n / call.most_rows / call.heads, row = n % call.most_rows;
      if (row >= call.rows[static_cast<size_t>(batch)]) return;
      RunRow(buffers, all, batch, n / call.most_rows % call.heads, row);
    });
    ParallelFor(call.batches * call.served * call.most_keys, true, [&](int64_t n) {
      const int64_t batch = n / call.most_keys / call.served, key = n % call.most_keys;
      if (key >= call.keys[static_cast<size_t>(batch)]) return;
      RunKey(buffers, all, batch, n / call.most_keys % call.served, key);
    });
    return {};
  }

  BlockOperands of;
  PartsOfRows dy, out, lse, dq, dk, dv;
};

}  // namespace

void CheckBlockGradient(const BlockAttentionGradientParams& p, Checker& checker) {
  checker.That(!p.attenMaskOptional.present(), [&] {
    return Concat(p.attenMaskOptional.name(),
                  " value is a tensor, expected null: it is not supported");
  });
  const BlockArguments of = ArgumentsOf(p);
  BlockCall::Check(of, checker);
  if (!checker.ok()) return;
  Shape shape = ShapeOf(p.query);
  shape[shape.size() - 1] = p.value.last_dim();
  for (const Tensor* each : {&p.dout, &p.attentionOut}) {
    CheckShape(*each, shape, checker);
    checker.SameDtype(*each, p.query);
  }
  shape[shape.size() - 1] = 1;
  checker.That(p.softmaxLse.dtype() == ACL_FLOAT, [&] { return DtypeIs(p.softmaxLse, "FLOAT"); });
  CheckShape(p.softmaxLse, shape, checker);
  checker.SameShapeAndDtype(p.dq, p.query)
      .SameShapeAndDtype(p.dk, p.key)
      .SameShapeAndDtype(p.dv, p.value);
}

Plan PlanBlockGradient(const BlockAttentionGradientParams& p, const Product&) {
  return {0, [task = BlockGradient(p)](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
