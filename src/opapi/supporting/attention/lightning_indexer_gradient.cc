// SPDX-License-Identifier: Apache-2.0
// LightningIndexerGrad: gradients of the sums of chosen keys, in double. Those by query and weights
// are made row by row, that by key from the entries of sparseIndices that name a key.
#include <algorithm>

#include "generated/attention.h"
#include "kernels/work/parallel_items.h"
#include "kernels/work/scratch.h"
#include "supporting/attention/sparse.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kMostChosen = 8192;

SparseCall CallOf(const LightningIndexerGradientParams& p) {
  return {.query = p.query,
          .key = p.key,
          .table = NoTensor(),
          .row_lengths = p.actualSeqLengthsQuery,
          .key_lengths = p.actualSeqLengthsKey,
          .q_layout = p.layout,
          .k_layout = p.layout,
          .table_name = "blockTable",
          .layout_name = "layout",
          .mode = p.sparseMode,
          .before = p.preTokens,
          .after = p.nextTokens};
}

}  // namespace

void CheckLightningIndexerGradient(const LightningIndexerGradientParams& p, Checker& checker) {
  const SparseCall call = CallOf(p);
  call.Check(checker);
  if (!checker.ok()) return;
  const Heads q = call.Queries();
  const Tensor &indices = p.sparseIndices, &dy = p.dy;
  checker.RankBetween(indices, p.query.rank() - 1, p.query.rank()).Rank(dy, indices.rank());
  checker.SameDtype(dy, p.query);
  checker.That(p.weights.dtype() == ACL_FLOAT || p.weights.dtype() == p.query.dtype(),
               [&] { return DtypeIs(p.weights, "FLOAT or that of query"); });
  checker.That(indices.dtype() == ACL_INT32, [&] { return DtypeIs(indices, "INT32"); });
  if (!checker.ok()) return;
  const int64_t count = indices.last_dim();
  checker.That(count >= 1 && count <= kMostChosen, [&] {
    return Concat("sparseIndices shape is ", ShapeText(indices), ", expected 1 to ", kMostChosen,
                  " keys for each row");
  });
  Shape chosen = call.RowShape(1, count), of_weights = call.RowShape(q.heads, 1);
  if (indices.rank() < p.query.rank()) chosen.erase(chosen.end() - 2);
  of_weights.pop_back();
  for (const Tensor* tensor : {&indices, &dy}) CheckShape(*tensor, chosen, checker);
  CheckShape(p.weights, of_weights, checker);
  checker.SameShapeAndDtype(p.dQuery, p.query)
      .SameShapeAndDtype(p.dKey, p.key)
      .SameShapeAndDtype(p.dWeights, p.weights);
}

namespace {

/// Where rows of a tensor lie, and how numbers of double are stored there.
struct Rows {
  explicit Rows(const Heads& heads, const Tensor& tensor)
      : lie(heads.lie),
        place(tensor.place),
        elements(heads.elements),
        store(StorerOf<double>(tensor.dtype())) {}

  void Load(const Buffers& buffers, int64_t batch, int64_t head, int64_t row, float* to) const {
    const AttentionRows from = lie.At(place(buffers), batch, head, row);
    from.load(from.from, from.element_bytes, elements, to);
  }
  void Store(const Buffers& buffers, int64_t batch, int64_t head, int64_t row,
             const double* from) const {
    store(from, elements, place(buffers) + lie.Offset(batch, head, row),
          lie.element_step * lie.bytes);
  }

  AttentionHeads lie;
  Place place;
  int64_t elements;
  StoreRow<double> store;
};

double ScoreOf(const float* a, const float* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += double{a[i]} * b[i];
  return sum;
}

/// A row of the query that counts, and the keys that it may have chosen.
struct RowKeys {
  int64_t batch, row, first_key, seen;
};

struct IndexGradientTask {
  IndexGradientTask(const LightningIndexerGradientParams& p, const SparseCall& call)
      : reader(call),
        chosen(call, p.sparseIndices, 1),
        heads(call.Queries().heads),
        width(call.Queries().elements),
        query_rows(call.Queries().rows),
        query_batches(call.Queries().batches),
        key_rows(call.KeysOf(call.key).rows),
        key_batches(call.KeysOf(call.key).batches),
        q(call.Queries(), p.query),
        k(call.KeysOf(p.key), p.key),
        dy(call.PerRow(p.dy), p.dy),
        weights(Heads(p.weights, chosen.packed ? "TN" : "BSN", 1), p.weights),
        dq(Heads(p.dQuery, call.q_layout, width), p.dQuery),
        dk(call.KeysOf(p.dKey), p.dKey),
        dw(Heads(p.dWeights, chosen.packed ? "TN" : "BSN", 1), p.dWeights),
        indices(p.sparseIndices.place) {
    const __int128 entries = __int128{query_rows} * query_batches * chosen.count;
    constexpr auto kBytes = static_cast<int>(sizeof(int64_t));
    first_at = parts.Take((__int128{key_rows} * key_batches + 1) * kBytes);
    entries_at = parts.Take(entries * kBytes);
  }

