// SPDX-License-Identifier: Apache-2.0
// Attention of several heads, tile by tile: out = dropout(softmax(scale q k^T + shift, masked)) v.
//
// Keys are cut into tiles by their position in the sequence. A tile gives a partial of a row: the
// largest score m, l = sum of e^(s - m), and o = sum of e^(s - m) v. Two neighbours join into one:
// m = max(m1, m2), l = l1 e^(m1 - m) + l2 e^(m2 - m), o likewise; tiles join pairwise, as the terms
// of every sum do. So a row's bits depend on its query and on the keys that it sees, not on other
// rows, on threads or on how the rows come. Scores are never held for more than a tile.
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

/// Rows of the query that are worked on together; for the gradients by key and value they are the
/// chunk of 64 terms that is summed in sequence.
inline constexpr int64_t kAttentionRows = 64;
/// Keys of a tile.
inline constexpr int64_t kAttentionKeys = 128;
/// Elements of a row of a head, at most.
inline constexpr int64_t kAttentionWidth = 4096;

/// A matrix in memory of the call's own: `chunk` floats from 64 columns to the next 64, whose rows
/// are 64 floats apart.
inline constexpr int64_t kAttentionChunk = 64;

/// Rows of elements of any type: of a head, or of what belongs to its scores.
struct AttentionRows {
  const std::byte* from;
  int64_t row_bytes, element_bytes;  // from one to the next
  LoadRow<float> load;
  bool plain;                                // floats that follow each other
  const std::byte* const* places = nullptr;  // null, or where each row begins
  // The first rows may belong to another tensor, which has its own distance between elements.
  int64_t front_rows = 0, front_element_bytes = 0;

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

/// A sum that waited, of C's shape, which is added before the product; `left` and `right` are
/// factors of its rows and of the product's, or null.
struct AttentionJoin {
  const float* sums;
  const float *left, *right;
};

/// C = A B, and what waited. A and C are matrices as above; B has panels of the kernels' columns,
/// with a row for each term, `b_step` floats from one to the next.
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
  const uint8_t* hides;  // null, or of each of those keys whether it is hidden
  const float* shift;    // null, or what is added to each score of the tile
  const float* kept;     // null, or factors of each weight of the tile
};

/// What a row of scores is turned into its gradient with.
struct AttentionSlope {
  float* slopes;  // gradients by the weights, which become those by the scores
  float max, over_sum, mean;
};

/// The loops that are compiled for each instruction set.
struct AttentionKernels {
  int64_t panel;  // columns of a panel
  /// As the A of a product.
  void (*pack_rows)(const AttentionRows& rows, int64_t count, int64_t width, float* to);
  /// As a B whose terms are the rows; columns that no row has are 0.
  void (*pack_terms)(const AttentionRows& rows, int64_t count, int64_t width, float* to,
                     int64_t panel_floats);
  /// As a B whose columns are the rows; columns that no row has are 0.
  void (*pack_turned)(const AttentionRows& rows, int64_t count, int64_t width, float* to,
                      int64_t panel_floats);
  void (*multiply)(const AttentionProduct& product);
  /// With A turned around: its columns are C's rows; at most 64 terms.
  void (*multiply_turned)(const AttentionProduct& product);
  /// Scales, shifts and masks a row; the largest score.
  float (*largest)(const AttentionRow& row);
  /// The row's exponentials, times `kept`; their sum before that.
  float (*exponentials)(const AttentionRow& row, float max);
  /// Largest scores and sums of two partials of 64 rows become those of both; the factors of each.
  void (*join)(const float* max, const float* sum, float* both_max, float* both_sum, float* left,
               float* right);
  /// Scores become weights, times `kept`; slopes become gradients by the scores.
  void (*slope)(const AttentionRow& row, const AttentionSlope& slope);
  /// n elements of a row over a number, or 0 if that is 0.
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

