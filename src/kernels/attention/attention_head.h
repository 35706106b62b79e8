// SPDX-License-Identifier: Apache-2.0
// The gradients of attention by one head of k. The weights are computed again, tile by tile, from
// the forward's largest score and sum of each row. P are the weights and D = dy v^T, both with the
// forward's dropout:
//
//   dv = P^T dy,  S = scale P (D - sum of dy out),  dq = S k,  dk = S^T q.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_layout.h"
#include "kernels/rows/softmax_rows.h"

namespace openaclnn::attention {

inline constexpr int64_t kGradientTileChunk = kAttentionKeys * kAttentionChunk;

/// Sizes of the parts of a body's memory, in floats.
struct GradientSizes {
  explicit GradientSizes(const AttentionGradient& g) {
    const Attention& a = g.attention;
    turned_keys = PanelsFloats(a, a.width, kAttentionKeys);
    turned_values = PanelsFloats(a, a.value_width, kAttentionKeys);
    keys = PanelsFloats(a, kAttentionKeys, a.width);
    dk = MatrixFloats(kAttentionKeys, a.width);
    dv = MatrixFloats(kAttentionKeys, a.value_width);
    q = MatrixFloats(kAttentionRows, a.width);
    dy = MatrixFloats(kAttentionRows, a.value_width);
    q_panels = PanelsFloats(a, kAttentionRows, a.width);
    dy_panels = PanelsFloats(a, kAttentionRows, a.value_width);
    scores = MatrixFloats(kAttentionRows, kAttentionKeys);
    row = MatrixFloats(1, std::max(a.width, a.value_width));
    tile = turned_keys + turned_values + keys;
    sums = dk + dv;
    // A block's memory: partials of dq, packed rows, scores, and two rows more.
    block = q * (a.levels + 2) + dy + q_panels + dy_panels + 2 * scores + 2 * row;
    body = __int128{g.tiles} * (tile + __int128{g.levels} * sums) + block;
  }

  int64_t turned_keys, turned_values, keys, dk, dv, q, dy, q_panels, dy_panels, scores, row;
  int64_t tile, sums, block;
  __int128 body;
};

/// A head of k, and the heads of q that it serves.
class HeadRun {
 public:
  /// `sinks`, which are 0, become the gradients by the sinks of its heads of q.
  HeadRun(const AttentionGradient& g, const AttentionGradientTensors& tensors, int64_t number,
          float* own, double* sinks)
      : g_(g),
        a_(g.attention),
        kernels_(*a_.kernels),
        rows_of_(OPENACLNN_TARGET_SELECT(kFloatSoftmax)),
        tensors_(tensors),
        size_(g),
        head_(a_, number, tensors.lists),
        maker_(a_, tensors.of, head_),
        sinks_(sinks),
        carries_(static_cast<size_t>(TilesOf(head_.of))),
        tiles_(own),
        sums_(tiles_ + g.tiles * size_.tile),
        q_(sums_ + g.tiles * g.levels * size_.sums),
        dq_(q_ + size_.q),
        dy_(dq_ + (a_.levels + 1) * size_.q),
        q_panels_(dy_ + size_.dy),
        dy_panels_(q_panels_ + size_.q_panels),
        weights_(dy_panels_ + size_.dy_panels),
        slopes_(weights_ + size_.scores),
        row_(slopes_ + size_.scores),
        other_row_(row_ + size_.row) {}

  void Run() {
    const int64_t tiles = TilesOf(head_.of), blocks = BlocksOf(a_, head_.of);
    for (int64_t tile = 0; tile < tiles; ++tile) PackTile(tile);
    for (int64_t block = 0; block < blocks; ++block) RunBlock(block);
    for (int64_t tile = 0; tile < tiles && g_.part != AttentionPart::kRows; ++tile) {
      StoreTile(tile);
    }
  }

