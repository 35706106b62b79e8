// SPDX-License-Identifier: Apache-2.0
// Attention: finds the rows of a tile's keys, and loads the mask, shift and dropout of a row.
#include <cmath>
#include <cstdlib>

#include "kernels/attention/attention_layout.h"

namespace openaclnn::attention {
namespace {

/// The address of a broadcast tensor's element for a row and a key of the head's sequence.
const std::byte* PlaceOf(const AttentionScores& scores, const void* tensor, const Head& head,
                         int64_t of_query, int64_t row, int64_t key) {
  std::array<int64_t, 4> at = {head.sequence, of_query, row, key};
  if (scores.by_place)
    at = {head.of.batch, of_query, row + head.of.first_row, key + head.of.first_key};
  int64_t offset = 0;
  for (size_t i = 0; i < at.size(); ++i) offset += at[i] * scores.steps[i];
  return static_cast<const std::byte*>(tensor) + offset;
}

/// The key at a place, if blocks of the sequence's own keys are chosen.
const std::byte* ChosenKey(const Attention& attention, const KeySource& source,
                           const void* cache_table, const Head& head, int64_t place) {
  const AttentionPages& cache = attention.cache;
  if (!cache.given) return source.At(head.head, head.of.first_key + place).from;
  const int64_t block = cache.Block(cache_table, head.of.batch, 0, place);
  return source.heads.At(source.tensor, block, head.head, place % cache.rows).from;
}

/// The place of the first chosen key that the row sees, or 0 if it sees none.
int64_t FirstSeen(const AttentionPages& pages, const void* table, const Head& head) {
  for (int64_t key = 0; key < head.of.keys; key += pages.rows) {
    const int64_t place =
        pages.Block(table, head.of.batch, head.head, key, head.of.first_row) * pages.rows;
    if (place >= 0 && place < head.of.places) return place;
  }
  return 0;
}

}  // namespace

KeyRows::KeyRows(const Attention& attention, const KeySource& source,
                 const AttentionTensors& tensors, const Head& head, int64_t tile)
    : rows_(source.At(head.head, head.of.first_key)) {
  FindRows(attention, source, tensors, head, tile);
  if (source.dequant != nullptr && source.dequant->factors.given) {
    LoadScales(attention, source, tensors, head, tile);
  }
}

void KeyRows::LoadScales(const Attention& attention, const KeySource& source,
                         const AttentionTensors& tensors, const Head& head, int64_t tile) {
  const bool of_rows = source.dequant->factors.element_step == 0;
  const auto load = [&](const AttentionNumbers& numbers, const void* tensor, float* to) {
    const auto* const from = static_cast<const std::byte*>(tensor) + head.head * numbers.head_step;
    if (!of_rows) return numbers.load(from, numbers.element_step, source.width, to);
    const int64_t first = tile * kAttentionKeys, n = KeysOf(head.of, tile);
    if (!numbers.in_pages) {
      const int64_t place = head.of.first_key + first;
      return numbers.load(from + head.of.batch * numbers.batch_step + place * numbers.row_step,
                          numbers.row_step, n, to);
    }
    const AttentionPages& pages = attention.pages;
    for (int64_t j = 0; j < n;) {
      const int64_t key = first + j, row = key % pages.rows,
                    count = std::min(n - j, pages.rows - row);
      const int64_t block = pages.Block(tensors.table, head.of.batch, head.head, key);
      numbers.load(from + block * numbers.batch_step + row * numbers.row_step, numbers.row_step,
                   count, to + j);
      j += count;
    }
  };
  load(source.dequant->factors, source.scaling.factors, factors_.data());
  const bool moved = source.dequant->offsets.given;
  if (moved) load(source.dequant->offsets, source.scaling.offsets, offsets_.data());
  scales_ = {factors_.data(), moved ? offsets_.data() : nullptr, of_rows};
  rows_.scales = &scales_;
}

void KeyRows::FindRows(const Attention& attention, const KeySource& source,
                       const AttentionTensors& tensors, const Head& head, int64_t tile) {
  const AttentionPages& pages = attention.pages;
  const AttentionSequence& of = head.of;
  const int64_t first = tile * kAttentionKeys, n = KeysOf(of, tile);
  if (!pages.given) {
    JoinFront(source, head, attention.front.keys, first, n);
    return;
  }
  for (int64_t j = 0; j < n;) {
    const int64_t key = first + j, row = key % pages.rows, end = std::min(n, j + pages.rows - row);
    const int64_t block = pages.Block(tensors.table, of.batch, head.head, key, of.first_row);
    if (!pages.chosen) {
      const AttentionRows cached = source.heads.At(source.tensor, block, head.head, row);
      if (j == 0 && end == n) {
        rows_ = cached;
        return;
      }
      for (int64_t i = 0; j < end; ++i, ++j) places_[static_cast<size_t>(j)] = cached.Row(i);
      continue;
    }
    for (int64_t i = row; j < end; ++i, ++j) {
      int64_t place = block * pages.rows + i;
      // Products read hidden keys too, and 0 times NaN is NaN. So a key that the row sees stands
      // for a hidden one.
      if (block < 0 || place >= of.places) place = FirstSeen(pages, tensors.table, head);
      places_[static_cast<size_t>(j)] =
          ChosenKey(attention, source, tensors.cache_table, head, place);
    }
  }
  rows_.places = places_.data();
}

void KeyRows::JoinFront(const KeySource& source, const Head& head, int64_t front, int64_t first,
                        int64_t n) {
  if (first >= front) {
    rows_ = source.At(head.head, head.of.first_key + first - front);
    return;
  }
  const AttentionRows before = source.front->At(source.front_tensor, 0, head.head, first);
  if (first + n <= front) {
    rows_ = before;
    return;
  }
  rows_.front_rows = front - first;
  rows_.front_element_bytes = before.element_bytes;
  rows_.plain = rows_.plain && before.plain;
  for (int64_t j = 0; j < n; ++j) {
    places_[static_cast<size_t>(j)] =
        j < rows_.front_rows ? before.Row(j) : rows_.Row(j - rows_.front_rows);
  }
  rows_.places = places_.data();
}

AttentionRow RowMaker::Make(int64_t head, int64_t row, int64_t tile, float* scores) {
  const int64_t first = tile * kAttentionKeys, n = KeysOf(of_, tile);
  const Seen seen(of_, row);
  AttentionRow made = {.scores = scores,
                       .chunk = kAttentionRows * kAttentionChunk,
                       .scale = Scale(head, row),
                       .begin = std::clamp<int64_t>(seen.begin - first, 0, n),
                       .end = std::clamp<int64_t>(seen.end - first, 0, n),
                       .hides = nullptr,
                       .shift = nullptr,
                       .kept = nullptr};
  const AttentionScores &mask = attention_.mask, &shift = attention_.shift;
  if (mask.given) {
    const std::byte* const from = PlaceOf(mask, tensors_.mask, head_, head, row, first);
    if (mask.load == nullptr && mask.steps[3] == 1) {
      made.hides = reinterpret_cast<const uint8_t*>(from);
    } else {
      made.hides = hides_.data();
      std::array<float, kAttentionKeys> numbers;
      if (mask.load != nullptr) mask.load(from, mask.steps[3], n, numbers.data());
      for (int64_t j = 0; j < n; ++j) {
        const auto at = static_cast<size_t>(j);
        const bool hidden =
            mask.load != nullptr ? numbers[at] != 0 : from[j * mask.steps[3]] != std::byte{0};
        hides_[at] = hidden ? 1 : 0;
      }
    }
  }
  if (attention_.pages.chosen) {
    HideUnchosen(first, n);
    made.hides = hides_.data();
  }
  if (shift.given) {
    shift.load(PlaceOf(shift, tensors_.shift, head_, head, row, first), shift.steps[3], n,
               shift_.data());
    for (int64_t j = 0; j < n && attention_.shift_factor != 1; ++j) {
      shift_[static_cast<size_t>(j)] *= attention_.shift_factor;
    }
    made.shift = shift_.data();
  }
  if (attention_.slopes.given) {
    LoadSlopes(head, row, first, n);
    made.shift = shift_.data();
  }
  if (attention_.dropout.given || attention_.dropout.drawn) {
    LoadKept(head, row, first, n);
    made.kept = kept_.data();
  }
  return made;
}

float RowMaker::Scale(int64_t head, int64_t row) const {
  const AttentionNumbers& numbers = attention_.q_factors;
  if (!numbers.given) return attention_.scale;
  float factor = 1;
  numbers.load(static_cast<const std::byte*>(tensors_.q_factors) + of_.batch * numbers.batch_step +
                   head * numbers.head_step + (of_.first_row + row) * numbers.row_step,
               0, 1, &factor);
  return attention_.scale * factor;
}

void RowMaker::LoadSlopes(int64_t head, int64_t row, int64_t first, int64_t n) {
  const AttentionSlopes& slopes = attention_.slopes;
  const auto* const from = static_cast<const std::byte*>(tensors_.shift);
  float slope = 0;
  slopes.load(from + head_.sequence * slopes.batch_step + head * slopes.head_step, 0, 1, &slope);
  for (int64_t j = 0; j < n; ++j) {
    const auto distance = static_cast<float>(std::abs(row + slopes.ahead - (first + j)));
    shift_[static_cast<size_t>(j)] = -slope * (slopes.roots ? std::sqrt(distance) : distance);
  }
}

void RowMaker::HideUnchosen(int64_t first, int64_t n) {
  const AttentionPages& pages = attention_.pages;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t key = first + j;
    const int64_t block = pages.Block(tensors_.table, of_.batch, head_.head, key, of_.first_row);
    const bool hidden = block < 0 || block * pages.rows + key % pages.rows >= of_.places;
    hides_[static_cast<size_t>(j)] = hidden ? 1 : 0;
  }
}

void RowMaker::LoadKept(int64_t head, int64_t row, int64_t first, int64_t n) {
  const AttentionDropout& dropout = attention_.dropout;
  const int64_t bit = dropout.bits[static_cast<size_t>(head_.sequence)] +
                      (head * of_.rows + row) * of_.keys + first;
  const auto factor = static_cast<float>(1 / dropout.keep);
  if (dropout.drawn) {
    RandomNumbers()->at_least(dropout.key, static_cast<uint64_t>(bit), n, 1 - dropout.keep,
                              bits_.data());
  }
  const auto* const bytes = static_cast<const std::byte*>(tensors_.dropout);
  for (int64_t j = 0; j < n; ++j) {
    const int64_t place = dropout.drawn ? j : bit + j;
    const auto byte = dropout.drawn ? bits_[static_cast<size_t>(place / 8)]
                                    : static_cast<uint8_t>(bytes[dropout.bytes(place / 8)]);
    kept_[static_cast<size_t>(j)] = (byte >> place % 8 & 1) != 0 ? factor : 0;
  }
}

}  // namespace openaclnn::attention
