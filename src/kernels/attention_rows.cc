// SPDX-License-Identifier: Apache-2.0
// Attention: what of a row's scores is hidden, shifted and dropped.
#include <cmath>
#include <cstdlib>

#include "kernels/attention_layout.h"

namespace openaclnn::attention {
namespace {

/// Where a row of a broadcast tensor begins.
const std::byte* PlaceOf(const AttentionScores& scores, const void* tensor,
                         const std::array<int64_t, 4>& at) {
  int64_t offset = 0;
  for (size_t i = 0; i < at.size(); ++i) offset += at[i] * scores.steps[i];
  return static_cast<const std::byte*>(tensor) + offset;
}

}  // namespace

AttentionRow RowMaker::Make(int64_t head, int64_t row, int64_t tile, float* scores) {
  const int64_t first = tile * kAttentionKeys, n = KeysOf(of_, tile);
  const Seen seen(of_, row);
  AttentionRow made = {.scores = scores,
                       .chunk = kAttentionRows * kAttentionChunk,
                       .scale = attention_.scale,
                       .begin = std::clamp<int64_t>(seen.begin - first, 0, n),
                       .end = std::clamp<int64_t>(seen.end - first, 0, n),
                       .hides = nullptr,
                       .shift = nullptr,
                       .kept = nullptr};
  const AttentionScores &mask = attention_.mask, &shift = attention_.shift;
  if (mask.given) {
    const std::byte* const from = PlaceOf(mask, tensors_.mask, {sequence_, head, row, first});
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
  if (shift.given) {
    shift.load(PlaceOf(shift, tensors_.shift, {sequence_, head, row, first}), shift.steps[3], n,
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

void RowMaker::LoadSlopes(int64_t head, int64_t row, int64_t first, int64_t n) {
  const AttentionSlopes& slopes = attention_.slopes;
  const auto* const from = static_cast<const std::byte*>(tensors_.shift);
  float slope = 0;
  slopes.load(from + sequence_ * slopes.batch_step + head * slopes.head_step, 0, 1, &slope);
  for (int64_t j = 0; j < n; ++j) {
    const auto distance = static_cast<float>(std::abs(row + slopes.ahead - (first + j)));
    shift_[static_cast<size_t>(j)] = -slope * (slopes.roots ? std::sqrt(distance) : distance);
  }
}

void RowMaker::LoadKept(int64_t head, int64_t row, int64_t first, int64_t n) {
  const AttentionDropout& dropout = attention_.dropout;
  const int64_t bit =
      dropout.bits[static_cast<size_t>(sequence_)] + (head * of_.rows + row) * of_.keys + first;
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
