// SPDX-License-Identifier: Apache-2.0
// DenseLightningIndexerGradKLLoss and SparseLightningIndexerGradKLLoss: the divergence of the
// indexer's softmax from the weights of attention, and its gradients, in double. Rows are taken
// some at a time, so that memory does not grow with their square.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "generated/attention.h"
#include "kernels/work/parallel_items.h"
#include "kernels/work/scratch.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/lengths.h"
#include "supporting/attention/rope_rows.h"
#include "supporting/attention/row_sums.h"
#include "supporting/attention/sequences.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kRowsTogether = 64;

bool IsTnd(const char* layout) { return layout != nullptr && std::string_view(layout) == "TND"; }

/// Sizes of a call. Tokens of query and key are counted through all batches.
struct LossSizes {
  explicit LossSizes(const IndexLossParams& p)
      : packed(IsTnd(p.layout)),
        at(packed ? 0 : 1),
        q_rows(p.query.dim(at)),
        k_rows(p.key.dim(at)),
        batches(packed ? 1 : p.query.dim(0)),
        heads(p.query.dim(at + 1)),
        served(p.key.dim(at + 1)),
        width(p.query.last_dim()),
        rope(p.queryRopeOptional.present() ? p.queryRopeOptional.last_dim() : 0),
        index_heads(p.queryIndex.dim(at + 1)),
        index_width(p.queryIndex.last_dim()) {}

  /// (batches, rows, …) or (rows, …).
  Shape Of(int64_t rows, std::initializer_list<int64_t> more) const {
    Shape shape = packed ? Shape{rows} : Shape{batches, rows};
    for (const int64_t each : more) shape.push_back(each);
    return shape;
  }
  /// Numbers of rows, with heads before the rows.
  Shape BeforeRows(int64_t many) const {
    return packed ? Shape{many, q_rows} : Shape{batches, many, q_rows};
  }

  bool packed;
  uint32_t at;  // the dimension of rows
  int64_t q_rows, k_rows, batches, heads, served, width, rope, index_heads, index_width;
};

void CheckOperands(const IndexLossParams& p, Checker& checker) {
  const uint32_t rank = IsTnd(p.layout) ? 3 : 4;
  for (const Tensor* each : {&p.query, &p.key, &p.queryIndex, &p.keyIndex}) {
    checker.Rank(*each, rank).SameDtype(*each, p.query);
  }
  CheckType(p.query, checker);
  checker.That(p.weights.dtype() == ACL_FLOAT || p.weights.dtype() == p.query.dtype(),
               [&] { return DtypeIs(p.weights, "FLOAT or that of query"); });
  checker.That(p.queryRopeOptional.present() == p.keyRopeOptional.present(), [&] {
    return Concat(p.keyRopeOptional.name(), " value is ",
                  p.keyRopeOptional.present() ? "a tensor" : "null", ", expected what ",
                  p.queryRopeOptional.name(), " is: both or none");
  });
  for (const Tensor* rope : {&p.queryRopeOptional, &p.keyRopeOptional}) {
    if (rope->present()) checker.Rank(*rope, rank).SameDtype(*rope, p.query);
  }
  for (const auto& [name, value] :
       {std::pair{"preTokens", p.preTokens}, {"nextTokens", p.nextTokens}}) {
    checker.That(value >= 65536, [&] {
      return Concat(name, " value is ", value, ", expected at least 65536: no key is hidden by it");
    });
  }
}

