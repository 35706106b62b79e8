// SPDX-License-Identifier: Apache-2.0
// Attention: computes the weights of keys again from the forward's max and sum of each row.
#include <algorithm>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_layout.h"
#include "kernels/work/parallel_items.h"
#include "kernels/work/scratch.h"

namespace openaclnn {
namespace attention {
namespace {

/// The rows of q that are computed together, each with all its heads.
int64_t RowsTogether(const Attention& a) {
  return std::max<int64_t>(1, kAttentionRows / a.group());
}

int64_t MostKeys(const Attention& a) {
  int64_t most = 0;
  for (const AttentionSequence& of : a.sequences) most = std::max(most, TilesOf(of));
  return most * kAttentionKeys;
}

/// The floats of a body: rows of q, scores, a tile of k, the weights of rows, a row of q.
__int128 BodyFloats(const Attention& a) {
  return MatrixFloats(kAttentionRows, a.width) + MatrixFloats(kAttentionRows, kAttentionKeys) +
         PanelsFloats(a, a.width, kAttentionKeys) + __int128{RowsTogether(a)} * MostKeys(a) +
         MatrixFloats(1, a.width);
}

/// Rows [begin, begin + count) of a sequence, and a head of k.
class RowsRun {
 public:
  RowsRun(const Attention& a, const AttentionTensors& tensors, const Head& head, float* own)
      : a_(a),
        kernels_(*a.kernels),
        tensors_(tensors),
        head_(head),
        maker_(a, tensors, head),
        q_(own),
        scores_(q_ + MatrixFloats(kAttentionRows, a.width)),
        keys_(scores_ + MatrixFloats(kAttentionRows, kAttentionKeys)),
        weights_(keys_ + PanelsFloats(a, a.width, kAttentionKeys)),
        row_(weights_ + RowsTogether(a) * MostKeys(a)) {}

  void Run(int64_t begin, int64_t count, const std::function<void(const AttentionWeights&)>& take) {
    std::fill_n(weights_, count * MostKeys(a_), 0.0f);
    // Takes all heads of a row at a time, or as many as fit.
    for (int64_t first = 0; first < count * a_.group(); first += kAttentionRows) {
      AddHeads(begin, first, std::min(kAttentionRows, count * a_.group() - first));
    }
    for (int64_t i = 0; i < count; ++i) {
      take({head_.sequence, head_.head, begin + i, weights_ + i * MostKeys(a_)});
    }
  }

 private:
  /// Adds the weights of the pairs [first, first + count) of rows and heads; a row has group()
  /// heads.
  void AddHeads(int64_t begin, int64_t first, int64_t count) {
    const int64_t group = a_.group();
    const auto head_of = [&](int64_t r) { return head_.head * group + (first + r) % group; };
    const auto row_of = [&](int64_t r) { return begin + (first + r) / group; };
    for (int64_t r = 0; r < count; ++r) {
      kernels_.pack_rows(QueryRow(a_, tensors_, head_, head_of(r), row_of(r), row_), 1, a_.width,
                         q_ + r * kAttentionChunk);
    }
    for (int64_t tile = 0; tile < TilesOf(head_.of); ++tile) {
      const int64_t n = KeysOf(head_.of, tile);
      PackTurnedKeys(a_, tensors_, head_, tile, keys_);
      MultiplyByTile(kernels_, q_, count, a_.width, keys_, n, scores_);
      for (int64_t r = 0; r < count; ++r) {
        float* const to = weights_ + (row_of(r) - begin) * MostKeys(a_) + tile * kAttentionKeys;
        if (a_.indexer.given) {
          AddPositive(head_of(r), row_of(r), n, scores_ + r * kAttentionChunk, to);
        } else {
          AddRow(head_of(r), row_of(r), tile, scores_ + r * kAttentionChunk, to);
        }
      }
    }
  }

  void AddRow(int64_t of_query, int64_t row, int64_t tile, float* scores, float* to) {
    const float max = LoadNumber(a_, a_.max, tensors_.max, head_, of_query, row);
    const float sum = LoadNumber(a_, a_.sum, tensors_.sum, head_, of_query, row);
    if (sum == 0) return;  // the row sees no key
    const AttentionRow made = maker_.Make(of_query, row, tile, scores);
    kernels_.largest(made);
    kernels_.exponentials(made, max);
    for (int64_t j = 0; j < KeysOf(head_.of, tile); ++j) {
      to[j] += scores[j / kAttentionChunk * kBlockChunk + j % kAttentionChunk] / sum;
    }
  }

  /// Adds a head's weight times the products of n keys, or times 0 where these are negative.
  void AddPositive(int64_t of_query, int64_t row, int64_t n, const float* scores, float* to) {
    float weight = 0;
    const AttentionRows rows =
        QueryRows(a_.indexer.weights, tensors_.head_weights, head_, of_query, row);
    rows.load(rows.from, rows.element_bytes, 1, &weight);
    const float factor = maker_.Scale(of_query, row);
    for (int64_t j = 0; j < n; ++j) {
      const float score = factor * scores[j / kAttentionChunk * kBlockChunk + j % kAttentionChunk];
      to[j] += weight * (score < 0 ? 0 : score);  // NaN stays
    }
  }

  const Attention& a_;
  const AttentionKernels& kernels_;
  const AttentionTensors& tensors_;
  const Head& head_;
  RowMaker maker_;
  float *q_, *scores_, *keys_, *weights_, *row_;
};

/// Groups of rows of the sequences before one, for each head of k.
std::vector<int64_t> FirstGroups(const Attention& a) {
  std::vector<int64_t> first = {0};
  for (const AttentionSequence& of : a.sequences) {
    first.push_back(first.back() + DivideUp(of.rows, RowsTogether(a)));
  }
  return first;
}

}  // namespace
}  // namespace attention

uint64_t AttentionWeightsBytes(const Attention& a) {
  return ScratchBytes(a.bodies * attention::BodyFloats(a) * static_cast<int>(sizeof(float)));
}

void RunAttentionWeights(const Attention& a, const AttentionTensors& tensors, void* scratch,
                         const std::function<void(const AttentionWeights&)>& take) {
  if (a.bodies == 0) return;
  const std::vector<int64_t> first = attention::FirstGroups(a);
  const int64_t together = attention::RowsTogether(a);
  const auto body_floats = static_cast<int64_t>(attention::BodyFloats(a));
  ParallelItems(first.back() * a.kv_heads, a.bodies, true, [&](int64_t item, int64_t body) {
    const int64_t group = item / a.kv_heads;
    const auto after = std::upper_bound(first.begin(), first.end(), group);
    const int64_t sequence = after - first.begin() - 1;
    const attention::Head head(a, sequence * a.kv_heads + item % a.kv_heads);
    const int64_t begin = (group - first[static_cast<size_t>(sequence)]) * together;
    attention::RowsRun(a, tensors, head, static_cast<float*>(scratch) + body * body_floats)
        .Run(begin, std::min(together, head.of.rows - begin), take);
  });
}

}  // namespace openaclnn