 private:
  void PackTile(int64_t tile) {
    const int64_t n = KeysOf(head_.of, tile), panel = kernels_.panel;
    const KeyRows values(a_, SourceOfValues(a_, tensors_.of, head_), tensors_.of, head_, tile);
    PackTurnedKeys(a_, tensors_.of, head_, tile, TurnedKeys(tile));
    kernels_.pack_turned(*values, n, a_.value_width, TurnedValues(tile), a_.value_width * panel);
    const KeyRows keys(a_, SourceOfKeys(a_, tensors_.of, head_), tensors_.of, head_, tile);
    if (a_.rope_width == 0) {
      return kernels_.pack_terms(*keys, n, a_.width, Keys(tile), kAttentionKeys * panel);
    }
    const KeyRows ropes(a_, SourceOfRopes(a_, tensors_.of, head_), tensors_.of, head_, tile);
    for (int64_t r = 0; r < n; ++r) {
      kernels_.pack_terms(WithRope(a_, (*keys).From(r), (*ropes).From(r), row_), 1, a_.width,
                          Keys(tile) + r * panel, kAttentionKeys * panel);
    }
  }

  /// Packs the rows of a block, as left and as right operands.
  void LoadRows(const Block& block) {
    const int64_t panel = kernels_.panel;
    for (int64_t r = 0; r < block.count(); ++r) {
      const int64_t head = block.Head(r), row = block.Row(r);
      const AttentionRows q = QueryRow(a_, tensors_.of, head_, head, row, row_);
      const AttentionRows dy = QueryRows(g_.dy, tensors_.dy, head_, head, row);
      kernels_.pack_rows(q, 1, a_.width, q_ + r * kAttentionChunk);
      kernels_.pack_rows(dy, 1, a_.value_width, dy_ + r * kAttentionChunk);
      kernels_.pack_terms(q, 1, a_.width, q_panels_ + r * panel, kAttentionRows * panel);
      kernels_.pack_terms(dy, 1, a_.value_width, dy_panels_ + r * panel, kAttentionRows * panel);
      LoadNumbers(head, row, dy, &numbers_[static_cast<size_t>(r)]);
    }
  }

  void LoadNumbers(int64_t head, int64_t row, const AttentionRows& dy, AttentionSlope* slope) {
    slope->max = LoadNumber(a_, a_.max, tensors_.of.max, head_, head, row);
    const float sum = LoadNumber(a_, a_.sum, tensors_.of.sum, head_, head, row);
    slope->over_sum = sum == 0 ? 0 : 1 / sum;
    const AttentionRows out = QueryRows(a_.out, tensors_.of.out, head_, head, row);
    dy.load(dy.from, dy.element_bytes, a_.value_width, row_);
    out.load(out.from, out.element_bytes, a_.value_width, other_row_);
    slope->mean = rows_of_->products(row_, other_row_, a_.value_width);
    if (a_.sink.given) {
      // The sink has a weight but no value, so its gradient is -weight * mean.
      const double score = SinkOf(a_, tensors_.of, head);
      sinks_[head - head_.head * a_.group()] -=
          std::exp(score - slope->max) * slope->over_sum * slope->mean;
    }
  }

  void RunBlock(int64_t number) {
    const Block block(a_, head_, number);
    const Tiles tiles(head_.of, block);
    if (tiles.begin >= tiles.end) {
      std::fill_n(dq_ + a_.levels * size_.q, size_.q, 0.0f);
    } else {
      LoadRows(block);
    }
    Carry carry;
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      MakeSlopes(block, tile);
      if (g_.part != AttentionPart::kRows) AddToTile(number, block.count(), tile);
      if (g_.part != AttentionPart::kKeys) {
        AddToBlock(block.count(), tile, tile + 1 == tiles.end, &carry);
      }
    }
    if (g_.part == AttentionPart::kKeys) return;
    float* const dq = dq_ + a_.levels * size_.q;
    for (int64_t r = 0; r < block.count(); ++r) {
      StoreChunks(dq + r * kAttentionChunk, kBlockChunk, {OwnWidth(a_), &g_.dq, tensors_.dq},
                  {a_.rope_width, &g_.dq_rope, tensors_.dq_rope}, block.Head(r),
                  head_.of.first_row + block.Row(r));
    }
  }

