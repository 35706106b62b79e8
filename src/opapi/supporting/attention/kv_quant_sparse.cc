// SPDX-License-Identifier: Apache-2.0
// KvQuantSparseFlashAttention, in double: attention sees the keys that an index names. A key is a
// row of INT8 numbers, then a rope of query's type, then FLOAT factors of tiles of the numbers.
#include <cstring>

#include "generated/attention.h"
#include "kernels/work/divide_up.h"
#include "kernels/work/parallel_items.h"
#include "supporting/attention/rope_rows.h"
#include "supporting/attention/row_sums.h"
#include "supporting/attention/sparse.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kTile = 128;    // numbers that have one factor
constexpr int64_t kPerTile = 2;   // the quantisation mode of factors of tiles
constexpr int64_t kAbsorbed = 2;  // the attention mode of values that are keys without ropes

SparseCall CallOf(const KvQuantSparseParams& p) {
  return {.query = p.query,
          .key = p.key,
          .table = p.blockTableOptional,
          .row_lengths = p.actualSeqLengthsQueryOptional,
          .key_lengths = p.actualSeqLengthsKvOptional,
          .q_layout = p.layoutQueryOptional,
          .k_layout = p.layoutKvOptional,
          .table_name = "blockTableOptional",
          .layout_name = "layoutKvOptional",
          .mode = p.sparseMode,
          .before = p.preTokens,
          .after = p.nextTokens,
          .apart = true};
}

void CheckFixed(const char* name, int64_t value, int64_t want, Checker& checker) {
  checker.That(value == want,
               [&] { return Concat(name, " value is ", value, ", expected ", want); });
}

}  // namespace

void CheckKvQuantSparse(const KvQuantSparseParams& p, Checker& checker) {
  for (const Tensor* scale : {&p.keyDequantScaleOptional, &p.valueDequantScaleOptional}) {
    checker.That(!scale->present(), [&] {
      return Concat(scale->name(),
                    " value is a tensor, expected null: factors lie beside the keys");
    });
  }
  CheckFixed("keyQuantMode", p.keyQuantMode, kPerTile, checker);
  CheckFixed("valueQuantMode", p.valueQuantMode, kPerTile, checker);
  CheckFixed("attentionMode", p.attentionMode, kAbsorbed, checker);
  CheckFixed("quantScaleRepoMode", p.quantScaleRepoMode, 1, checker);
  CheckFixed("tileSize", p.tileSize, kTile, checker);
  const bool block_fits = p.sparseBlockSize >= 1 && p.sparseBlockSize <= 16 &&
                          (p.sparseBlockSize & (p.sparseBlockSize - 1)) == 0;
  checker.That(block_fits, [&] {
    return Concat("sparseBlockSize value is ", p.sparseBlockSize,
                  ", expected a power of 2, at most 16");
  });
  if (!checker.ok()) return;
  const SparseCall call = CallOf(p);
  call.Check(checker);
  if (!checker.ok()) return;
  checker.That(p.key.dtype() == ACL_INT8, [&] { return DtypeIs(p.key, "INT8"); });
  checker.SameDtype(p.value, p.key).Rank(p.value, p.key.rank());
  const int64_t own = p.query.last_dim() - p.ropeHeadDim;
  checker.That(p.ropeHeadDim >= 0 && own > 0, [&] {
    return Concat("ropeHeadDim value is ", p.ropeHeadDim, ", expected less than ",
                  p.query.last_dim(), ", the width of query");
  });
  if (!checker.ok()) return;
  const int64_t of_rope = p.ropeHeadDim * BytesOf(p.query), tiles = DivideUp(own, kTile);
  const int64_t wide = own + of_rope + tiles * static_cast<int64_t>(sizeof(float));
  checker.That(p.key.last_dim() == wide, [&] {
    return Concat(p.key.name(), " shape is ", ShapeText(p.key), ", expected rows of ", wide,
                  " bytes: ", own, " numbers, a rope of ", of_rope, " bytes, ", tiles, " factors");
  });
  checker.That(p.sparseIndices.dtype() == ACL_INT32,
               [&] { return DtypeIs(p.sparseIndices, "INT32"); });
  checker.Rank(p.sparseIndices, p.query.rank());
  if (!checker.ok()) return;
  CheckShape(p.sparseIndices, call.RowShape(1, p.sparseIndices.last_dim()), checker);
  CheckShape(p.attentionOut, call.RowShape(call.Queries().heads, own), checker);
  checker.SameDtype(p.attentionOut, p.query);
}

namespace {

struct KvQuantTask {
  explicit KvQuantTask(const KvQuantSparseParams& p)
      : reader(CallOf(p)),
        pages(CallOf(p).Pages()),
        keys_lie(CallOf(p).KeysOf(p.key).lie),
        q(p.query),
        chosen(p.sparseIndices),
        out(p.attentionOut),
        key(p.key.place),
        key_step(p.key.tensor().strides[p.key.rank() - 1]),
        load_rope(LoaderOf<double>(p.query.dtype())),
        heads(CallOf(p).Queries().heads),
        rows(CallOf(p).Queries().rows),
        batches(CallOf(p).Queries().batches),
        packed(CallOf(p).packed()),
        own(p.query.last_dim() - p.ropeHeadDim),
        rope(p.ropeHeadDim),
        rope_bytes(BytesOf(p.query)),
        count(p.sparseIndices.last_dim()),
        size(p.sparseBlockSize),
        mode(p.sparseMode),
        scale(p.scaleValue) {}

