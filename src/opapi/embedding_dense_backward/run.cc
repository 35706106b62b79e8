// SPDX-License-Identifier: Apache-2.0
// The steps of EmbeddingDenseBackward: check indices, sort tokens by row, sum, write each row once.
#include <algorithm>

#include "embedding_dense_backward/op.h"
#include "kernels/hits.h"
#include "kernels/parallel.h"

namespace openaclnn::embedding_dense_backward {
namespace {

// Elements of dy and dw that a block of rows touches: enough to be worth waking a thread for.
constexpr int64_t kBlockElements = 32768;
constexpr int64_t kMaxBlocks = 256;

/// A part of a hot row's hits, whose sum waits in the scratch until the row is written.
struct Unit {
  int64_t begin, end;
};

/// The workspace, cut as the plan says.
struct Scratch {
  Scratch(const Plan& plan, void* workspace)
      : hits(static_cast<Hit*>(workspace)),
        spare(hits + plan.tokens),
        units(reinterpret_cast<Unit*>(spare + plan.tokens)),
        partials(reinterpret_cast<float*>(units + plan.max_units)) {}

  Hit* hits;
  Hit* spare;
  Unit* units;
  float* partials;  // one row of `width` for each unit
};

/// Sums of hits, tile by tile.
class Summation {
 public:
  Summation(const Plan& plan, const Buffers& buffers, const Scratch& scratch, const Hit* hits,
            int64_t num_units)
      : plan_(plan),
        grad_(buffers.data[kGrad]),
        out_(buffers.data[kOut]),
        units_(scratch.units),
        partials_(scratch.partials),
        hits_(hits),
        num_units_(num_units) {}

  void SumUnit(int64_t unit) const {
    const std::byte* rows[kUnitHits];
    RowSum sum = MakeSum(units_[unit].begin, units_[unit].end, rows);
    for (; sum.column < plan_.width; sum.column += kTileWidth) {
      sum.width = TileWidth(sum.column);
      plan_.kernels->sum_rows(sum, Partial(unit) + sum.column);
    }
  }

  /// dw[row,:] from hits [begin, end), at least one.
  void WriteRow(int64_t row, int64_t begin, int64_t end) const {
    if (end - begin > kUnitHits) return WriteHotRow(row, begin, end);
    const std::byte* rows[kUnitHits];
    float buffer[kTileWidth];
    RowSum sum = MakeSum(begin, end, rows);
    const float divisor = Divisor(end - begin);
    const bool in_place = plan_.out_dtype == ACL_FLOAT && plan_.out.step == 1 && divisor == 1.0f;
    for (; sum.column < plan_.width; sum.column += kTileWidth) {
      sum.width = TileWidth(sum.column);
      std::byte* out = Out(row, sum.column);
      if (in_place) {
        plan_.kernels->sum_rows(sum, reinterpret_cast<float*>(out));
      } else {
        plan_.kernels->sum_rows(sum, buffer);
        Store(buffer, sum.width, divisor, out);
      }
    }
  }

  void ZeroRow(int64_t row) const {
    ZeroStrided(Out(row, 0), plan_.out.step, plan_.width, plan_.out.element_bytes);
  }

 private:
  RowSum MakeSum(int64_t begin, int64_t end, const std::byte** rows) const {
    for (int64_t i = begin; i < end; ++i) rows[i - begin] = plan_.grad.Row(grad_, hits_[i].token);
    return {rows, end - begin, 0, 0, plan_.grad.step, plan_.grad_dtype};
  }

  int64_t TileWidth(int64_t column) const { return std::min(kTileWidth, plan_.width - column); }
  float* Partial(int64_t unit) const { return partials_ + unit * plan_.width; }
  float Divisor(int64_t count) const {
    return plan_.scale_by_count ? static_cast<float>(count) : 1.0f;
  }
  std::byte* Out(int64_t row, int64_t column) const {
    return plan_.out.Row(out_, row) + column * plan_.out.step * plan_.out.element_bytes;
  }

  void Store(const float* acc, int64_t width, float divisor, std::byte* out) const {
    if (plan_.out.step == 1) return plan_.kernels->store(acc, width, divisor, plan_.out_dtype, out);
    float packed[kTileWidth];
    plan_.kernels->store(acc, width, divisor, plan_.out_dtype, packed);
    CopyStrided(packed, 1, out, plan_.out.step, width, plan_.out.element_bytes);
  }