  int64_t Offset(int64_t batch, int64_t head, int64_t row) const {
    return (batch * batch_step + head * head_step + row * row_step) * bytes;
  }
  AttentionRows At(const void* tensor, int64_t batch, int64_t head, int64_t row) const {
    return {static_cast<const std::byte*>(tensor) + Offset(batch, head, row), row_step * bytes,
            element_step * bytes, load, floats && element_step == 1};
  }
};

/// A sequence of rows of q, and the keys that they may see: row i sees keys i - before to i + after
/// and those before `prefix`. Rows and keys begin at first_row and first_key of their batch.
struct AttentionSequence {
  int64_t rows, keys;
  int64_t batch = 0, first_row = 0, first_key = 0;
  int64_t before = INT64_MAX, after = INT64_MAX, prefix = 0;
  int64_t places = 0;  // of keys that chosen blocks are of: those from this place on are hidden
};

/// Blocks of keys that a table names: key j of a sequence is row j % rows of the block that is
/// entry j / rows of its batch and head, an INT32. In a cache a block stands in the place of a
/// batch. Blocks that are chosen are of the sequence's own keys; one below 0 has none.
struct AttentionPages {
  bool given = false;
  bool chosen = false;
  int64_t rows = 0;                                       // of a block
  int64_t batch_step = 0, head_step = 0, entry_step = 0;  // of the table, in elements
  int64_t row_step = 0;                                   // if each row of q has its own entries

  int64_t Block(const void* table, int64_t batch, int64_t head, int64_t key,
                int64_t row = 0) const {
    const int64_t at =
        batch * batch_step + row * row_step + head * head_step + key / rows * entry_step;
    return static_cast<const int32_t*>(table)[at];
  }
};

/// Keys that every sequence has before its own keys. They are rows of one batch of other tensors.
struct AttentionFront {
  int64_t keys = 0;
  AttentionHeads k = {}, v = {};
};

/// A tensor that is broadcast to (batch, head, row of q, row of k); steps are in bytes.
struct AttentionScores {
  bool given;
  std::array<int64_t, 4> steps;
  LoadRow<float> load;    // of masks of a byte: null
  bool by_place = false;  // rows and keys count from those of the batch, not of the sequence
};

/// Shifts that are made of a number for each head: it times the distance of a key's place from a
/// row's is taken from their score.
struct AttentionSlopes {
  bool given;
  bool roots;                     // of distances instead
  int64_t batch_step, head_step;  // in bytes
  LoadRow<float> load;
  int64_t ahead;  // of the first key of a sequence its first row is
};

/// A score of each head that is beside those of all keys, and has no value.
struct AttentionSink {
  bool given;
  int64_t head_step;  // in bytes
  LoadRow<float> load;
};

/// The weight of each head of a row of q, where scores of keys are summed over heads.
struct AttentionIndexer {
  bool given = false;
  AttentionHeads weights = {};
};

/// Dropout by a bit for each score, given or drawn.
struct AttentionDropout {
  bool given, drawn;
  double keep;
  RandomKey key;
  Offsets bytes;              // of the mask that is given
  std::vector<int64_t> bits;  // of each sequence, the first of its bits
};

/// What is frozen when the call is planned.
struct Attention {
  const AttentionKernels* kernels;
  std::vector<AttentionSequence> sequences;
  int64_t heads, kv_heads, width, value_width;
  int64_t rope_width;  // of `width`, the last elements of rows of q and k: those of other tensors
  AttentionHeads q, k, v, out, q_rope, k_rope;
  AttentionHeads max, sum;  // of each row the largest score and the sum of its exponentials
  int64_t copies;           // of each of these
  // A sequence has those of its first head, of row after row, then those of its second one,
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
  AttentionPages cache;  // where blocks are chosen: in which blocks of a cache their keys are
  AttentionFront front;
  std::vector<AttentionHeads> each_k, each_v;  // of each batch, if each has tensors of its own
  bool log_sums = false;  // sum becomes max + log(sum), -infinity for a row that sees no key

