// SPDX-License-Identifier: Apache-2.0
// Attention of several heads, tile by tile: out = dropout(softmax(scale q k^T + shift, masked)) v.
//
// Keys are cut into tiles by their position in the sequence. A tile gives a partial result of a
// row: the largest score m, l = sum of e^(s - m), and o = sum of e^(s - m) v. Two neighbouring
// partials join into one: m = max(m1, m2), l = l1 e^(m1 - m) + l2 e^(m2 - m), and o likewise. Tiles
// join pairwise, as the terms of every sum do. So a row's bits depend on its query and on the keys
// that it sees. They do not depend on other rows, on threads or on the pieces in which a prompt
// comes. Scores are held for one tile at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/move/strided.h"
#include "kernels/number/number.h"
#include "kernels/number/philox.h"
#include "kernels/simd/target.h"

namespace openaclnn {

/// Rows of the query that are computed together. In the gradients by key and value they are the
/// chunk of 64 terms that is summed in sequence.
inline constexpr int64_t kAttentionRows = 64;
/// Keys of a tile.
inline constexpr int64_t kAttentionKeys = 128;
/// The most elements of a head's row.
inline constexpr int64_t kAttentionWidth = 4096;

/// Matrices in the scratch are stored in chunks of 64 columns. Within a chunk, rows are 64 floats
/// apart. Chunks are `chunk` floats apart.
inline constexpr int64_t kAttentionChunk = 64;

/// How the elements of rows of a tile become numbers: (element + offset) * factor.
struct AttentionScales {
  const float *factors, *offsets;  // offsets may be null
  bool of_rows;                    // there is one for each row, else one for each element
};

/// Rows of elements of any type, such as those of a head or of a mask.
struct AttentionRows {
  const std::byte* from;
  int64_t row_bytes, element_bytes;  // distances of neighbours
  LoadRow<float> load;
  bool plain;                                // floats that follow each other
  const std::byte* const* places = nullptr;  // null, or where each row begins
  // The first rows may belong to another tensor, which has its own distance between elements.
  int64_t front_rows = 0, front_element_bytes = 0;
  // Elements may lie in groups of so many, whose distance differs from that of elements.
  int64_t group = 0, group_bytes = 0;
  const AttentionScales* scales = nullptr;  // null, or for each row and element, from 0 on

