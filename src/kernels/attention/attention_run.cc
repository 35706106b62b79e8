// SPDX-License-Identifier: Apache-2.0
// Attention: runs blocks of rows over the tiles of keys.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_layout.h"
#include "kernels/work/parallel_items.h"
#include "kernels/work/scratch.h"

namespace openaclnn {
namespace attention {
namespace {

// The most floats of k and v that are packed together, if each head of k serves several blocks.
constexpr int64_t kPassFloats = int64_t{1} << 23;

/// The floats of a packed tile of k, and of a packed tile of k and v.
int64_t KeyFloats(const Attention& a) { return PanelsFloats(a, a.width, kAttentionKeys); }
int64_t TileFloats(const Attention& a) {
  return KeyFloats(a) + PanelsFloats(a, kAttentionKeys, a.value_width);
}

int64_t ValueMatrix(const Attention& a) { return MatrixFloats(kAttentionRows, a.value_width); }

/// The floats of a body: rows of q, scores, waiting partials, the largest scores and sums of each
/// level, the factors of each join, a row of the result, and a tile of k and v.
__int128 BodyFloats(const Attention& a) {
  return MatrixFloats(kAttentionRows, a.width) + MatrixFloats(kAttentionRows, kAttentionKeys) +
         __int128{a.levels + 1} * (ValueMatrix(a) + 4 * kAttentionRows) +
         MatrixFloats(1, std::max(a.width, a.value_width)) +
         (a.packed_tiles == 0 ? TileFloats(a) : 0);
}

/// Keys and values of a tile as products read them.
struct PackedTile {
  const float *keys, *values;
  int64_t value_step, value_panel;
};

/// The heads that are packed together, from a head on: as many as fit, at least one.
int64_t PassEnd(const Attention& a, int64_t first) {
  const int64_t tiles = kPassFloats / std::max<int64_t>(TileFloats(a), 1),
                begin = Before(a, a.first_tile, first);
  int64_t end = first + 1;
  while (end < HeadCount(a) && Before(a, a.first_tile, end + 1) - begin <= tiles) ++end;
  return end;
}

/// Whether a call is long enough for several threads.
bool IsLong(const Attention& a) {
  constexpr double kLong = 1 << 23;  // multiplications: half a millisecond of one thread
  double scores = 0;
  for (const AttentionSequence& of : a.sequences) {
    scores += static_cast<double>(of.rows) * static_cast<double>(of.keys);
  }
  return scores * static_cast<double>(a.heads) * static_cast<double>(a.width + a.value_width) >=
         kLong;
}

/// One call: the addresses of its operands and of the parts of its scratch.
class Call {
 public:
  Call(const Attention& attention, const AttentionTensors& tensors, void* scratch)
      : a_(attention),
        tensors_(tensors),
        packed_(static_cast<float*>(scratch)),
        bodies_(packed_ + a_.packed_tiles * TileFloats(a_)),
        is_long_(IsLong(attention)) {}

  void Run() const {
    if (a_.packed_tiles == 0) return RunBlocks(0, HeadCount(a_));
    for (int64_t first = 0; first < HeadCount(a_);) {
      const int64_t end = PassEnd(a_, first);
      Pack(first, end);
      RunBlocks(first, end);
      first = end;
    }
  }

 private:
  /// The head that the item-th tile or block belongs to.
  int64_t HeadAt(const std::vector<int64_t>& firsts, int64_t item) const {
    int64_t low = 0, high = HeadCount(a_);
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (Before(a_, firsts, middle) <= item ? low : high) = middle;
    }
    return low;
  }

  void Pack(int64_t first, int64_t end) const {
    const int64_t begin = Before(a_, a_.first_tile, first);
    ParallelFor(Before(a_, a_.first_tile, end) - begin, is_long_, [&](int64_t item) {
      const int64_t number = HeadAt(a_.first_tile, begin + item);
      PackTile(Head(a_, number), begin + item - Before(a_, a_.first_tile, number),
               packed_ + item * TileFloats(a_));
    });
  }