  // The upper levels of the tree, over the sums of the row's units.
  void WriteHotRow(int64_t row, int64_t begin, int64_t end) const {
    const Unit* first = std::lower_bound(units_, units_ + num_units_, begin,
                                         [](const Unit& u, int64_t hit) { return u.begin < hit; });
    const int64_t base = first - units_;
    const int64_t count = (end - begin + kUnitHits - 1) / kUnitHits;
    for (int64_t column = 0; column < plan_.width; column += kTileWidth) {
      const int64_t width = TileWidth(column);
      for (int64_t half = 1; half < count; half *= 2) {
        for (int64_t i = 0; i + half < count; i += 2 * half) {
          plan_.kernels->add(Partial(base + i + half) + column, width, Partial(base + i) + column);
        }
      }
      Store(Partial(base) + column, width, Divisor(end - begin), Out(row, column));
    }
  }

  const Plan& plan_;
  void* grad_;
  void* out_;
  const Unit* units_;
  float* partials_;
  const Hit* hits_;
  int64_t num_units_;
};

/// The hits of all tokens but those of the padding row, in order.
int64_t CollectHits(const Plan& plan, const int64_t* rows, Hit* hits) {
  int64_t count = 0;
  for (int64_t i = 0; i < plan.tokens; ++i) {
    hits[count] = {rows[i], i};
    count += rows[i] != plan.padding_row ? 1 : 0;
  }
  return count;
}

/// Cuts the rows of more than kUnitHits hits into units.
int64_t FindUnits(const Hit* hits, int64_t count, Unit* units) {
  int64_t num_units = 0;
  for (int64_t i = 0; i + kUnitHits < count; ++i) {
    if (hits[i + kUnitHits].row != hits[i].row) continue;
    const int64_t end = LowerBound(hits, i, count, hits[i].row + 1);
    for (; i < end; i += kUnitHits) units[num_units++] = {i, std::min(i + kUnitHits, end)};
    i = end - 1;
  }
  return num_units;
}

/// Row at which a block begins, so that blocks touch about as many rows of dy and dw each.
int64_t RowBegin(const Plan& plan, const Hit* hits, int64_t count, int64_t blocks, int64_t block) {
  const auto num_rows = static_cast<int64_t>(plan.num_weights);
  const int64_t target = BlockBegin(num_rows + count, blocks, block);
  int64_t low = 0, high = num_rows;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (middle + LowerBound(hits, 0, count, middle) < target) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

Status Run(const Plan& plan, const Buffers& buffers) {
  if (plan.num_weights == 0 && plan.tokens == 0) return {};
  const Scratch scratch(plan, buffers.workspace);
  const Hit* hits = nullptr;
  int64_t count = 0;
  if (plan.tokens > 0) {
    auto* rows = reinterpret_cast<int64_t*>(scratch.spare);
    Status status =
        ReadIndices("indices", plan.indices, buffers.data[kIndices], plan.num_weights, rows);
    if (!status.ok()) return status;
    count = CollectHits(plan, rows, scratch.hits);
    hits = SortHits(scratch.hits, scratch.spare, count, plan.num_weights);
  }
  if (plan.width == 0) return {};
  const int64_t num_units = FindUnits(hits, count, scratch.units);
  const Summation sum(plan, buffers, scratch, hits, num_units);
  if (num_units > 0) ParallelFor(num_units, [&](int64_t unit) { sum.SumUnit(unit); });

  const int64_t touched = static_cast<int64_t>(plan.num_weights) + count;
  const int64_t blocks =
      std::min(touched, BlockCount(touched * plan.width, kBlockElements, kMaxBlocks));
  ParallelFor(blocks, [&](int64_t block) {
    int64_t row = RowBegin(plan, hits, count, blocks, block);
    const int64_t last = RowBegin(plan, hits, count, blocks, block + 1);
    int64_t hit = LowerBound(hits, 0, count, row);
    for (; row < last; ++row) {
      const int64_t begin = hit;
      while (hit < count && hits[hit].row == row) ++hit;
      hit > begin ? sum.WriteRow(row, begin, hit) : sum.ZeroRow(row);
    }
  });
  return {};
}

}  // namespace openaclnn::embedding_dense_backward