void CheckForward(const IndexLossParams& p, const LossSizes& of, Checker& checker) {
  const int64_t group = of.heads / of.served;
  std::vector<const Tensor*> numbers = {&p.softmaxMax, &p.softmaxSum};
  Shape shape = of.BeforeRows(of.served);
  shape.push_back(group);
  for (const Tensor* each : numbers) CheckShape(*each, shape, checker);
  for (const Tensor* each : {&p.softmaxMaxIndex, &p.softmaxSumIndex}) {
    if (p.dense) CheckShape(*each, of.BeforeRows(1), checker);
    if (p.dense) numbers.push_back(each);
  }
  for (const Tensor* each : numbers) {
    checker.That(each->dtype() == ACL_FLOAT, [&] { return DtypeIs(*each, "FLOAT"); });
  }
  if (p.dense) return;
  checker.That(p.sparseIndices.dtype() == ACL_INT32,
               [&] { return DtypeIs(p.sparseIndices, "INT32"); });
  CheckShape(p.sparseIndices, of.Of(of.q_rows, {1, p.sparseIndices.last_dim()}), checker);
}

}  // namespace

void CheckIndexLoss(const IndexLossParams& p, Checker& checker) {
  CheckOperands(p, checker);
  if (!checker.ok()) return;
  const LossSizes of(p);
  checker.That(of.served > 0 && of.heads % of.served == 0, [&] {
    return Concat(p.key.name(), " shape is ", ShapeText(p.key),
                  ", expected a number of heads that divides ", of.heads, ", those of query");
  });
  CheckShape(p.query, of.Of(of.q_rows, {of.heads, of.width}), checker);
  CheckShape(p.key, of.Of(of.k_rows, {of.served, of.width}), checker);
  CheckShape(p.queryIndex, of.Of(of.q_rows, {of.index_heads, of.index_width}), checker);
  CheckShape(p.keyIndex, of.Of(of.k_rows, {1, of.index_width}), checker);
  CheckShape(p.weights, of.Of(of.q_rows, {of.index_heads}), checker);
  if (of.rope > 0) {
    CheckShape(p.queryRopeOptional, of.Of(of.q_rows, {of.heads, of.rope}), checker);
    CheckShape(p.keyRopeOptional, of.Of(of.k_rows, {of.served, of.rope}), checker);
  }
  if (!checker.ok()) return;
  CheckForward(p, of, checker);
  checker.SameShapeAndDtype(p.dQueryIndex, p.queryIndex)
      .SameShapeAndDtype(p.dKeyIndex, p.keyIndex)
      .SameShapeAndDtype(p.dWeights, p.weights);
  checker.That(p.loss.dtype() == ACL_FLOAT, [&] { return DtypeIs(p.loss, "FLOAT"); });
  CheckShape(p.loss, {1}, checker);
  if (!checker.ok() || !of.packed) return;
  CheckEnds(p.actualSeqQLenOptional, p.query, of.q_rows, checker);
  CheckEnds(p.actualSeqKLenOptional, p.key, of.k_rows, checker);
  CheckSameCount(p.actualSeqQLenOptional, p.actualSeqKLenOptional, checker);
}

namespace {

/// A row of the query: its token, those of its keys, and the keys that it may see.
struct LossRow {
  int64_t token, batch, row, first_key, seen;
};

struct LossTask {
  explicit LossTask(const IndexLossParams& p)
      : of(p),
        q(p.query),
        k(p.key),
        qi(p.queryIndex),
        ki(p.keyIndex),
        w(p.weights),
        max(p.softmaxMax),
        sum(p.softmaxSum),
        dqi(p.dQueryIndex),
        dki(p.dKeyIndex),
        dw(p.dWeights),
        loss(p.loss, 0),
        dense(p.dense),
        scale(p.scaleValue) {
    if (of.rope > 0) qr = PartsOfRows(p.queryRopeOptional), kr = PartsOfRows(p.keyRopeOptional);
    if (dense) {
      max_index = PartsOfRows(p.softmaxMaxIndex);
      sum_index = PartsOfRows(p.softmaxSumIndex);
    } else {
      chosen = PartsOfRows(p.sparseIndices);
      count = p.sparseIndices.last_dim();
    }
    if (of.packed) {
      row_spans = SpansOf(p.actualSeqQLenOptional.values());
      key_spans = SpansOf(p.actualSeqKLenOptional.values());
    }
    constexpr int kBytes = sizeof(double);
    sums_at = parts.Take(__int128{of.batches} * of.k_rows * of.index_width * kBytes);
    slopes_at = parts.Take(__int128{kRowsTogether} * of.k_rows * kBytes);
  }