  void RunBlocks(int64_t first, int64_t end) const {
    const int64_t begin = Before(a_, a_.first_block, first);
    const int64_t count = Before(a_, a_.first_block, end) - begin;
    ParallelItems(count, a_.bodies, is_long_, [&](int64_t item, int64_t body) {
      // If keys after a row are hidden, the last block of a head sees the most keys. Taking blocks
      // from the last one on lets the threads end at about the same time.
      const int64_t block = begin + count - 1 - item, number = HeadAt(a_.first_block, block);
      const float* const packed =
          packed_ +
          (Before(a_, a_.first_tile, number) - Before(a_, a_.first_tile, first)) * TileFloats(a_);
      RunBlock(Head(a_, number), block - Before(a_, a_.first_block, number), packed,
               bodies_ + body * static_cast<int64_t>(BodyFloats(a_)));
    });
  }

  PackedTile TileAt(const float* packed) const {
    const int64_t panel = a_.kernels->panel;
    return {packed, packed + KeyFloats(a_), panel, kAttentionKeys * panel};
  }

  void PackTile(const Head& head, int64_t tile, float* to) const {
    PackTurnedKeys(a_, tensors_, head, tile, to);
    const KeyRows values(a_, SourceOfValues(a_, tensors_, head), tensors_, head, tile);
    a_.kernels->pack_terms(*values, KeysOf(head.of, tile), a_.value_width, to + KeyFloats(a_),
                           kAttentionKeys * a_.kernels->panel);
  }
  /// Packs a tile for one block. Values are read in place if possible.
  PackedTile PackOnce(const Head& head, int64_t tile, float* to) const {
    const KeyRows rows(a_, SourceOfValues(a_, tensors_, head), tensors_, head, tile);
    const AttentionRows& values = *rows;
    constexpr auto kBytes = static_cast<int64_t>(sizeof(float));
    if (values.plain && values.places == nullptr && a_.value_width % a_.kernels->panel == 0) {
      PackTurnedKeys(a_, tensors_, head, tile, to);
      return {to, values.Floats(0), values.row_bytes / kBytes, a_.kernels->panel};
    }
    PackTile(head, tile, to);
    return TileAt(to);
  }

  void RunBlock(const Head& head, int64_t number, const float* packed, float* own) const;

  const Attention& a_;
  const AttentionTensors& tensors_;
  float *packed_, *bodies_;
  bool is_long_;
};

/// Computes the partials of a block of rows, tile by tile.
class BlockRun {
 public:
  BlockRun(const Attention& a, const AttentionTensors& tensors, const Head& head, int64_t number,
           float* own)
      : a_(a),
        kernels_(*a.kernels),
        tensors_(tensors),
        head_(head),
        block_(a, head, number),
        maker_(a, tensors, head),
        q_(own),
        scores_(q_ + MatrixFloats(kAttentionRows, a.width)),
        sums_(scores_ + MatrixFloats(kAttentionRows, kAttentionKeys)),
        rows_(sums_ + (a.levels + 1) * ValueMatrix(a)),
        result_(rows_ + (a.levels + 1) * 4 * kAttentionRows) {}

  float* end() const { return result_ + MatrixFloats(1, std::max(a_.width, a_.value_width)); }
  Tiles tiles() const { return {head_.of, block_}; }

  void LoadQuery() {
    const int64_t step = kAttentionChunk;
    for (int64_t r = 0; r < block_.count(); ++r) {
      kernels_.pack_rows(QueryRow(a_, tensors_, head_, block_.Head(r), block_.Row(r), result_), 1,
                         a_.width, q_ + r * step);
    }
  }