  /// Computes the weights of a block and a tile, and the gradients by their scores.
  void MakeSlopes(const Block& block, int64_t tile) {
    const int64_t rows = block.count(), keys = KeysOf(head_.of, tile);
    MultiplyByTile(kernels_, q_, rows, a_.width, TurnedKeys(tile), keys, weights_);
    MultiplyByTile(kernels_, dy_, rows, a_.value_width, TurnedValues(tile), keys, slopes_);
    for (int64_t r = 0; r < rows; ++r) {
      AttentionSlope& slope = numbers_[static_cast<size_t>(r)];
      slope.slopes = slopes_ + r * kAttentionChunk;
      const AttentionRow row =
          maker_.Make(block.Head(r), block.Row(r), tile, weights_ + r * kAttentionChunk);
      kernels_.slope(row, slope);
      if (g_.shift.given) AddToShift(block.Head(r), block.Row(r), tile, row, slope.slopes);
    }
  }

  void AddToShift(int64_t head, int64_t row, int64_t tile, const AttentionRow& of,
                  const float* slopes) {
    const std::array<int64_t, 4>& steps = g_.shift.steps;
    double* const to = tensors_.dshift + head_.sequence * steps[0] + head * steps[1] +
                       row * steps[2] + tile * kAttentionKeys * steps[3];
    for (int64_t j = of.begin; j < of.end; ++j) {
      const float slope = slopes[j / kAttentionChunk * kBlockChunk + j % kAttentionChunk];
      to[j * steps[3]] += g_.shift.factor * slope;
    }
  }

  /// Adds a block's share to the gradients by a tile's keys and values.
  void AddToTile(int64_t number, int64_t rows, int64_t tile) {
    std::array<AttentionJoin, 64> dk, dv;
    size_t count = 0;
    const int64_t level = carries_[static_cast<size_t>(tile)].Add(number, [&](int64_t waits) {
      dk[count] = {KeySums(tile, waits), nullptr, nullptr};
      dv[count++] = {ValueSums(tile, waits), nullptr, nullptr};
    });
    const int64_t panel = kernels_.panel;
    const auto multiply = [&](const float* a, const float* b, int64_t width,
                              const AttentionJoin* joins, float* to) {
      kernels_.multiply_turned({.a = a,
                                .a_chunk = kBlockChunk,
                                .rows = KeysOf(head_.of, tile),
                                .terms = rows,
                                .columns = width,
                                .b = b,
                                .b_step = panel,
                                .b_panel = kAttentionRows * panel,
                                .joins = joins,
                                .join_count = static_cast<int64_t>(count),
                                .c = to,
                                .c_chunk = kGradientTileChunk});
    };
    multiply(slopes_, q_panels_, a_.width, dk.data(), KeySums(tile, level));
    multiply(weights_, dy_panels_, a_.value_width, dv.data(), ValueSums(tile, level));
  }

  /// Adds a tile's share to the gradients by a block's rows.
  void AddToBlock(int64_t rows, int64_t tile, bool last, Carry* carry) {
    std::array<AttentionJoin, 64> joins;
    size_t count = 0;
    const auto join = [&](int64_t waits) {
      joins[count++] = {dq_ + waits * size_.q, nullptr, nullptr};
    };
    int64_t level = carry->Add(tile, join);
    if (last) {
      carry->Finish([&](int64_t waits) {
        if (waits != level) join(waits);
      });
      level = a_.levels;
    }
    kernels_.multiply({.a = slopes_,
                       .a_chunk = kBlockChunk,
                       .rows = rows,
                       .terms = KeysOf(head_.of, tile),
                       .columns = a_.width,
                       .b = Keys(tile),
                       .b_step = kernels_.panel,
                       .b_panel = kAttentionKeys * kernels_.panel,
                       .joins = joins.data(),
                       .join_count = static_cast<int64_t>(count),
                       .c = dq_ + level * size_.q,
                       .c_chunk = kBlockChunk});
  }

