// SPDX-License-Identifier: Apache-2.0
// Attention: parts that the forward and the gradients share, such as the rows of a block, the keys
// that they see, and the partials that wait.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/work/divide_up.h"

namespace openaclnn::attention {

inline constexpr int64_t kBlockChunk = kAttentionRows * kAttentionChunk;  // a block's `chunk`

/// The floats of a matrix in chunks.
inline int64_t MatrixFloats(int64_t rows, int64_t columns) {
  return DivideUp(columns, kAttentionChunk) * kAttentionChunk * rows;
}

/// The floats of a packed B.
inline int64_t PanelsFloats(const Attention& attention, int64_t terms, int64_t columns) {
  const int64_t panel = attention.kernels->panel;
  return DivideUp(columns, panel) * panel * terms;
}

/// The most partials that wait at the same time, of `partials` in all, plus the current one.
inline int64_t LevelsOf(int64_t partials) {
  return std::bit_width(static_cast<uint64_t>(std::max<int64_t>(partials, 1)));
}

/// Tells which levels of the tree a partial joins, and on which level it then waits. Partials come
/// in the order of their places. The first and the last ones may be missing.
class Carry {
 public:
  /// Calls join(level) for each partial that the one at `place` joins. Returns the level where it
  /// waits.
  template <class Join>
  int64_t Add(int64_t place, const Join& join) {
    int64_t level = 0;
    for (; (place >> level & 1) != 0; ++level) TakeFrom(level, join);
    waits_ |= uint64_t{1} << level;
    return level;
  }
  /// Calls join(level) for each waiting partial, the youngest first.
  template <class Join>
  void Finish(const Join& join) {
    for (int64_t level = 0; waits_ >> level != 0; ++level) TakeFrom(level, join);
  }

 private:
  template <class Join>
  void TakeFrom(int64_t level, const Join& join) {
    const uint64_t bit = uint64_t{1} << level;
    if ((waits_ & bit) != 0) join(level);
    waits_ &= ~bit;
  }

  uint64_t waits_ = 0;
};

/// A head of k in a sequence.
struct Head {
  Head(const Attention& attention, int64_t number)
      : sequence(number / attention.kv_heads),
        head(number % attention.kv_heads),
        of(attention.sequences[static_cast<size_t>(sequence)]) {}
  /// Takes the head's rows of q from the lists, if there are any.
  Head(const Attention& attention, int64_t number, const AttentionLists& lists)
      : Head(attention, number) {
    if (lists.rows == nullptr) return;
    rows = lists.rows + lists.first[number];
    of.rows = lists.first[number + 1] - lists.first[number];
  }

  int64_t sequence, head;
  AttentionSequence of;
  const int32_t* rows = nullptr;
};

inline int64_t HeadCount(const Attention& attention) {
  return static_cast<int64_t>(attention.sequences.size()) * attention.kv_heads;
}

inline int64_t TilesOf(const AttentionSequence& of) { return DivideUp(of.keys, kAttentionKeys); }
inline int64_t BlocksOf(const Attention& attention, const AttentionSequence& of) {
  return DivideUp(of.rows * attention.group(), kAttentionRows);
}

/// The number of tiles, or of blocks, before a head. `first` has those before each sequence.
inline int64_t Before(const Attention& attention, const std::vector<int64_t>& first,
                      int64_t number) {
  const auto sequence = static_cast<size_t>(number / attention.kv_heads);
  const int64_t of_each = sequence + 1 < first.size() ? first[sequence + 1] - first[sequence] : 0;
  return first[sequence] * attention.kv_heads + number % attention.kv_heads * of_each;
}

/// A block of rows of q that share a head of k. The rows are ordered: the first row of each head of
/// q that it serves, then their second rows, and so on. A block has the rows [begin, end) of these.
struct Block {
  Block(const Attention& attention, const Head& head, int64_t block)
      : begin(block * kAttentionRows),
        end(std::min(begin + kAttentionRows, head.of.rows * attention.group())),
        group_(attention.group()),
        first_head_(head.head * attention.group()),
        rows_(head.rows) {}

  int64_t count() const { return end - begin; }
  int64_t Row(int64_t r) const {
    const int64_t row = (begin + r) / group_;
    return rows_ == nullptr ? row : rows_[row];
  }
  int64_t Head(int64_t r) const { return first_head_ + (begin + r) % group_; }

  int64_t begin, end;

 private:
  int64_t group_, first_head_;
  const int32_t* rows_;
};

/// The keys [begin, end) that a row sees. A mask may hide more.
struct Seen {
  Seen(const AttentionSequence& of, int64_t row)
      : begin(of.prefix > 0 ? 0 : Clamp(of, static_cast<__int128>(row) - of.before)),
        end(std::max(
            {begin, Clamp(of, static_cast<__int128>(row) + of.after + 1), Clamp(of, of.prefix)})) {}

