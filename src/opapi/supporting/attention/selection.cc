// SPDX-License-Identifier: Apache-2.0
// The blocks of keys that weights of compressed keys select.
#include "supporting/attention/selection.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace openaclnn::supporting {

void SelectionSizes::Check(int64_t most, Checker& checker) const {
  const auto check = [&](const char* name, int64_t size, int64_t largest) {
    checker.That(size >= 16 && size <= largest && size % 16 == 0, [&] {
      return Concat(name, " value is ", size, ", expected a multiple of 16, at most ", largest);
    });
  };
  check("compressBlockSize", compressed, 128);
  check(stride_name, stride, 64);
  check("selectBlockSize", block, 128);
  if (!checker.ok()) return;
  checker.That(compressed % stride == 0, [&] {
    return Concat("compressBlockSize value is ", compressed, ", expected a multiple of ",
                  stride_name, ", ", stride);
  });
  checker.That(block % stride == 0 && block >= compressed, [&] {
    return Concat("selectBlockSize value is ", block, ", expected a multiple of ", stride_name,
                  ", ", stride, ", at least compressBlockSize, ", compressed);
  });
  checker.That(count >= 1 && count <= most, [&] {
    return Concat("selectBlockCount value is ", count, ", expected 1 to ", most);
  });
}

void BlockSelection::Choose(const AttentionSequence& sequence, const AttentionWeights& of,
                            int64_t blocks, const std::function<bool(int64_t block)>& always,
                            std::byte* to) const {
  std::vector<std::pair<double, int32_t>> scores;
  for (int64_t block = 0; block < blocks; ++block) {
    // Larger first, and then the block that comes first.
    const double score = always(block) ? -std::numeric_limits<double>::infinity()
                                       : -Score(of.weights, sequence.keys, block);
    scores.emplace_back(score, static_cast<int32_t>(block));
  }
  const auto some = scores.begin() + std::min(blocks, count_);
  std::partial_sort(scores.begin(), some, scores.end());
  to += out_.Offset(sequence.batch, of.head, sequence.first_row + of.row);
  for (int64_t i = 0; i < count_; ++i) {
    const int32_t block = i < blocks ? scores[static_cast<size_t>(i)].second : -1;
    std::memcpy(to + i * out_.element_step * out_.bytes, &block, sizeof block);
  }
}

/// Sum of weights [wide (block + 1) - m - n], m below `wide`, n below `apart`.
double BlockSelection::Score(const float* weights, int64_t keys, int64_t block) const {
  double score = 0;
  for (int64_t t = 0; t < wide_ + apart_ - 1; ++t) {
    const int64_t key = wide_ * (block + 1) - t;
    if (key < 0 || key >= keys) continue;
    const int64_t times = std::min({t + 1, wide_, apart_, wide_ + apart_ - 1 - t});
    score += static_cast<double>(times) * weights[key];
  }
  // Before all numbers, but not before blocks that are always selected.
  return std::isnan(score) ? std::numeric_limits<double>::max() : score;
}

}  // namespace openaclnn::supporting