  /// The rows of all sequences. A row sees the keys up to its place, where the last row is at the
  /// last key.
  std::vector<LossRow> Rows() const {
    std::vector<LossRow> rows;
    const size_t sequences = of.packed ? row_spans.size() : static_cast<size_t>(of.batches);
    for (size_t n = 0; n < sequences; ++n) {
      const Span own = of.packed ? row_spans[n] : Span{0, of.q_rows};
      const Span keys = of.packed ? key_spans[n] : Span{0, of.k_rows};
      const int64_t batch = of.packed ? 0 : static_cast<int64_t>(n);
      for (int64_t i = 0; i < own.count; ++i) {
        const int64_t row = own.first + i, seen = keys.count - own.count + i + 1;
        rows.push_back({batch * of.q_rows + row, batch, row, batch * of.k_rows + keys.first,
                        std::clamp<int64_t>(seen, 0, keys.count)});
      }
    }
    return rows;
  }

  /// The keys of a row that count: all that it sees, or those that were chosen.
  std::vector<int64_t> KeysOf(const Buffers& buffers, const LossRow& row) const {
    std::vector<int64_t> keys;
    if (dense) {
      for (int64_t key = 0; key < row.seen; ++key) keys.push_back(key);
      return keys;
    }
    std::vector<double> read(static_cast<size_t>(count));
    chosen.Load(buffers, row.token, 0, count, read.data());
    for (const double each : read) {
      if (each >= 0 && each < static_cast<double>(row.seen)) {
        keys.push_back(static_cast<int64_t>(each));
      }
    }
    return keys;
  }

  /// The weights of attention, summed over heads, divided by their sum.
  std::vector<double> Target(const Buffers& buffers, const LossRow& row,
                             const std::vector<int64_t>& keys) const {
    const int64_t wide = of.width + of.rope, group = of.heads / of.served;
    std::vector<double> query(static_cast<size_t>(wide)), key(query.size());
    std::vector<TreeSum<double>> sums(keys.size());
    for (int64_t head = 0; head < of.heads; ++head) {
      const int64_t served = head / group;
      const auto load = [&](const PartsOfRows& own, const PartsOfRows& more, int64_t at,
                            std::vector<double>* to) {
        own.Load(buffers, at, 0, of.width, to->data());
        if (of.rope > 0) more.Load(buffers, at, 0, of.rope, to->data() + of.width);
      };
      load(q, qr, row.token * of.heads + head, &query);
      double top = 0, total = 0;
      const int64_t at = of.packed ? served * of.q_rows + row.row
                                   : (row.batch * of.served + served) * of.q_rows + row.row;
      max.Load(buffers, at, head % group, 1, &top);
      sum.Load(buffers, at, head % group, 1, &total);
      for (size_t i = 0; i < keys.size(); ++i) {
        load(k, kr, (row.first_key + keys[i]) * of.served + served, &key);
        const double score = scale * ProductOf(query.data(), key.data(), wide);
        sums[i].Add(std::exp(score - top) / total);
      }
    }
    std::vector<double> target(keys.size());
    TreeSum<double> all;
    for (size_t i = 0; i < keys.size(); ++i) {
      target[i] = sums[i].Total();
      all.Add(target[i]);
    }
    const double norm = all.Total();
    for (double& each : target) each = norm == 0 ? 0 : each / norm;
    return target;
  }

  /// The queries of the indexer of a row, (head, element), and the weights of its heads.
  struct IndexRow {
    std::vector<double> q, w;
  };
  IndexRow LoadIndex(const Buffers& buffers, int64_t token) const {
    IndexRow row{std::vector<double>(static_cast<size_t>(of.index_heads * of.index_width)),
                 std::vector<double>(static_cast<size_t>(of.index_heads))};
    for (int64_t head = 0; head < of.index_heads; ++head) {
      qi.Load(buffers, token * of.index_heads + head, 0, of.index_width,
              row.q.data() + head * of.index_width);
    }
    w.Load(buffers, token, 0, of.index_heads, row.w.data());
    return row;
  }