  /// Computes the partial of a tile and joins it with waiting ones; after the last tile, with all.
  void Add(int64_t tile, bool last, const PackedTile& packed) {
    const int64_t rows = block_.count(), keys = KeysOf(head_.of, tile);
    MultiplyByTile(kernels_, q_, rows, a_.width, packed.keys, keys, scores_);
    float* const max = Maxima(a_.levels);
    float* const sum = Sums(a_.levels);
    for (int64_t r = 0; r < rows; ++r) {
      const AttentionRow row =
          maker_.Make(block_.Head(r), block_.Row(r), tile, scores_ + r * kAttentionChunk);
      max[r] = kernels_.largest(row);
      sum[r] = kernels_.exponentials(row, max[r]);
    }
    std::fill(max + rows, max + kAttentionRows, 0.0f);
    std::fill(sum + rows, sum + kAttentionRows, 0.0f);
    std::array<AttentionJoin, 64> joins;
    int64_t count = 0;
    const auto join = [&](int64_t level) {
      float *const left = Factors(count), *const right = left + kAttentionRows;
      kernels_.join(Maxima(level), Sums(level), max, sum, left, right);
      joins[static_cast<size_t>(count++)] = {Partial(level), left, right};
    };
    int64_t level = carry_.Add(tile, join);
    if (last) {
      carry_.Finish([&](int64_t waits) {
        if (waits != level) join(waits);
      });
      level = a_.levels;
    } else {
      std::copy_n(max, kAttentionRows, Maxima(level));
      std::copy_n(sum, kAttentionRows, Sums(level));
    }
    kernels_.multiply({.a = scores_,
                       .a_chunk = kBlockChunk,
                       .rows = rows,
                       .terms = keys,
                       .columns = a_.value_width,
                       .b = packed.values,
                       .b_step = packed.value_step,
                       .b_panel = packed.value_panel,
                       .joins = joins.data(),
                       .join_count = count,
                       .c = Partial(level),
                       .c_chunk = kBlockChunk});
  }

  /// Stores the results, after the last tile. There may be no tiles.
  void Store(bool some) {
    const float* const shares = a_.sink.given ? AddSink(some) : nullptr;
    for (int64_t r = 0; r < block_.count(); ++r) {
      const int64_t head = block_.Head(r), row = block_.Row(r);
      const float sum = some || a_.sink.given ? Sums(a_.levels)[r] : 0;
      const float share = (shares == nullptr ? 1 : shares[r]) * a_.out_factor;
      if (sum == 0 || share == 0) {
        std::fill_n(result_, a_.value_width, 0.0f);
      } else {
        kernels_.divide(Partial(a_.levels) + r * kAttentionChunk, kBlockChunk, a_.value_width,
                        sum / share, result_);
      }
      if (a_.out_factors.given) Quantise(head);
      const int64_t place = head_.of.first_row + row;
      a_.out.store(
          result_, a_.value_width,
          static_cast<std::byte*>(tensors_.out) + a_.out.Offset(head_.of.batch, head, place),
          a_.out.element_step * a_.out.bytes);
      StoreNumber(a_.max, tensors_.max, head, row, sum == 0 ? 0 : Maxima(a_.levels)[r]);
      StoreNumber(a_.sum, tensors_.sum, head, row,
                  a_.log_sums ? LogSum(sum == 0 ? 0 : Maxima(a_.levels)[r], sum) : sum);
    }
  }

 private:
  /// Rounds a result to numbers that INT8 has; NaN becomes 0.
  void Quantise(int64_t head) {
    const auto number = [&](const AttentionNumbers& numbers, const void* tensor, int64_t j,
                            float otherwise) {
      if (!numbers.given) return otherwise;
      numbers.load(static_cast<const std::byte*>(tensor) + head * numbers.head_step +
                       j * numbers.element_step,
                   0, 1, &otherwise);
      return otherwise;
    };
    for (int64_t j = 0; j < a_.value_width; ++j) {
      const float factor = number(a_.out_factors, tensors_.out_scaling.factors, j, 1),
                  offset = number(a_.out_offsets, tensors_.out_scaling.offsets, j, 0),
                  x = result_[j] * factor + offset;
      result_[j] = std::isnan(x) ? 0 : std::nearbyint(std::clamp(x, -128.0f, 127.0f));
    }
  }

  /// Joins each row's sink, a partial with sum 1, to the row's partial. Without tiles the sink is
  /// the only one. Returns the factors of the rows' partials.
  const float* AddSink(bool some) {
    std::array<float, kAttentionRows> max, sum;
    max.fill(0);
    sum.fill(1);
    for (int64_t r = 0; r < block_.count(); ++r) {
      max[static_cast<size_t>(r)] = SinkOf(a_, tensors_, block_.Head(r));
    }
    if (!some) {
      std::fill_n(Maxima(a_.levels), kAttentionRows, -std::numeric_limits<float>::infinity());
      std::fill_n(Sums(a_.levels), kAttentionRows, 0.0f);
    }
    float *const of_sink = Factors(0), *const of_partial = of_sink + kAttentionRows;
    kernels_.join(max.data(), sum.data(), Maxima(a_.levels), Sums(a_.levels), of_sink, of_partial);
    return of_partial;
  }
  static float LogSum(float max, float sum) {
    return sum == 0 ? -std::numeric_limits<float>::infinity()
                    : static_cast<float>(max + std::log(double{sum}));
  }
  void StoreNumber(const AttentionHeads& numbers, void* to, int64_t head, int64_t row,
                   float number) const {
    if (to == nullptr) return;
    std::array<float, 8> copies;
    copies.fill(number);
    numbers.store(copies.data(), a_.copies,
                  static_cast<std::byte*>(to) + NumberOffset(a_, numbers, head_, head, row),
                  numbers.element_step * numbers.bytes);
  }