  Status Run(const Buffers& buffers) const {
    SparseSpans spans;
    Status found = reader.Read(buffers, &spans);
    if (!found.ok()) return found;
    std::vector<AttentionSequence> sequences(static_cast<size_t>(query_rows * query_batches));
    const void* const table = indices(buffers);
    found = chosen.Set(table, spans, &sequences);
    if (!found.ok()) return found;
    std::vector<RowKeys> rows;
    for (int64_t n = 0; n < static_cast<int64_t>(sequences.size()); ++n) {
      const AttentionSequence& of = sequences[static_cast<size_t>(n)];
      const int64_t batch = chosen.packed ? of.batch : n / query_rows;
      rows.push_back({batch, n % query_rows, of.first_key, of.keys == 0 ? 0 : of.places});
    }
    ParallelFor(static_cast<int64_t>(rows.size()), true,
                [&](int64_t n) { AddRow(buffers, table, rows[static_cast<size_t>(n)]); });
    auto* const scratch = static_cast<std::byte*>(buffers.workspace);
    auto* const first = reinterpret_cast<int64_t*>(scratch + first_at);
    auto* const entries = reinterpret_cast<int64_t*>(scratch + entries_at);
    List(table, rows, first, entries);
    ParallelFor(key_rows * key_batches, true,
                [&](int64_t n) { AddKey(buffers, n, rows, first, entries); });
    return {};
  }

  /// The key that an entry of a row names, or -1 if the row does not see it.
  int64_t KeyOf(const void* table, const RowKeys& of, int64_t entry) const {
    const int64_t key = chosen.pages.Block(table, of.batch, 0, entry, of.row);
    return key < of.seen ? key : -1;
  }

  /// The gradients by a row of the query and by its weights.
  void AddRow(const Buffers& buffers, const void* table, const RowKeys& of) const {
    std::vector<float> rows(static_cast<size_t>(heads * width)), key(static_cast<size_t>(width)),
        by(static_cast<size_t>(chosen.count)), of_heads(static_cast<size_t>(heads));
    std::vector<double> sums(rows.size() + of_heads.size());
    dy.Load(buffers, of.batch, 0, of.row, by.data());
    for (int64_t h = 0; h < heads; ++h) {
      q.Load(buffers, of.batch, h, of.row, rows.data() + h * width);
      weights.Load(buffers, of.batch, h, of.row, of_heads.data() + h);
    }
    double* const by_weights = sums.data() + rows.size();
    for (int64_t entry = 0; entry < chosen.count; ++entry) {
      const int64_t place = KeyOf(table, of, entry);
      if (place < 0) continue;
      k.Load(buffers, of.batch, 0, of.first_key + place, key.data());
      const double slope = by[static_cast<size_t>(entry)];
      for (int64_t h = 0; h < heads; ++h) {
        const double product = ScoreOf(rows.data() + h * width, key.data(), width);
        if (product <= 0) continue;
        by_weights[h] += slope * product;
        const double factor = slope * of_heads[static_cast<size_t>(h)];
        double* const to = sums.data() + h * width;
        for (int64_t d = 0; d < width; ++d) to[d] += factor * key[static_cast<size_t>(d)];
      }
    }
    for (int64_t h = 0; h < heads; ++h) {
      dq.Store(buffers, of.batch, h, of.row, sums.data() + h * width);
      dw.Store(buffers, of.batch, h, of.row, by_weights + h);
    }
  }

  /// The entries that name each key, in ascending order: row * count + place in the row.
  void List(const void* table, const std::vector<RowKeys>& rows, int64_t* first,
            int64_t* entries) const {
    const int64_t keys = key_rows * key_batches;
    const auto for_each = [&](const auto& visit) {
      for (size_t n = 0; n < rows.size(); ++n) {
        const RowKeys& of = rows[n];
        const int64_t before = chosen.packed ? 0 : of.batch * key_rows;
        for (int64_t entry = 0; entry < chosen.count; ++entry) {
          const int64_t place = KeyOf(table, of, entry);
          if (place < 0) continue;
          visit(before + of.first_key + place, static_cast<int64_t>(n) * chosen.count + entry);
        }
      }
    };
    std::fill_n(first, keys + 1, int64_t{0});
    for_each([&](int64_t key, int64_t) { ++first[key + 1]; });
    for (int64_t key = 0; key < keys; ++key) first[key + 1] += first[key];
    for_each([&](int64_t key, int64_t entry) { entries[first[key]++] = entry; });
    for (int64_t key = keys; key > 0; --key) first[key] = first[key - 1];
    first[0] = 0;
  }

  /// The gradient by a key.
  void AddKey(const Buffers& buffers, int64_t number, const std::vector<RowKeys>& rows,
              const int64_t* first, const int64_t* entries) const {
    const int64_t batch = number / key_rows, row_of_key = number % key_rows;
    std::vector<float> key(static_cast<size_t>(width)), row(key.size()),
        by(static_cast<size_t>(chosen.count));
    std::vector<double> sums(key.size());
    k.Load(buffers, batch, 0, row_of_key, key.data());
    for (int64_t i = first[number]; i < first[number + 1]; ++i) {
      const RowKeys& of = rows[static_cast<size_t>(entries[i] / chosen.count)];
      dy.Load(buffers, of.batch, 0, of.row, by.data());
      const double slope = by[static_cast<size_t>(entries[i] % chosen.count)];
      for (int64_t h = 0; h < heads; ++h) {
        q.Load(buffers, of.batch, h, of.row, row.data());
        if (ScoreOf(row.data(), key.data(), width) <= 0) continue;
        float weight = 0;
        weights.Load(buffers, of.batch, h, of.row, &weight);
        for (size_t d = 0; d < sums.size(); ++d) sums[d] += slope * weight * row[d];
      }
    }
    dk.Store(buffers, batch, 0, row_of_key, sums.data());
  }

  SparseReader reader;
  ChosenKeys chosen;
  int64_t heads, width, query_rows, query_batches, key_rows, key_batches;
  Rows q, k, dy, weights, dq, dk, dw;
  Place indices;
  ScratchParts parts;
  uint64_t first_at, entries_at;
};

}  // namespace

Plan PlanLightningIndexerGradient(const LightningIndexerGradientParams& p, const Product&) {
  IndexGradientTask task(p, CallOf(p));
  const uint64_t bytes = task.parts.bytes();
  return {bytes, [task](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