  /// Makes the slopes of the indexer's sums by key, the gradients by the row, and its divergence.
  double RunRow(const Buffers& buffers, const LossRow& row, double* slopes) const {
    const std::vector<int64_t> keys = KeysOf(buffers, row);
    const std::vector<double> target = Target(buffers, row, keys);
    const IndexRow index = LoadIndex(buffers, row.token);
    const int64_t heads = of.index_heads, width = of.index_width;
    const auto many = std::ssize(keys);
    std::vector<double> of_keys(static_cast<size_t>(many * width)),
        products(static_cast<size_t>(many * heads)), soft(keys.size());
    for (int64_t i = 0; i < many; ++i) {
      double* const key = of_keys.data() + i * width;
      ki.Load(buffers, row.first_key + keys[static_cast<size_t>(i)], 0, width, key);
      TreeSum<double> total;
      for (int64_t head = 0; head < heads; ++head) {
        const double product = std::max(ProductOf(index.q.data() + head * width, key, width), 0.0);
        products[static_cast<size_t>(i * heads + head)] = product;
        total.Add(index.w[static_cast<size_t>(head)] * product);
      }
      soft[static_cast<size_t>(i)] = total.Total();
    }
    const double divergence = Slopes(buffers, row, target, &soft);
    for (int64_t i = 0; i < many; ++i) {
      slopes[keys[static_cast<size_t>(i)]] += soft[static_cast<size_t>(i)];
    }
    StoreRow(buffers, row.token, index, of_keys, products, soft);
    return divergence;
  }

  /// The indexer's sums become their slopes. Returns the divergence.
  double Slopes(const Buffers& buffers, const LossRow& row, const std::vector<double>& target,
                std::vector<double>* soft) const {
    double top = 0, total = 1;
    if (dense) {
      max_index.Load(buffers, of.packed ? 0 : row.batch, row.row, 1, &top);
      sum_index.Load(buffers, of.packed ? 0 : row.batch, row.row, 1, &total);
    } else if (!soft->empty()) {
      top = *std::max_element(soft->begin(), soft->end());
      TreeSum<double> powers;
      for (const double each : *soft) powers.Add(std::exp(each - top));
      total = powers.Total();
    }
    TreeSum<double> divergence;
    const double log_total = std::log(total);
    for (size_t i = 0; i < soft->size(); ++i) {
      const double log = (*soft)[i] - top - log_total;
      divergence.Add(target[i] == 0 ? 0 : target[i] * (std::log(target[i]) - log));
      (*soft)[i] = std::exp(log) - target[i];
    }
    return divergence.Total();
  }

  void StoreRow(const Buffers& buffers, int64_t token, const IndexRow& index,
                const std::vector<double>& of_keys, const std::vector<double>& products,
                const std::vector<double>& slopes) const {
    const int64_t heads = of.index_heads, width = of.index_width;
    const auto many = std::ssize(slopes);
    std::vector<double> by_q(static_cast<size_t>(width)), by_w(static_cast<size_t>(heads));
    for (int64_t head = 0; head < heads; ++head) {
      const double weight = index.w[static_cast<size_t>(head)];
      const auto product = [&](int64_t i) {
        return products[static_cast<size_t>(i * heads + head)];
      };
      SumRows(
          many, width,
          [&](int64_t i) { return product(i) > 0 ? weight * slopes[static_cast<size_t>(i)] : 0; },
          [&](int64_t i) { return of_keys.data() + i * width; }, by_q.data());
      dqi.Store(buffers, token * heads + head, 0, width, by_q.data());
      TreeSum<double> total;
      for (int64_t i = 0; i < many; ++i) total.Add(slopes[static_cast<size_t>(i)] * product(i));
      by_w[static_cast<size_t>(head)] = total.Total();
    }
    dw.Store(buffers, token, 0, heads, by_w.data());
  }