  const std::byte* Row(int64_t row) const {
    return places == nullptr ? from + row * row_bytes : places[row];
  }
  int64_t ElementBytes(int64_t row) const {
    return row < front_rows ? front_element_bytes : element_bytes;
  }
  const float* Floats(int64_t row) const { return reinterpret_cast<const float*>(Row(row)); }
  AttentionRows From(int64_t row) const {
    return {Row(row), row_bytes, element_bytes, load, plain};
  }
};

/// An earlier sum of C's shape, to which the product is added. `left` has a factor for each of its
/// rows, `right` for each row of the product; null: no factors.
struct AttentionJoin {
  const float* sums;
  const float *left, *right;
};

/// C = A B plus the sums of `joins`. A and C are stored in chunks (kAttentionChunk). B is stored in
/// panels of AttentionKernels::panel columns, with a row for each term.
struct AttentionProduct {
  const float* a;
  int64_t a_chunk;
  int64_t rows, terms, columns;
  const float* b;
  int64_t b_step, b_panel;  // floats from one term, and from one panel, to the next
  const AttentionJoin* joins = nullptr;
  int64_t join_count = 0;
  float* c;
  int64_t c_chunk;
};

/// A row of a tile's scores.
struct AttentionRow {
  float* scores;
  int64_t chunk;
  float scale;
  int64_t begin, end;    // the keys of the tile that the row sees
  const uint8_t* hides;  // null, or for each of these keys whether it is hidden
  const float* shift;    // null, or an addend for each score of the tile
  const float* kept;     // null, or a factor for each weight of the tile (dropout)
};

/// The numbers with which a row of scores becomes its gradient.
struct AttentionSlope {
  float* slopes;  // gradients by the weights; they become those by the scores
  float max, over_sum, mean;
};

/// The loops that are compiled for each instruction set.
struct AttentionKernels {
  int64_t panel;  // columns of a panel
  /// Packs rows as the A of a product.
  void (*pack_rows)(const AttentionRows& rows, int64_t count, int64_t width, float* to);
  /// Packs rows as a B whose terms they are. Columns after a row's end become 0.
  void (*pack_terms)(const AttentionRows& rows, int64_t count, int64_t width, float* to,
                     int64_t panel_floats);
  /// Packs rows as a B whose columns they are. Columns after the last row become 0.
  void (*pack_turned)(const AttentionRows& rows, int64_t count, int64_t width, float* to,
                      int64_t panel_floats);
  void (*multiply)(const AttentionProduct& product);
  /// Multiplies with A transposed: its columns are C's rows. There are at most 64 terms.
  void (*multiply_turned)(const AttentionProduct& product);
  /// Masks a row, and scales and shifts it if its largest score depends on that. Returns that
  /// score.
  float (*largest)(const AttentionRow& row);
  /// Turns scores into exponentials times `kept`. Returns the sum of the exponentials without
  /// `kept`.
  float (*exponentials)(const AttentionRow& row, float max);
  /// Joins the largest scores and sums of two partials of 64 rows. Writes the factors of each
  /// partial.
  void (*join)(const float* max, const float* sum, float* both_max, float* both_sum, float* left,
               float* right);
  /// Turns scores into weights times `kept`, and slopes into gradients by the scores.
  void (*slope)(const AttentionRow& row, const AttentionSlope& slope);
  /// Divides n elements of a row by a number. They become 0 if it is 0.
  void (*divide)(const float* row, int64_t chunk, int64_t n, float by, float* to);
};
OPENACLNN_TARGET_DECLARE(extern const AttentionKernels kAttentionKernels)

/// Where the heads of a tensor lie, in elements.
struct AttentionHeads {
  int64_t batch_step, head_step, row_step, element_step;
  int64_t bytes;  // of an element
  bool floats;    // elements are of FLOAT
  LoadRow<float> load;
  StoreRow<float> store;
  int64_t group = 0, group_step = 0;  // elements of a group, if a row lies in groups

  int64_t Offset(int64_t batch, int64_t head, int64_t row) const {
    return (batch * batch_step + head * head_step + row * row_step) * bytes;
  }
  AttentionRows At(const void* tensor, int64_t batch, int64_t head, int64_t row) const {
    AttentionRows rows = {static_cast<const std::byte*>(tensor) + Offset(batch, head, row),
                          row_step * bytes, element_step * bytes, load,
                          floats && element_step == 1 && group == 0};
    rows.group = group;
    rows.group_bytes = group_step * bytes;
    return rows;
  }
};

/// Numbers for the rows of a tensor's heads, or for their elements. Steps are in bytes, 0 where a
/// number is shared.
struct AttentionNumbers {
  bool given = false;
  LoadRow<float> load = nullptr;
  int64_t batch_step = 0, head_step = 0, row_step = 0, element_step = 0;
  bool in_pages = false;  // batches and rows are blocks of the cache and their rows
};

/// How quantised rows become numbers: (element + offset) * factor.
struct AttentionDequant {
  AttentionNumbers factors, offsets;
};

/// The most elements of a row whose elements have factors of their own.
inline constexpr int64_t kAttentionScaled = 512;

/// A sequence of rows of q, and the keys that they may see. Row i sees keys i - before to i +
/// after, and the keys before `prefix`. The sequence begins at first_row and first_key of its
/// batch.
struct AttentionSequence {
  int64_t rows, keys;
  int64_t batch = 0, first_row = 0, first_key = 0;
  int64_t before = INT64_MAX, after = INT64_MAX, prefix = 0;
  int64_t places = 0;  // with chosen blocks: keys from this place on are hidden
};

/// Blocks of keys that a table names. Entry j / rows of a batch and head, an INT32, is the block of
/// key j; the key is row j % rows of it. In a cache a block is found as a batch would be. If
/// `chosen`, blocks consist of the sequence's own keys, and a negative entry has no keys.
struct AttentionPages {
  bool given = false;
  bool chosen = false;
  int64_t rows = 0;                                       // of a block
  int64_t batch_step = 0, head_step = 0, entry_step = 0;  // of the table, in elements
  int64_t row_step = 0;                                   // 0: all rows of q share entries