  // Level a_.levels is the current partial.
  float* Partial(int64_t level) const { return sums_ + level * ValueMatrix(a_); }
  float* Maxima(int64_t level) const { return rows_ + level * 4 * kAttentionRows; }
  float* Sums(int64_t level) const { return Maxima(level) + kAttentionRows; }
  float* Factors(int64_t join) const { return Maxima(join) + 2 * kAttentionRows; }

  const Attention& a_;
  const AttentionKernels& kernels_;
  const AttentionTensors& tensors_;
  const Head& head_;
  Block block_;
  RowMaker maker_;
  Carry carry_;
  float *q_, *scores_, *sums_, *rows_, *result_;
};

void Call::RunBlock(const Head& head, int64_t number, const float* packed, float* own) const {
  BlockRun run(a_, tensors_, head, number, own);
  const Tiles tiles = run.tiles();
  if (tiles.begin < tiles.end) run.LoadQuery();
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    run.Add(tile, tile + 1 == tiles.end,
            a_.packed_tiles == 0 ? PackOnce(head, tile, run.end())
                                 : TileAt(packed + tile * TileFloats(a_)));
  }
  run.Store(tiles.begin < tiles.end);
}

}  // namespace
}  // namespace attention

void PlanAttention(Attention* a) {
  a->kernels = OPENACLNN_TARGET_SELECT(kAttentionKernels);
  a->first_tile = a->first_block = {0};
  int64_t most_tiles = 0, most_blocks = 0;
  for (const AttentionSequence& of : a->sequences) {
    const int64_t tiles = attention::TilesOf(of), blocks = attention::BlocksOf(*a, of);
    a->first_tile.push_back(a->first_tile.back() + tiles);
    a->first_block.push_back(a->first_block.back() + blocks);
    most_tiles = std::max(most_tiles, tiles);
    most_blocks = std::max(most_blocks, blocks);
  }
  a->levels = attention::LevelsOf(most_tiles);
  a->packed_tiles = 0;
  if (most_blocks > 1) {
    for (int64_t first = 0, end = 0; first < attention::HeadCount(*a); first = end) {
      end = attention::PassEnd(*a, first);
      const int64_t tiles =
          attention::Before(*a, a->first_tile, end) - attention::Before(*a, a->first_tile, first);
      a->packed_tiles = std::max(a->packed_tiles, tiles);
    }
  }
  a->bodies = std::min<int64_t>(a->first_block.back() * a->kv_heads, Meta()->runtime->threads());
}

uint64_t Attention::scratch_bytes() const {
  const __int128 packed = __int128{packed_tiles} * attention::TileFloats(*this);
  return ScratchBytes((packed + bodies * attention::BodyFloats(*this)) *
                      static_cast<int>(sizeof(float)));
}

uint64_t AttentionMostBytes(const Attention& attention) {
  Attention most = attention;
  const __int128 floats = std::max<int64_t>(attention::TileFloats(attention), 1);
  int64_t longest = 0;
  for (const AttentionSequence& of : attention.sequences) {
    longest = std::max(longest, attention::TilesOf(of));
  }
  // Sequences that end within a tile have one tile more than their keys need.
  const __int128 all =
      __int128{attention.first_tile.back() + static_cast<int64_t>(attention.sequences.size())} *
      attention.kv_heads;
  const __int128 passed = std::max<__int128>(attention::kPassFloats / floats, longest);
  most.packed_tiles = static_cast<int64_t>(std::min(all, passed));
  most.bodies = Meta()->runtime->threads();
  return most.scratch_bytes();
}

void RunAttention(const Attention& planned, const AttentionTensors& tensors, void* scratch) {
  if (planned.bodies > 0) attention::Call(planned, tensors, scratch).Run();
}

}  // namespace openaclnn