  /// Adds up a tile's waiting sums, and stores its rows.
  void StoreTile(int64_t tile) {
    float *dk = nullptr, *dv = nullptr;
    carries_[static_cast<size_t>(tile)].Finish([&](int64_t level) {
      float *const keys = KeySums(tile, level), *const values = ValueSums(tile, level);
      if (dk != nullptr) {
        for (int64_t i = 0; i < size_.dk; ++i) keys[i] += dk[i];
        for (int64_t i = 0; i < size_.dv; ++i) values[i] += dv[i];
      }
      dk = keys;
      dv = values;
    });
    if (dk == nullptr) {
      dk = KeySums(tile, 0);
      dv = ValueSums(tile, 0);
      std::fill_n(dk, size_.sums, 0.0f);
    }
    for (int64_t r = 0; r < KeysOf(head_.of, tile); ++r) {
      const int64_t key = head_.of.first_key + tile * kAttentionKeys + r;
      StoreChunks(dk + r * kAttentionChunk, kGradientTileChunk, {OwnWidth(a_), &g_.dk, tensors_.dk},
                  {a_.rope_width, &g_.dk_rope, tensors_.dk_rope}, head_.head, key);
      StoreChunks(dv + r * kAttentionChunk, kGradientTileChunk,
                  {a_.value_width, &g_.dv, tensors_.dv}, {}, head_.head, key);
    }
  }

  /// The elements of a row that one tensor has.
  struct Part {
    int64_t width;
    const AttentionHeads* heads;
    void* to;
  };

  /// Stores a row that is in chunks. Its first elements go to one tensor, the rest to another.
  void StoreChunks(const float* row, int64_t chunk, const Part& own, const Part& rope, int64_t head,
                   int64_t number) {
    const int64_t n = own.width + rope.width;
    for (int64_t j = 0; j < n; j += kAttentionChunk) {
      std::copy_n(row + j / kAttentionChunk * chunk, std::min(kAttentionChunk, n - j), row_ + j);
    }
    const float* from = row_;
    for (const Part* part : {&own, &rope}) {
      if (part->width == 0) continue;
      const AttentionHeads& heads = *part->heads;
      heads.store(from, part->width,
                  static_cast<std::byte*>(part->to) + heads.Offset(head_.of.batch, head, number),
                  heads.element_step * heads.bytes);
      from += part->width;
    }
  }

  float* TurnedKeys(int64_t tile) const { return tiles_ + tile * size_.tile; }
  float* TurnedValues(int64_t tile) const { return TurnedKeys(tile) + size_.turned_keys; }
  float* Keys(int64_t tile) const { return TurnedValues(tile) + size_.turned_values; }
  float* KeySums(int64_t tile, int64_t level) const {
    return sums_ + (tile * g_.levels + level) * size_.sums;
  }
  float* ValueSums(int64_t tile, int64_t level) const { return KeySums(tile, level) + size_.dk; }

  const AttentionGradient& g_;
  const Attention& a_;
  const AttentionKernels& kernels_;
  const SoftmaxKernels<float>* rows_of_;
  const AttentionGradientTensors& tensors_;
  GradientSizes size_;
  Head head_;
  RowMaker maker_;
  double* sinks_;
  std::vector<Carry> carries_;  // one for each tile, over blocks
  std::array<AttentionSlope, kAttentionRows> numbers_{};
  float *tiles_, *sums_, *q_, *dq_, *dy_, *q_panels_, *dy_panels_, *weights_, *slopes_, *row_,
      *other_row_;
};

}  // namespace openaclnn::attention