  /// Reads a key as (numbers, rope): the numbers are multiplied by the factors of their tiles.
  void LoadKey(const std::byte* from, double* to) const {
    const auto tiles = static_cast<size_t>(DivideUp(own, kTile));
    std::vector<std::byte> row(static_cast<size_t>(own + rope * rope_bytes) +
                               tiles * sizeof(float));
    for (size_t i = 0; i < row.size(); ++i) row[i] = from[static_cast<int64_t>(i) * key_step];
    std::vector<float> factors(tiles);
    std::vector<std::byte> of_rope(static_cast<size_t>(rope * rope_bytes));
    std::memcpy(of_rope.data(), row.data() + own, of_rope.size());
    std::memcpy(factors.data(), row.data() + own + of_rope.size(), tiles * sizeof(float));
    for (int64_t i = 0; i < own; ++i) {
      const auto number = static_cast<int8_t>(row[static_cast<size_t>(i)]);
      to[i] = double{factors[static_cast<size_t>(i / kTile)]} * number;
    }
    load_rope(of_rope.data(), rope_bytes, rope, to + own);
  }

  /// The places of the keys that a row sees. Returns 507035 if an index names none of its batch.
  Status KeysOf(const Buffers& buffers, int64_t token, const Span& keys, int64_t seen,
                std::vector<int64_t>* places) const {
    std::vector<double> blocks(static_cast<size_t>(count));
    chosen.Load(buffers, token, 0, count, blocks.data());
    for (const double block : blocks) {
      const auto first = static_cast<int64_t>(block) * size;
      if (block < 0) continue;
      if (first >= keys.count) {
        return Status(507035, Concat("sparseIndices has ", static_cast<int64_t>(block),
                                     ", expected a block of the ", keys.count, " keys"));
      }
      for (int64_t i = first; i < std::min(first + size, seen); ++i) places->push_back(i);
    }
    return {};
  }

  void RunRow(const Buffers& buffers, int64_t batch, int64_t token, const Span& of_keys,
              const std::vector<int64_t>& places) const {
    const int64_t wide = own + rope;
    const int32_t* const table = reader.Table(buffers);
    std::vector<double> keys(places.size() * static_cast<size_t>(wide)),
        query(static_cast<size_t>(wide)), result(static_cast<size_t>(own)), scores(places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      const int64_t place = places[i];
      const int64_t block = pages.given ? pages.Block(table, batch, 0, place) : batch;
      const int64_t row = pages.given ? place % pages.rows : of_keys.first + place;
      LoadKey(key(buffers) + keys_lie.Offset(block, 0, row),
              keys.data() + static_cast<int64_t>(i) * wide);
    }
    for (int64_t head = 0; head < heads; ++head) {
      q.Load(buffers, token * heads + head, 0, wide, query.data());
      for (size_t i = 0; i < places.size(); ++i) {
        const double* const from = keys.data() + static_cast<int64_t>(i) * wide;
        scores[i] = scale * ProductOf(query.data(), from, wide);
      }
      RowSoftmax softmax(&scores);
      SumRows(
          std::ssize(scores), own, [&](int64_t i) { return scores[static_cast<size_t>(i)]; },
          [&](int64_t i) { return keys.data() + i * wide; }, result.data());
      out.Store(buffers, token * heads + head, 0, own, result.data());
    }
  }

  Status Run(const Buffers& buffers) const {
    SparseSpans spans;
    Status found = reader.Read(buffers, &spans);
    if (!found.ok()) return found;
    struct Row {
      int64_t batch, token;
      Span keys;
      std::vector<int64_t> places;
    };
    std::vector<Row> all;
    // Rows that no sequence has see no key, and become 0.
    for (int64_t token = 0; token < batches * rows; ++token) all.push_back({0, token, {0, 0}, {}});
    for (size_t b = 0; b < spans.rows.size(); ++b) {
      const Span &of_rows = spans.rows[b], &of_keys = spans.keys[b];
      const auto batch = static_cast<int64_t>(b);
      for (int64_t i = 0; i < of_rows.count; ++i) {
        const int64_t token = (packed ? 0 : batch * rows) + of_rows.first + i;
        Row& row = all[static_cast<size_t>(token)];
        row.batch = batch;
        row.keys = of_keys;
        const int64_t seen = SparseCall::SeenBy(mode, i, of_rows, of_keys);
        found = KeysOf(buffers, token, of_keys, seen, &row.places);
        if (!found.ok()) return found;
      }
    }
    ParallelFor(std::ssize(all), true, [&](int64_t n) {
      const Row& row = all[static_cast<size_t>(n)];
      RunRow(buffers, packed && !pages.given ? 0 : row.batch, row.token, row.keys, row.places);
    });
    return {};
  }

  SparseReader reader;
  AttentionPages pages;
  AttentionHeads keys_lie;
  PartsOfRows q, chosen, out;
  Place key;
  int64_t key_step;  // from byte to byte
  LoadRow<double> load_rope;
  int64_t heads, rows, batches;
  bool packed;
  int64_t own, rope, rope_bytes, count, size, mode;
  double scale;
};

}  // namespace

Plan PlanKvQuantSparse(const KvQuantSparseParams& p, const Product&) {
  return {0, [task = KvQuantTask(p)](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