  int64_t begin, end;

 private:
  static int64_t Clamp(const AttentionSequence& of, __int128 key) {
    return static_cast<int64_t>(std::clamp<__int128>(key, 0, of.keys));
  }
};

/// The tiles [begin, end) with keys that a block's rows see.
struct Tiles {
  Tiles(const AttentionSequence& of, const Block& block)
      : begin(Seen(of, block.Row(0)).begin / kAttentionKeys),
        end(DivideUp(Seen(of, block.Row(block.count() - 1)).end, kAttentionKeys)) {}

  int64_t begin, end;
};

/// The number of keys of a tile.
inline int64_t KeysOf(const AttentionSequence& of, int64_t tile) {
  return std::min(kAttentionKeys, of.keys - tile * kAttentionKeys);
}

/// Rows of a head of q, or of a tensor of its shape, from a row of the sequence on.
inline AttentionRows QueryRows(const AttentionHeads& heads, const void* tensor, const Head& head,
                               int64_t of_query, int64_t row) {
  return heads.At(tensor, head.of.batch, of_query, head.of.first_row + row);
}

/// Where the rows of k, of v or of a tensor of their shape lie.
struct KeySource {
  const AttentionHeads& heads;
  const void* tensor;
  int64_t batch;
  // The rows that precede the batch's, or null.
  const AttentionHeads* front = nullptr;
  const void* front_tensor = nullptr;
  // How rows of so many elements become numbers, or null.
  const AttentionDequant* dequant = nullptr;
  AttentionScaling scaling = {};
  int64_t width = 0;

  AttentionRows At(int64_t head, int64_t row) const { return heads.At(tensor, batch, head, row); }
};

inline KeySource SourceOf(const std::vector<AttentionHeads>& each, const void* const* each_tensor,
                          const AttentionHeads& heads, const void* tensor, const Head& head) {
  const int64_t batch = head.of.batch;
  if (each_tensor == nullptr) return {heads, tensor, batch};
  return {each[static_cast<size_t>(batch)], each_tensor[batch], 0};
}
inline KeySource SourceOfKeys(const Attention& a, const AttentionTensors& t, const Head& head) {
  KeySource source = SourceOf(a.each_k, t.each_k, a.k, t.k, head);
  source.front = &a.front.k;
  source.front_tensor = t.front_k;
  source.dequant = &a.k_dequant;
  source.scaling = t.k_scaling;
  source.width = a.width - a.rope_width;
  return source;
}
inline KeySource SourceOfValues(const Attention& a, const AttentionTensors& t, const Head& head) {
  KeySource source = SourceOf(a.each_v, t.each_v, a.v, t.v, head);
  source.front = &a.front.v;
  source.front_tensor = t.front_v;
  source.dequant = &a.v_dequant;
  source.scaling = t.v_scaling;
  source.width = a.value_width;
  return source;
}
inline KeySource SourceOfRopes(const Attention& a, const AttentionTensors& t, const Head& head) {
  return SourceOf({}, nullptr, a.k_rope, t.k_rope, head);
}

/// The rows of a source's tile. They may lie in blocks of a cache, and be quantised.
class KeyRows {
 public:
  KeyRows(const Attention& attention, const KeySource& source, const AttentionTensors& tensors,
          const Head& head, int64_t tile);
  KeyRows(const KeyRows&) = delete;
  KeyRows& operator=(const KeyRows&) = delete;

  const AttentionRows& operator*() const { return rows_; }

 private:
  void FindRows(const Attention& attention, const KeySource& source,
                const AttentionTensors& tensors, const Head& head, int64_t tile);
  /// Loads the numbers of the tile's rows, or of their elements.
  void LoadScales(const Attention& attention, const KeySource& source,
                  const AttentionTensors& tensors, const Head& head, int64_t tile);
  /// Sets the places of keys [first, first + n). The sequence's first `front` keys are the source's
  /// front.
  void JoinFront(const KeySource& source, const Head& head, int64_t front, int64_t first,
                 int64_t n);