  int64_t Block(const void* table, int64_t batch, int64_t head, int64_t key,
                int64_t row = 0) const {
    const int64_t at =
        batch * batch_step + row * row_step + head * head_step + key / rows * entry_step;
    return static_cast<const int32_t*>(table)[at];
  }
};

/// Keys that precede the own keys of every sequence. They are the rows of one batch of other
/// tensors.
struct AttentionFront {
  int64_t keys = 0;
  AttentionHeads k = {}, v = {};
};

/// A tensor that is broadcast to (batch, head, row of q, row of k); steps are in bytes.
struct AttentionScores {
  bool given;
  std::array<int64_t, 4> steps;
  LoadRow<float> load;    // null for masks of bytes
  bool by_place = false;  // rows and keys are counted in the batch, not in the sequence
};

/// Shifts that are computed from a number for each head (ALiBi). This number times the distance
/// between row and key is subtracted from their score.
struct AttentionSlopes {
  bool given;
  bool roots;                     // takes the square root of the distance
  int64_t batch_step, head_step;  // in bytes
  LoadRow<float> load;
  int64_t ahead;  // position of a sequence's first row minus that of its first key
};

/// A score for each head that takes part in the softmax beside those of the keys. It has no value.
struct AttentionSink {
  bool given;
  int64_t head_step;  // in bytes
  LoadRow<float> load;
};

/// The weights of a row's heads, by which the scores of keys are summed over heads.
struct AttentionIndexer {
  bool given = false;
  AttentionHeads weights = {};
};

/// Dropout, with one bit for each score. The bits are given or drawn.
struct AttentionDropout {
  bool given, drawn;
  double keep;
  RandomKey key;
  Offsets bytes;              // of the given mask
  std::vector<int64_t> bits;  // the first bit of each sequence
};

/// A planned call of attention. It does not change after planning.
struct Attention {
  const AttentionKernels* kernels;
  std::vector<AttentionSequence> sequences;
  int64_t heads, kv_heads, width, value_width;
  int64_t rope_width;  // the last elements of a row of q and k, in `width`; other tensors have them
  AttentionHeads q, k, v, out, q_rope, k_rope;
  AttentionHeads max, sum;  // for each row: the largest score, the sum of the exponentials
  int64_t copies;           // of each number in max and sum
  // If set, a sequence has the numbers of its first head row by row, then those of its second head,
  // whatever the dimensions of `max` and `sum` are.
  bool by_heads;
  float scale;
  AttentionScores mask, shift;
  float shift_factor;
  AttentionSlopes slopes;  // instead of a shift
  AttentionDropout dropout;
  AttentionSink sink;
  AttentionIndexer indexer;  // for RunAttentionWeights
  AttentionPages pages;
  AttentionPages cache;  // with chosen blocks: the blocks of a cache that have their keys
  AttentionFront front;
  std::vector<AttentionHeads> each_k, each_v;  // one for each batch, if batches have own tensors
  AttentionDequant k_dequant, v_dequant;
  AttentionNumbers q_factors;  // of rows of q: their scores are multiplied by them, too
  float out_factor = 1;        // of all results
  // Results are multiplied by a factor, and an offset is added; then they are rounded to INT8.
  AttentionNumbers out_factors, out_offsets;
  bool log_sums = false;  // writes max + log(sum) as sum; -infinity for a row that sees no key

  // Set by PlanAttention. "Head" means a head of k in one sequence.
  // The first tile of each sequence, counted in one head's tiles; the last entry is the end.
  std::vector<int64_t> first_tile;
  std::vector<int64_t> first_block;
  int64_t levels;        // of waiting partials, for the sequence with the most tiles
  int64_t packed_tiles;  // tiles that are packed together; 0: each block packs its own
  int64_t bodies;        // threads that take blocks in parallel