  // Set by PlanAttention. A head is that of k in one sequence.
  std::vector<int64_t> first_tile;  // of each sequence, in tiles of one head each; and behind them
  std::vector<int64_t> first_block;
  int64_t levels;        // of partials that wait, for the most tiles
  int64_t packed_tiles;  // that are packed together; 0: each block packs what it needs
  int64_t bodies;        // that take blocks in parallel

  int64_t group() const { return heads / kv_heads; }
  uint64_t scratch_bytes() const;
};

/// Where the tensors of a call are; max and sum may be null, and slopes take the place of a shift.
struct AttentionTensors {
  const void *q, *k, *v;
  const void *q_rope = nullptr, *k_rope = nullptr, *mask = nullptr, *shift = nullptr,
             *dropout = nullptr, *sink = nullptr, *head_weights = nullptr;
  void *out = nullptr, *max = nullptr, *sum = nullptr;
  const void *table = nullptr, *cache_table = nullptr;  // of pages and of the cache
  const void *front_k = nullptr, *front_v = nullptr;
  const void *const *each_k = nullptr, *const *each_v = nullptr;  // instead of k and v
};

/// Completes the plan from what stands above first_tile.
void PlanAttention(Attention* attention);

/// Writes every row. A row that sees no key becomes 0, as do its largest score and its sum.
void RunAttention(const Attention& attention, const AttentionTensors& tensors, void* scratch);

/// The gradient by a shift, in double: that of the scores, summed where the shift is broadcast.
struct AttentionShiftGradient {
  bool given;
  std::array<int64_t, 4> steps;  // in numbers; 0 where the shift is broadcast
  int64_t count;
  double factor;  // of the gradients by scaled products
};

/// The weights of the keys of a row of a sequence, summed over the heads of q that share a head of
/// k.
struct AttentionWeights {
  int64_t sequence, head, row;
  const float* weights;  // of each key
};

uint64_t AttentionWeightsBytes(const Attention& attention);

/// Calls `take` for each row and head of k, from several threads; max and sum have what
/// RunAttention left there. No dropout. With an indexer the weight of a key is the sum over heads
/// of a head's weight times its product of q and k, or times 0 if that is negative; keys that the
/// row does not see have sums too.
void RunAttentionWeights(const Attention& attention, const AttentionTensors& tensors, void* scratch,
                         const std::function<void(const AttentionWeights&)>& take);

/// Which gradients are made: all, that by q, or those by k and v.
enum class AttentionPart { kAll, kRows, kKeys };

/// The gradients of a call; `attention` has its operands, its result and what it left of the rows.
struct AttentionGradient {
  Attention attention;
  AttentionHeads dy, dq, dk, dv, dq_rope = {}, dk_rope = {};
  AttentionShiftGradient shift = {};
  AttentionPart part = AttentionPart::kAll;

  // Set by PlanAttentionGradient.
  int64_t tiles = 0;   // of the longest sequence
  int64_t levels = 0;  // of sums over blocks of rows that wait
  int64_t bodies = 0;  // that take heads of k in parallel

  uint64_t scratch_bytes() const;
};

/// The rows of q that see a head of k in a sequence, in ascending order, where they are not all:
/// those of the n-th head are [first[n], first[n + 1]), as many as the plan's sequence has at most.
struct AttentionLists {
  const int32_t* rows = nullptr;
  const int64_t* first = nullptr;
};

struct AttentionGradientTensors {
  AttentionTensors of;  // the call's
  const void* dy;
  void *dq, *dk, *dv, *dq_rope = nullptr, *dk_rope = nullptr;
  double* dsink = nullptr;   // a number for each head; null without a sink
  double* dshift = nullptr;  // null if it is not asked for
  AttentionLists lists = {};
};

/// `attention` is planned already.
void PlanAttentionGradient(AttentionGradient* gradient);

void RunAttentionGradient(const AttentionGradient& gradient,
                          const AttentionGradientTensors& tensors, void* scratch);

}  // namespace openaclnn