  AttentionRows rows_;
  std::array<const std::byte*, kAttentionKeys> places_;
  AttentionScales scales_;
  std::array<float, kAttentionScaled> factors_, offsets_;
};

/// The elements of a row that are in q or k, not in the rope.
inline int64_t OwnWidth(const Attention& attention) {
  return attention.width - attention.rope_width;
}

/// Joins a row of q or k and its rope in `room`. Without a rope, returns the row where it is.
inline AttentionRows WithRope(const Attention& attention, const AttentionRows& own,
                              const AttentionRows& rope, float* room) {
  if (attention.rope_width == 0) return own;
  const int64_t width = OwnWidth(attention);
  own.load(own.from, own.element_bytes, width, room);
  rope.load(rope.from, rope.element_bytes, attention.rope_width, room + width);
  return {reinterpret_cast<const std::byte*>(room), 0, sizeof(float), own.load, true};
}
inline AttentionRows QueryRow(const Attention& attention, const AttentionTensors& tensors,
                              const Head& head, int64_t of_query, int64_t row, float* room) {
  const AttentionRows own = QueryRows(attention.q, tensors.q, head, of_query, row);
  if (attention.rope_width == 0) return own;
  return WithRope(attention, own, QueryRows(attention.q_rope, tensors.q_rope, head, of_query, row),
                  room);
}

/// Packs a tile of k as a B whose columns are the tile's rows.
inline void PackTurnedKeys(const Attention& attention, const AttentionTensors& tensors,
                           const Head& head, int64_t tile, float* to) {
  const int64_t n = KeysOf(head.of, tile), own = OwnWidth(attention),
                panel = attention.kernels->panel, panel_floats = attention.width * panel;
  const KeyRows keys(attention, SourceOfKeys(attention, tensors, head), tensors, head, tile);
  attention.kernels->pack_turned(*keys, n, own, to, panel_floats);
  if (attention.rope_width == 0) return;
  const KeyRows ropes(attention, SourceOfRopes(attention, tensors, head), tensors, head, tile);
  attention.kernels->pack_turned(*ropes, n, attention.rope_width, to + own * panel, panel_floats);
}

/// Multiplies rows of a block with the rows of a tile (PackTurnedKeys).
inline void MultiplyByTile(const AttentionKernels& kernels, const float* rows, int64_t count,
                           int64_t width, const float* turned, int64_t keys, float* to) {
  kernels.multiply({.a = rows,
                    .a_chunk = kBlockChunk,
                    .rows = count,
                    .terms = width,
                    .columns = keys,
                    .b = turned,
                    .b_step = kernels.panel,
                    .b_panel = width * kernels.panel,
                    .c = to,
                    .c_chunk = kBlockChunk});
}

/// The sink of a head of q.
inline float SinkOf(const Attention& attention, const AttentionTensors& tensors, int64_t of_query) {
  const AttentionSink& sink = attention.sink;
  float score = 0;
  sink.load(static_cast<const std::byte*>(tensors.sink) + of_query * sink.head_step, 0, 1, &score);
  return score;
}

/// The offset of a row's number in max or sum, in bytes.
inline int64_t NumberOffset(const Attention& attention, const AttentionHeads& numbers,
                            const Head& head, int64_t of_query, int64_t row) {
  const AttentionSequence& of = head.of;
  if (!attention.by_heads) return numbers.Offset(of.batch, of_query, of.first_row + row);
  const int64_t number = of.first_row * attention.heads + of_query * of.rows + row;
  return numbers.Offset(of.batch, number % attention.heads, number / attention.heads);
}

/// Loads a row's number from max or sum.
inline float LoadNumber(const Attention& attention, const AttentionHeads& numbers,
                        const void* tensor, const Head& head, int64_t of_query, int64_t row) {
  float number = 0;
  const int64_t offset = NumberOffset(attention, numbers, head, of_query, row);
  numbers.load(static_cast<const std::byte*>(tensor) + offset, numbers.bytes, 1, &number);
  return number;
}

/// Makes AttentionRows: loads the mask, the shift and the dropout of a tile's rows, one row at a
/// time.
class RowMaker {
 public:
  RowMaker(const Attention& attention, const AttentionTensors& tensors, const Head& head)
      : attention_(attention), tensors_(tensors), head_(head), of_(head.of) {}

  /// Makes the row of a head of q. Its pointers are valid until the next call.
  AttentionRow Make(int64_t head, int64_t row, int64_t tile, float* scores);
  /// The factor of a row's scores.
  float Scale(int64_t head, int64_t row) const;

 private:
  void LoadSlopes(int64_t head, int64_t row, int64_t first, int64_t n);
  void LoadKept(int64_t head, int64_t row, int64_t first, int64_t n);
  /// Hides the keys that are in no chosen block.
  void HideUnchosen(int64_t first, int64_t n);

  const Attention& attention_;
  const AttentionTensors& tensors_;
  const Head& head_;
  const AttentionSequence& of_;
  std::array<uint8_t, kAttentionKeys> hides_{};
  std::array<uint8_t, kAttentionKeys / 8> bits_{};
  std::array<float, kAttentionKeys> shift_{}, kept_{};
};

}  // namespace openaclnn::attention