  int64_t group() const { return heads / kv_heads; }
  uint64_t scratch_bytes() const;
};

/// The addresses of factors and of offsets.
struct AttentionScaling {
  const void *factors = nullptr, *offsets = nullptr;
};

/// The addresses of a call's tensors. max and sum may be null. `shift` has the slopes if there are
/// any.
struct AttentionTensors {
  const void *q, *k, *v;
  const void *q_rope = nullptr, *k_rope = nullptr, *mask = nullptr, *shift = nullptr,
             *dropout = nullptr, *sink = nullptr, *head_weights = nullptr;
  void *out = nullptr, *max = nullptr, *sum = nullptr;
  const void *table = nullptr, *cache_table = nullptr;  // of pages and of the cache
  const void *front_k = nullptr, *front_v = nullptr;
  const void *const *each_k = nullptr, *const *each_v = nullptr;  // instead of k and v
  AttentionScaling k_scaling = {}, v_scaling = {}, out_scaling = {};
  const void* q_factors = nullptr;
};

/// The bytes of scratch for a planned call, and for others of its operands whose sequences together
/// have as many rows and keys at most, and each as many keys as its longest one at most.
uint64_t AttentionMostBytes(const Attention& attention);

/// Completes a plan whose members before first_tile are set.
void PlanAttention(Attention* attention);

/// Writes every row. A row that sees no key becomes 0, as do its largest score and its sum.
void RunAttention(const Attention& attention, const AttentionTensors& tensors, void* scratch);

/// The gradient by a shift, in double: the gradient by the scores, summed where the shift is
/// broadcast.
struct AttentionShiftGradient {
  bool given;
  std::array<int64_t, 4> steps;  // in numbers; 0 where the shift is broadcast
  int64_t count;
  double factor;  // by which gradients by the scores are multiplied
};

/// The weights of the keys of a row of a sequence, summed over the heads of q that share a head of
/// k.
struct AttentionWeights {
  int64_t sequence, head, row;
  const float* weights;  // of each key
};

uint64_t AttentionWeightsBytes(const Attention& attention);

/// Calls `take` for each row and head of k, from several threads. max and sum must be the results
/// of RunAttention. There is no dropout. With an indexer the weight of a key is a sum over heads: a
/// head's weight times its product of q and k, or times 0 if the product is negative. Keys that the
/// row does not see have sums too.
void RunAttentionWeights(const Attention& attention, const AttentionTensors& tensors, void* scratch,
                         const std::function<void(const AttentionWeights&)>& take);

/// The gradients to compute: all, the one by q, or those by k and v.
enum class AttentionPart { kAll, kRows, kKeys };

/// The gradients of a call. `attention` describes its operands and results, also max and sum.
struct AttentionGradient {
  Attention attention;
  AttentionHeads dy, dq, dk, dv, dq_rope = {}, dk_rope = {};
  AttentionShiftGradient shift = {};
  AttentionPart part = AttentionPart::kAll;

  // Set by PlanAttentionGradient.
  int64_t tiles = 0;   // of the longest sequence
  int64_t levels = 0;  // of waiting sums over blocks of rows
  int64_t bodies = 0;  // threads that take heads of k in parallel

  uint64_t scratch_bytes() const;
};

/// For each head of k in a sequence, the rows of q that see it, in ascending order. The n-th head
/// has rows [first[n], first[n + 1]), at most as many as the plan's sequence. Without lists, all
/// rows see it.
struct AttentionLists {
  const int32_t* rows = nullptr;
  const int64_t* first = nullptr;
};

struct AttentionGradientTensors {
  AttentionTensors of;  // the call's
  const void* dy;
  void *dq, *dk, *dv, *dq_rope = nullptr, *dk_rope = nullptr;
  double* dsink = nullptr;   // a number for each head; null without a sink
  double* dshift = nullptr;  // null: not wanted
  AttentionLists lists = {};
};

/// Completes the plan. `attention` must be planned.
void PlanAttentionGradient(AttentionGradient* gradient);

void RunAttentionGradient(const AttentionGradient& gradient,
                          const AttentionGradientTensors& tensors, void* scratch);

}  // namespace openaclnn