  /// Adds to a key's sums what some rows have.
  void AddKey(const Buffers& buffers, int64_t key, const LossRow* some, int64_t n,
              const std::vector<IndexRow>& index, const double* slopes, double* to) const {
    const int64_t heads = of.index_heads, width = of.index_width;
    std::vector<double> own(static_cast<size_t>(width));
    ki.Load(buffers, key, 0, width, own.data());
    for (int64_t i = 0; i < n; ++i) {
      const int64_t place = key - some[i].first_key;
      if (place < 0 || place >= some[i].seen) continue;
      const double slope = slopes[i * of.k_rows + place];
      if (slope == 0) continue;
      const IndexRow& row = index[static_cast<size_t>(i)];
      for (int64_t head = 0; head < heads; ++head) {
        const double* const query = row.q.data() + head * width;
        if (ProductOf(query, own.data(), width) <= 0) continue;
        const double factor = slope * row.w[static_cast<size_t>(head)];
        for (int64_t d = 0; d < width; ++d) to[d] += factor * query[d];
      }
    }
  }

  /// Rows that no sequence has get 0.
  void Clear(const Buffers& buffers) const {
    const std::vector<double> zeros(static_cast<size_t>(std::max(of.index_width, of.index_heads)));
    ParallelFor(of.batches * of.q_rows, true, [&](int64_t token) {
      for (int64_t head = 0; head < of.index_heads; ++head) {
        dqi.Store(buffers, token * of.index_heads + head, 0, of.index_width, zeros.data());
      }
      dw.Store(buffers, token, 0, of.index_heads, zeros.data());
    });
  }

  Status Run(const Buffers& buffers) const {
    auto* const scratch = static_cast<std::byte*>(buffers.workspace);
    auto* const sums = reinterpret_cast<double*>(scratch + sums_at);
    auto* const slopes = reinterpret_cast<double*>(scratch + slopes_at);
    const int64_t all_keys = of.batches * of.k_rows, width = of.index_width;
    std::fill_n(sums, all_keys * width, 0.0);
    Clear(buffers);
    const std::vector<LossRow> rows = Rows();
    std::vector<double> divergences(rows.size());
    for (size_t first = 0; first < rows.size(); first += kRowsTogether) {
      const auto n = static_cast<int64_t>(std::min<size_t>(kRowsTogether, rows.size() - first));
      const LossRow* const some = rows.data() + first;
      std::fill_n(slopes, n * of.k_rows, 0.0);
      std::vector<IndexRow> index(static_cast<size_t>(n));
      ParallelFor(n, true, [&](int64_t i) {
        const auto at = static_cast<size_t>(i);
        index[at] = LoadIndex(buffers, some[i].token);
        divergences[first + at] = RunRow(buffers, some[i], slopes + i * of.k_rows);
      });
      ParallelFor(all_keys, true, [&](int64_t key) {
        AddKey(buffers, key, some, n, index, slopes, sums + key * width);
      });
    }
    ParallelFor(all_keys, true,
                [&](int64_t key) { dki.Store(buffers, key, 0, width, sums + key * width); });
    TreeSum<double> total;
    for (const double each : divergences) total.Add(each);
    loss.Set(buffers, 0, total.Total());
    return {};
  }

  LossSizes of;
  PartsOfRows q, k, qr, kr, qi, ki, w, chosen, max, sum, max_index, sum_index, dqi, dki, dw;
  Elements loss;
  bool dense;
  double scale;
  int64_t count = 0;
  std::vector<Span> row_spans, key_spans;  // of packed sequences
  ScratchParts parts;
  uint64_t sums_at = 0, slopes_at = 0;
};

}  // namespace

Plan PlanIndexLoss(const IndexLossParams& p, const Product&) {
  LossTask task(p);
  const uint64_t bytes = task.parts.bytes();
  return {bytes, [task = std::move(task)](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
